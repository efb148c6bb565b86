//! The lists that an event enters: one pass over its attributes, with prefetching.

use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::matching::event::Event;
use crate::engine::memory::arena::prefetch;
use crate::engine::postings::keys::{Attribute, Key, Keys, ListHandle, Rare};
use crate::engine::postings::lists::{ListId, Lists, NO_LIST};
use crate::engine::postings::ranges::bucket_of;
use crate::language::Type;

impl Keys {
    /// The lists that an event enters, each once, into `out`; with prefetching or without.
    pub fn gather<const AHEAD_OF_TIME: bool>(
        &self,
        event: &Event,
        types: &[Type],
        lists: &Lists,
        long: &LongLiterals,
        out: &mut Vec<ListId>,
    ) {
        if self.always != NO_LIST {
            out.push(self.always);
        }
        if AHEAD_OF_TIME {
            self.fetch_keys(event, types);
        }
        for &attribute in event.present() {
            let keys = self.attributes.get(attribute);
            push(out, keys.present);
            let kind = types[attribute as usize];
            if kind.is_list() {
                if event.is_empty_list(attribute) {
                    push(out, keys.empty);
                }
                self.gather_list(event, attribute, keys, lists, long, out);
                continue;
            }
            let order = event.order(attribute);
            let mut levels = keys.levels;
            while levels != 0 {
                let level = levels.trailing_zeros() as u8;
                levels &= levels - 1;
                match keys.nodes.find(u32::from(level), order >> level) {
                    Some(list) => out.push(list),
                    None if keys.elsewhere == 0 => {}
                    None => out.extend(self.find(&Key::Node(attribute, level, order >> level))),
                }
            }
            if keys.links > 0
                && let Some(link) = self.find(&Key::Link(attribute, order))
            {
                out.extend(lists.numbers_in(link));
            }
            if !keys.at_least.is_empty() || !keys.at_most.is_empty() {
                let bucket = bucket_of(order, kind);
                let below = keys
                    .at_least
                    .iter()
                    .take_while(|&&(other, _)| other <= bucket);
                out.extend(below.map(|&(_, list)| list));
                let above = keys
                    .at_most
                    .iter()
                    .rev()
                    .take_while(|&&(other, _)| other >= bucket);
                out.extend(above.map(|&(_, list)| list));
            }
            if !keys.has_rare {
                continue;
            }
            let Some(rare) = &keys.rare else { continue };
            for (&number, &list) in &rare.large_sets {
                if long.holds(number, event) {
                    out.push(list);
                }
            }
            if kind == Type::Str {
                self.gather_text(event.text(attribute), attribute, rare, long, out);
            }
        }
        for &attribute in &self.nullable {
            if !event.has(attribute) {
                push(out, self.attributes.get(attribute).missing);
            }
        }
    }

    /// Prefetch what the attributes of an event need.
    fn fetch_keys(&self, event: &Event, types: &[Type]) {
        for &attribute in event.present() {
            let keys: *const Attribute = self.attributes.get(attribute);
            prefetch(keys);
            prefetch(keys.cast::<u8>().wrapping_add(64));
        }
        for &attribute in event.present() {
            let keys = self.attributes.get(attribute);
            if !types[attribute as usize].is_list() {
                let order = event.order(attribute);
                let mut levels = keys.levels;
                while levels != 0 {
                    let level = levels.trailing_zeros();
                    levels &= levels - 1;
                    keys.nodes.prefetch(level, order >> level);
                }
                prefetch(keys.at_least.as_ptr());
                prefetch(keys.at_most.as_ptr());
            }
        }
    }

    fn gather_list(
        &self,
        event: &Event,
        attribute: u32,
        keys: &Attribute,
        lists: &Lists,
        long: &LongLiterals,
        out: &mut Vec<ListId>,
    ) {
        let elements = event.elements(attribute);
        if keys.levels != 0 {
            for &element in elements {
                if let Some(list) = self.find(&Key::Node(attribute, 0, element)) {
                    out.push(list);
                }
            }
        }
        if keys.links > 0 {
            let first = out.len();
            for &element in elements {
                if let Some(link) = self.find(&Key::Link(attribute, element)) {
                    out.extend(lists.numbers_in(link));
                }
            }
            // Two elements may be in one set.
            out[first..].sort_unstable();
            let mut kept = first;
            for i in first..out.len() {
                if i == first || out[i] != out[kept - 1] {
                    out[kept] = out[i];
                    kept += 1;
                }
            }
            out.truncate(kept);
        }
        let Some(rare) = &keys.rare else { return };
        for (&number, &list) in &rare.large_sets {
            if long.holds(number, event) {
                out.push(list);
            }
        }
    }

    fn gather_text(
        &self,
        text: &[u8],
        attribute: u32,
        rare: &Rare,
        long: &LongLiterals,
        out: &mut Vec<ListId>,
    ) {
        let strings = long.strings();
        let fits = ..=text.len() as u32;
        for (&length, _) in rare.prefix_lengths.range(fits) {
            let found = strings
                .find_bytes(&text[..length as usize])
                .and_then(|string| self.find(&Key::Prefix(attribute, string)));
            out.extend(found);
        }
        for (&length, _) in rare.suffix_lengths.range(fits) {
            let found = strings
                .find_bytes(&text[text.len() - length as usize..])
                .and_then(|string| self.find(&Key::Suffix(attribute, string)));
            out.extend(found);
        }
    }
}

fn push(out: &mut Vec<ListId>, list: ListHandle) {
    if list.0 != NO_LIST {
        out.push(list.0);
    }
}
