//! The lists that an event enters: one pass over its attributes, with prefetching.

use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::ids::bands::{ALL, Band};
use crate::engine::matching::event::{ABSENT, Event};
use crate::engine::memory::arena::prefetch;
use crate::engine::postings::keys::{
    Attribute, Key, Keys, ListHandle, Rare, place_in, split_place,
};
use crate::engine::postings::lists::{ListId, Lists, NO_LIST};
use crate::engine::postings::ranges::bucket_of;
use crate::language::Type;

impl Keys {
    /// The lists of a band that an event enters, each once, into `out`; with prefetching or without.
    pub fn gather<const AHEAD_OF_TIME: bool>(
        &self,
        band: Band,
        event: &Event,
        types: &[Type],
        lists: &Lists,
        long: &LongLiterals,
        out: &mut Vec<ListId>,
    ) {
        push(out, ListHandle(self.always[band as usize]));
        if AHEAD_OF_TIME {
            self.fetch_keys(band, event, types);
        }
        if band == ALL {
            self.gather_pairs(event, out);
        }
        for &attribute in event.present() {
            let place = place_in(band, attribute);
            let Some(keys) = self.at(place) else { continue };
            push(out, keys.present);
            let kind = types[attribute as usize];
            if kind.is_list() {
                if event.is_empty_list(attribute) {
                    push(out, keys.empty);
                }
                self.gather_list(event, place, keys, lists, long, out);
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
                    None => out.extend(self.find(&Key::Node(place, level, order >> level))),
                }
            }
            if keys.links > 0
                && let Some(link) = self.find(&Key::Link(place, order))
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
                if long.holds(long.id_of(number), event) {
                    out.push(list);
                }
            }
            if kind == Type::Str {
                self.gather_text(event.text(attribute), place, rare, long, out);
            }
        }
        for &attribute in &self.nullable[band as usize] {
            if !event.has(attribute)
                && let Some(keys) = self.at(place_in(band, attribute))
            {
                push(out, keys.missing);
            }
        }
    }

    /// Prefetch what the attributes of an event need.
    fn fetch_keys(&self, band: Band, event: &Event, types: &[Type]) {
        for &attribute in event.present() {
            let Some(keys) = self.at(place_in(band, attribute)) else {
                continue;
            };
            let keys: *const Attribute = keys;
            prefetch(keys);
            prefetch(keys.cast::<u8>().wrapping_add(64));
        }
        for &attribute in event.present() {
            let Some(keys) = self.at(place_in(band, attribute)) else {
                continue;
            };
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

    fn gather_pairs(&self, event: &Event, out: &mut Vec<ListId>) {
        for pair in &self.pairs {
            let (first, second) = (event.hot(pair.first), event.hot(pair.second));
            if first.key != ABSENT && second.key != ABSENT {
                let values = u64::from(first.key) << 32 | u64::from(second.key);
                let place = place_in(ALL, pair.first);
                out.extend(self.find(&Key::Pair(place, pair.second as u16, values)));
            }
        }
    }

    fn gather_list(
        &self,
        event: &Event,
        place: u32,
        keys: &Attribute,
        lists: &Lists,
        long: &LongLiterals,
        out: &mut Vec<ListId>,
    ) {
        let elements = event.elements(split_place(place).1);
        if keys.levels != 0 {
            for &element in elements {
                if let Some(list) = self.find(&Key::Node(place, 0, element)) {
                    out.push(list);
                }
            }
        }
        if keys.links > 0 {
            let first = out.len();
            for &element in elements {
                if let Some(link) = self.find(&Key::Link(place, element)) {
                    out.extend(lists.numbers_in(link));
                }
            }
            each_once(out, first); // two elements may be in one set
        }
        let Some(rare) = &keys.rare else { return };
        for (&number, &list) in &rare.large_sets {
            if long.holds(long.id_of(number), event) {
                out.push(list);
            }
        }
    }

    fn gather_text(
        &self,
        text: &[u8],
        place: u32,
        rare: &Rare,
        long: &LongLiterals,
        out: &mut Vec<ListId>,
    ) {
        let first = out.len();
        rare.grams.each(text, |length, gram| {
            out.extend(self.find(&Key::Gram(place, length, gram)));
        });
        each_once(out, first); // a text may have a piece twice
        let strings = long.strings();
        let fits = ..=text.len() as u32;
        for (&length, _) in rare.prefix_lengths.range(fits) {
            let found = strings
                .find_bytes(&text[..length as usize])
                .and_then(|string| self.find(&Key::Prefix(place, string)));
            out.extend(found);
        }
        for (&length, _) in rare.suffix_lengths.range(fits) {
            let found = strings
                .find_bytes(&text[text.len() - length as usize..])
                .and_then(|string| self.find(&Key::Suffix(place, string)));
            out.extend(found);
        }
    }
}

/// Sort the lists from `first` on and drop repeated ones.
#[inline]
fn each_once(out: &mut Vec<ListId>, first: usize) {
    if out.len() - first < 2 {
        return;
    }
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

fn push(out: &mut Vec<ListId>, list: ListHandle) {
    if list.0 != NO_LIST {
        out.push(list.0);
    }
}
