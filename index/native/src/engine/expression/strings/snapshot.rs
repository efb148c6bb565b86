//! Strings in a snapshot: the texts by number. Use counts are rebuilt.

use super::{Known, Strings, hash, shard_of, text_of};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure, write_bytes};

/// In place of a length: no string has this number.
const NONE: u32 = u32::MAX;

impl Item for Option<Known> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(known) => write_bytes(out, known.text.as_bytes()),
            None => NONE.write(out),
        }
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let len = from.u32()?;
        if len == NONE {
            return Ok(None);
        }
        let text = std::str::from_utf8(from.take(len as usize)?)
            .map_err(|_| Malformed("a string is not UTF-8"))?;
        Ok(Some(Known {
            text: text.into(),
            uses: 0,
        }))
    }
}

impl Strings {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 1] {
        [&self.known]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 1] {
        [&mut self.known]
    }

    /// Whether a string has this number, used or not.
    pub fn is_known(&self, number: u64) -> bool {
        number < self.known.len() as u64 && self.known.get(number as u32).is_some()
    }

    /// Rebuild the table.
    ///
    /// # Errors
    /// If a string has no uses, or is there twice.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        for number in (0..self.known.len() as u32).rev() {
            let Some(known) = self.known.get(number) else {
                self.free.push(number);
                continue;
            };
            ensure(known.uses > 0, "a string is not used")?;
            self.bytes += known.text.len();
            let text = known.text.as_bytes();
            ensure(self.find_bytes(text).is_none(), "a string exists twice")?;
            let hash = hash(text);
            let known = &self.known;
            self.shards[shard_of(hash)].insert_unique(hash, number, |&other| {
                self::hash(text_of(known, other).as_bytes())
            });
        }
        Ok(())
    }
}
