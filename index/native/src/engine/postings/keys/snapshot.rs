//! Keys in a snapshot: the key of every list. The tables are rebuilt from them.

use super::{Key, Keys, LINKED_SET, MOST_PAIRS, set_values};
use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::ids::bands::{ALL, BANDS};
use crate::engine::postings::grams::gram_length;
use crate::engine::postings::lists::{ListId, Lists, NO_LIST, PARTS};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};

impl Item for Key {
    fn write(&self, out: &mut Vec<u8>) {
        let (kind, level, attribute, value) = match *self {
            Key::None => (0, 0, 0, 0),
            Key::Always(band) => (1, 0, band, 0),
            Key::Node(attribute, level, value) => (2, level, attribute, value),
            Key::AtLeast(attribute, bucket) => (3, 0, attribute, u64::from(bucket)),
            Key::AtMost(attribute, bucket) => (4, 0, attribute, u64::from(bucket)),
            Key::Set(attribute, number) => (5, 0, attribute, u64::from(number)),
            Key::Link(attribute, value) => (6, 0, attribute, value),
            Key::Prefix(attribute, string) => (7, 0, attribute, u64::from(string)),
            Key::Suffix(attribute, string) => (8, 0, attribute, u64::from(string)),
            Key::Present(attribute) => (9, 0, attribute, 0),
            Key::Missing(attribute) => (10, 0, attribute, 0),
            Key::Empty(attribute) => (11, 0, attribute, 0),
            Key::Pair(first, _, values) => (12, 0, first, values),
            Key::Gram(attribute, length, gram) => (13, length, attribute, gram),
        };
        out.extend_from_slice(&[kind, level]);
        attribute.write(out);
        value.write(out);
        if let Key::Pair(_, second, _) = *self {
            second.write(out);
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let (kind, level) = (from.u8()?, from.u8()?);
        let (attribute, value) = (from.u32()?, from.u64()?);
        Ok(match kind {
            0 => Key::None,
            1 => Key::Always(attribute),
            2 => Key::Node(attribute, level, value),
            3 => Key::AtLeast(attribute, value as u32),
            4 => Key::AtMost(attribute, value as u32),
            5 => Key::Set(attribute, value as u32),
            6 => Key::Link(attribute, value),
            7 => Key::Prefix(attribute, value as u32),
            8 => Key::Suffix(attribute, value as u32),
            9 => Key::Present(attribute),
            10 => Key::Missing(attribute),
            11 => Key::Empty(attribute),
            13 => Key::Gram(attribute, level, value),
            12 => Key::Pair(attribute, u16::read(from)?, value),
            _ => return Err(Malformed("a key has an unknown kind")),
        })
    }
}

impl Keys {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 1] {
        [&self.of_list]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 1] {
        [&mut self.of_list]
    }

    /// Rebuild the tables for this number of attributes.
    ///
    /// # Errors
    /// If a key names something that does not exist, or its list is wrong.
    pub fn rebuild(
        &mut self,
        attributes: usize,
        lists: &mut Lists,
        long: &LongLiterals,
    ) -> Result<(), Malformed> {
        self.grow_to(attributes);
        for list in 0..self.of_list.len() as ListId {
            let key = self.key_of(list);
            if key == Key::None {
                continue;
            }
            let parts = if matches!(key, Key::Link(..)) {
                1
            } else {
                PARTS
            };
            let is_list = lists.parts(list) == Some(parts) && lists.len(list) > 0;
            ensure(is_list, "a key has no list")?;
            let known = match key {
                Key::Set(_, number) => long.is_long(number),
                Key::Prefix(_, string) | Key::Suffix(_, string) => {
                    long.strings().is_known(u64::from(string))
                }
                Key::Node(_, level, _) => level < 64,
                Key::Gram(_, length, _) => gram_length(length.into()) == Some(length.into()),
                Key::Pair(_, second, _) => {
                    let is_known = usize::from(second) < attributes;
                    is_known && key.owner().0 == ALL && self.pairs.len() <= MOST_PAIRS
                }
                _ => true,
            };
            let (band, attribute) = key.owner();
            let known = known
                && band as usize <= BANDS
                && attribute.is_none_or(|attribute| (attribute as usize) < attributes);
            ensure(known, "a key names something that does not exist")?;
            ensure(self.find(&key).is_none(), "a key exists twice")?;
            let linked = matches!(key, Key::Set(_, number)
                if set_values(number, long).is_some_and(|values| values.len() <= LINKED_SET));
            if !linked {
                self.register(key, list, lists, long);
            }
            self.enter(key, list);
        }
        self.check_links(lists)
    }

    fn check_links(&self, lists: &Lists) -> Result<(), Malformed> {
        for link in 0..self.of_list.len() as ListId {
            if !matches!(self.key_of(link), Key::Link(..)) {
                continue;
            }
            for list in lists.numbers_in(link) {
                let is_set = (list as usize) < self.of_list.len()
                    && matches!(self.key_of(list), Key::Set(..));
                ensure(is_set, "a link does not lead to a set")?;
            }
        }
        Ok(())
    }

    /// Whether a list has no key.
    pub fn is_keyless(&self, list: ListId) -> bool {
        list != NO_LIST && (list as usize >= self.of_list.len() || self.key_of(list) == Key::None)
    }
}
