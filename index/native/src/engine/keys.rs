//! From a value to the lists that it enters: PS-Tree's part in this core.
//!
//! A list of postings stands under a *key*; an event makes few keys, and looks each up.
//!
//! ```text
//!   age = 30                 ──▶ node (age, level 0, 30)
//!   age between 16 and 31    ──▶ node (age, level 4, 16 >> 4)        dyadic pieces of the domain
//!   age >= 18                ──▶ at least (age, bucket of 18)        four buckets a doubling
//!   tags any of (5 … 64)     ──▶ set, linked from each of its values
//!   a set of more            ──▶ set, tried by itself
//!   domain ends with '.news' ──▶ suffix, by its lengths
//!   negative, contains …     ──▶ present (attribute)
//!   is null, is empty        ──▶ missing, empty (attribute)
//! ```
//!
//! Thresholds share lists by buckets, since most would have a list of one posting to themselves,
//! and an event enters all that lie below it. A range is covered by at most a dozen pieces: the finest is a sixteenth of its width, so it may
//! cover a little more than the range, and then the literal is checked as well. All lists under
//! keys are nonempty; a key goes with its last posting.

use super::event::Event;
use super::lists::{ListId, Lists, NO_LIST};
use super::long_literals::{LongLiterals, Test};
use super::node_table::NodeTable;
use crate::engine::chunked::Chunked;
use crate::language::Type;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// What a list stands under. `Node` levels are 0 to 63; the value is the order shifted by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Key {
    #[default]
    None,
    Always,
    Node(u32, u8, u64),
    /// By the bucket of the bound.
    AtLeast(u32, u32),
    AtMost(u32, u32),
    /// By the number of the long literal.
    Set(u32, u32),
    /// A value that belongs to linked sets: its items are the lists of the sets.
    Link(u32, u64),
    Prefix(u32, u32),
    Suffix(u32, u32),
    Present(u32),
    Missing(u32),
    Empty(u32),
}

/// Several keys: usually one.
pub type KeyVec = SmallVec<[Key; 4]>;

/// Sets of so many values are posted under each value.
pub const POSTED_SET: usize = 4;
/// Sets of so many values are linked from each value; larger ones are tried one by one.
pub const LINKED_SET: usize = 64;

const SHARD_BITS: u32 = 10;

#[derive(Default)]
struct Attribute {
    present: ListHandle,
    missing: ListHandle,
    empty: ListHandle,
    levels: u64,
    nodes: NodeTable,
    /// Buckets of thresholds, ascending.
    at_least: Vec<(u32, ListId)>,
    at_most: Vec<(u32, ListId)>,
    /// Whether some value leads to sets.
    links: u32,
    /// Whether there are prefixes, suffixes or large sets.
    has_rare: bool,
    rare: Option<Box<Rare>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct ListHandle(ListId);

impl Default for ListHandle {
    fn default() -> Self {
        ListHandle(NO_LIST)
    }
}

/// What few attributes have.
struct Rare {
    level_uses: [u32; 64],
    prefix_lengths: BTreeMap<u32, u32>,
    suffix_lengths: BTreeMap<u32, u32>,
    large_sets: FxHashMap<u32, ListId>,
}

/// The level that links to sets have in the table of pieces.
const LINK_LEVEL: u32 = 64;

/// All keys of an index.
pub struct Keys {
    shards: Vec<HashTable<ListId>>,
    of_list: Chunked<Key>,
    attributes: Chunked<Attribute>,
    always: ListId,
    /// Attributes that have a list of `is null`.
    nullable: Vec<u32>,
}

fn hash(key: &Key) -> u64 {
    FxBuildHasher.hash_one(key)
}

fn shard_of(hash: u64) -> usize {
    (hash >> (57 - SHARD_BITS)) as usize & ((1 << SHARD_BITS) - 1)
}

impl Default for Keys {
    fn default() -> Self {
        Keys {
            shards: (0..1 << SHARD_BITS).map(|_| HashTable::new()).collect(),
            of_list: Chunked::default(),
            attributes: Chunked::default(),
            always: NO_LIST,
            nullable: Vec::new(),
        }
    }
}

impl Keys {
    /// Make room for so many attributes.
    pub fn grow_to(&mut self, attributes: usize) {
        self.attributes.grow_to(attributes);
    }

    /// The key that a list stands under.
    pub fn key_of(&self, list: ListId) -> Key {
        *self.of_list.get(list)
    }

    fn find(&self, key: &Key) -> Option<ListId> {
        if let Some((attribute, level, value)) = piece_of(key) {
            let nodes = &self.attributes.get(attribute).nodes;
            if let Some(list) = nodes.find(level, value) {
                return Some(list);
            }
            if nodes.has_room() {
                return None;
            }
        }
        let hash = hash(key);
        let of_list = &self.of_list;
        self.shards[shard_of(hash)]
            .find(hash, |&list| of_list.get(list) == key)
            .copied()
    }

    /// The list under a key, made if there is none, for items of `width` words.
    pub fn list(&mut self, key: Key, lists: &mut Lists, long: &LongLiterals) -> ListId {
        if let Some(list) = self.find(&key) {
            return list;
        }
        let list = lists.create(if matches!(key, Key::Link(..)) { 1 } else { 3 });
        self.of_list.grow_to(list as usize + 1);
        *self.of_list.get_mut(list) = key;
        self.register(key, list, lists, long);
        if let Some((attribute, level, value)) = piece_of(&key) {
            let nodes = &mut self.attributes.get_mut(attribute).nodes;
            if nodes.has_room() {
                nodes.insert(level, value, list);
                return list;
            }
        }
        let hash = hash(&key);
        let of_list = &self.of_list;
        self.shards[shard_of(hash)]
            .insert_unique(hash, list, |&other| self::hash(of_list.get(other)));
        list
    }

    /// Forget a list that has become empty.
    pub fn forget(&mut self, list: ListId, lists: &mut Lists, long: &LongLiterals) {
        let key = self.key_of(list);
        let hash = hash(&key);
        let in_table = piece_of(&key).is_some_and(|(attribute, level, value)| {
            let nodes = &mut self.attributes.get_mut(attribute).nodes;
            nodes.remove(level, value)
        });
        if !in_table
            && let Ok(entry) = self.shards[shard_of(hash)].find_entry(hash, |&other| other == list)
        {
            entry.remove();
        }
        *self.of_list.get_mut(list) = Key::None;
        self.unregister(key, list, lists, long);
        lists.destroy(list);
    }

    fn rare(&mut self, attribute: u32) -> &mut Rare {
        self.attributes
            .get_mut(attribute)
            .rare
            .get_or_insert_with(|| {
                Box::new(Rare {
                    level_uses: [0; 64],
                    prefix_lengths: BTreeMap::new(),
                    suffix_lengths: BTreeMap::new(),
                    large_sets: FxHashMap::default(),
                })
            })
    }

    /// Note beside the table what an event must look for.
    fn register(&mut self, key: Key, list: ListId, lists: &mut Lists, long: &LongLiterals) {
        match key {
            Key::None => {}
            Key::Always => self.always = list,
            Key::Node(attribute, 0, _) => self.attributes.get_mut(attribute).levels |= 1,
            Key::Node(attribute, level, _) => {
                self.rare(attribute).level_uses[level as usize] += 1;
                self.attributes.get_mut(attribute).levels |= 1 << level;
            }
            Key::AtLeast(attribute, bucket) => {
                add_bucket(
                    &mut self.attributes.get_mut(attribute).at_least,
                    bucket,
                    list,
                );
            }
            Key::AtMost(attribute, bucket) => {
                add_bucket(
                    &mut self.attributes.get_mut(attribute).at_most,
                    bucket,
                    list,
                );
            }
            Key::Set(attribute, number) => match set_values(number, long) {
                Some(values) if values.len() <= LINKED_SET => {
                    for &value in values {
                        let link = self.list(Key::Link(attribute, value), lists, long);
                        lists.push(link, &[u64::from(list)]);
                    }
                }
                _ => {
                    self.rare(attribute).large_sets.insert(number, list);
                    self.note_rare(attribute);
                }
            },
            Key::Link(attribute, _) => self.attributes.get_mut(attribute).links += 1,
            Key::Prefix(attribute, string) => {
                let length = long.strings().text(string).len() as u32;
                *self
                    .rare(attribute)
                    .prefix_lengths
                    .entry(length)
                    .or_insert(0) += 1;
                self.note_rare(attribute);
            }
            Key::Suffix(attribute, string) => {
                let length = long.strings().text(string).len() as u32;
                *self
                    .rare(attribute)
                    .suffix_lengths
                    .entry(length)
                    .or_insert(0) += 1;
                self.note_rare(attribute);
            }
            Key::Present(attribute) => {
                self.attributes.get_mut(attribute).present = ListHandle(list)
            }
            Key::Empty(attribute) => self.attributes.get_mut(attribute).empty = ListHandle(list),
            Key::Missing(attribute) => {
                self.attributes.get_mut(attribute).missing = ListHandle(list);
                self.nullable.push(attribute);
            }
        }
    }

    fn unregister(&mut self, key: Key, list: ListId, lists: &mut Lists, long: &LongLiterals) {
        match key {
            Key::None => {}
            Key::Always => self.always = NO_LIST,
            Key::Node(_, 0, _) => {}
            Key::Node(attribute, level, _) => {
                let uses = &mut self.rare(attribute).level_uses[level as usize];
                *uses -= 1;
                if *uses == 0 {
                    self.attributes.get_mut(attribute).levels &= !(1 << level);
                }
            }
            Key::AtLeast(attribute, bucket) => {
                let buckets = &mut self.attributes.get_mut(attribute).at_least;
                buckets.retain(|&(other, _)| other != bucket);
            }
            Key::AtMost(attribute, bucket) => {
                let buckets = &mut self.attributes.get_mut(attribute).at_most;
                buckets.retain(|&(other, _)| other != bucket);
            }
            Key::Set(attribute, number) => match set_values(number, long) {
                Some(values) if values.len() <= LINKED_SET => {
                    for &value in values {
                        self.unlink(Key::Link(attribute, value), list, lists, long);
                    }
                }
                _ => {
                    self.rare(attribute).large_sets.remove(&number);
                    self.note_rare(attribute);
                }
            },
            Key::Link(attribute, _) => self.attributes.get_mut(attribute).links -= 1,
            Key::Prefix(attribute, string) => {
                let length = long.strings().text(string).len() as u32;
                release(&mut self.rare(attribute).prefix_lengths, length);
                self.note_rare(attribute);
            }
            Key::Suffix(attribute, string) => {
                let length = long.strings().text(string).len() as u32;
                release(&mut self.rare(attribute).suffix_lengths, length);
                self.note_rare(attribute);
            }
            Key::Present(attribute) => {
                self.attributes.get_mut(attribute).present = ListHandle(NO_LIST);
            }
            Key::Empty(attribute) => {
                self.attributes.get_mut(attribute).empty = ListHandle(NO_LIST);
            }
            Key::Missing(attribute) => {
                self.attributes.get_mut(attribute).missing = ListHandle(NO_LIST);
                self.nullable.retain(|&other| other != attribute);
            }
        }
    }

    /// Note whether an event has to look at what few attributes have.
    fn note_rare(&mut self, attribute: u32) {
        let keys = self.attributes.get_mut(attribute);
        keys.has_rare = keys.rare.as_ref().is_some_and(|rare| {
            !(rare.prefix_lengths.is_empty()
                && rare.suffix_lengths.is_empty()
                && rare.large_sets.is_empty())
        });
    }

    fn unlink(&mut self, key: Key, set: ListId, lists: &mut Lists, long: &LongLiterals) {
        let Some(link) = self.find(&key) else { return };
        let at = (0..lists.len(link)).find(|&at| lists.item(link, at)[0] == u64::from(set));
        if let Some(at) = at {
            lists.swap_remove(link, at);
        }
        if lists.len(link) == 0 {
            self.forget(link, lists, long);
        }
    }

    /// The lists that an event enters, each once, into `out`.
    pub fn gather(
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
        for &attribute in event.present() {
            let keys: *const Attribute = self.attributes.get(attribute);
            super::arena::prefetch(keys);
            super::arena::prefetch(keys.cast::<u8>().wrapping_add(64));
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
                super::arena::prefetch(keys.at_least.as_ptr());
                super::arena::prefetch(keys.at_most.as_ptr());
            }
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
                    None if keys.nodes.has_room() => {}
                    None => out.extend(self.find(&Key::Node(attribute, level, order >> level))),
                }
            }
            if keys.links > 0
                && let Some(link) = self.find(&Key::Link(attribute, order))
            {
                out.extend(lists.blocks(link).flatten().map(|&list| list as ListId));
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
                    out.extend(lists.blocks(link).flatten().map(|&list| list as ListId));
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

    /// How many keys there are.
    pub fn len(&self) -> usize {
        let nodes: usize = self.attributes.iter().map(|a| a.nodes.len()).sum();
        nodes + self.shards.iter().map(HashTable::len).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All lists that stand under keys.
    pub fn lists(&self) -> impl Iterator<Item = ListId> {
        let nodes = self.attributes.iter().flat_map(|a| a.nodes.lists());
        nodes.chain(self.shards.iter().flat_map(|shard| shard.iter().copied()))
    }

    /// Bytes taken.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        let rare: usize = self
            .attributes
            .iter()
            .filter_map(|a| a.rare.as_ref())
            .map(|rare| size_of::<Rare>() + rare.large_sets.capacity() * 12)
            .sum();
        let nodes: usize = self.attributes.iter().map(|a| a.nodes.total_bytes()).sum();
        tables + nodes + rare + self.of_list.total_bytes() + self.attributes.total_bytes()
    }
}

/// The key of a list that a table of pieces may hold: its attribute, level and value.
fn piece_of(key: &Key) -> Option<(u32, u32, u64)> {
    match *key {
        Key::Node(attribute, level, value) => Some((attribute, u32::from(level), value)),
        Key::Link(attribute, value) => Some((attribute, LINK_LEVEL, value)),
        _ => None,
    }
}

fn add_bucket(buckets: &mut Vec<(u32, ListId)>, bucket: u32, list: ListId) {
    let at = buckets.partition_point(|&(other, _)| other < bucket);
    buckets.insert(at, (bucket, list));
}

fn push(out: &mut Vec<ListId>, list: ListHandle) {
    if list.0 != NO_LIST {
        out.push(list.0);
    }
}

fn release(lengths: &mut BTreeMap<u32, u32>, length: u32) {
    if let Some(uses) = lengths.get_mut(&length) {
        *uses -= 1;
        if *uses == 0 {
            lengths.remove(&length);
        }
    }
}

fn set_values(number: u32, long: &LongLiterals) -> Option<&[u64]> {
    match long.get(number).test {
        Test::Among(values) | Test::AnyOf(values) => Some(values),
        _ => None,
    }
}

/// The bucket of an order: grows with it, four to every doubling of the value.
pub fn bucket_of(order: u64, kind: Type) -> u32 {
    if kind == Type::Float {
        // Sign, exponent and two bits of the mantissa.
        return (order >> 50) as u32;
    }
    let value = (order ^ (1 << 63)) as i64;
    let size = value.unsigned_abs();
    let bucket = if size < 4 {
        size as u32
    } else {
        let doublings = size.ilog2();
        4 * (doublings - 1) + ((size >> (doublings - 2)) & 3) as u32
    };
    const MIDDLE: u32 = 1 << 12;
    if value < 0 {
        MIDDLE - bucket
    } else {
        MIDDLE + bucket
    }
}

/// Dyadic pieces that cover a range of orders, and whether they cover nothing else.
pub fn pieces(attribute: u32, low: u64, high: u64) -> (KeyVec, bool) {
    let width = high - low;
    let finest = (64 - width.leading_zeros()).saturating_sub(5);
    let mut first = low >> finest;
    let mut last = high >> finest;
    let exact = first << finest == low && (last << finest) + ((1 << finest) - 1) == high;
    let mut keys = KeyVec::new();
    let mut level = finest as u8;
    loop {
        if first == last {
            keys.push(Key::Node(attribute, level, first));
            break;
        }
        if first & 1 == 1 {
            keys.push(Key::Node(attribute, level, first));
            first += 1;
        }
        if last & 1 == 0 {
            keys.push(Key::Node(attribute, level, last));
            if last == first {
                break;
            }
            last -= 1;
        }
        if first > last {
            break;
        }
        if level == 63 {
            keys.extend([first, last].map(|half| Key::Node(attribute, level, half)));
            break;
        }
        first >>= 1;
        last >>= 1;
        level += 1;
    }
    (keys, exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(keys: &[Key], order: u64) -> usize {
        keys.iter()
            .filter(|key| matches!(key, Key::Node(_, level, value) if order >> level == *value))
            .count()
    }

    #[test]
    fn buckets_grow_with_values() {
        let ints = [
            i64::MIN,
            -1000,
            -5,
            -4,
            -1,
            0,
            1,
            3,
            4,
            5,
            7,
            8,
            9,
            64,
            100,
            127,
            128,
            i64::MAX,
        ];
        let buckets: Vec<u32> = ints
            .iter()
            .map(|&v| bucket_of(super::super::event::order_of_int(v), Type::Int))
            .collect();
        assert!(buckets.is_sorted(), "{buckets:?}");
        assert_eq!(
            buckets[9] + 1,
            bucket_of(super::super::event::order_of_int(6), Type::Int)
        );
    }

    #[test]
    fn pieces_cover_a_range_once_and_little_else() {
        for (low, high) in [
            (0u64, 1u64),
            (5, 5),
            (16, 31),
            (3, 77),
            (1000, 5_000_000),
            (1 << 63, (1 << 63) + 12345),
            (u64::MAX - 100, u64::MAX - 3),
            (1, u64::MAX - 1),
            (1 << 60, u64::MAX - 1),
            (0, 99),
            (7, 8),
        ] {
            let (keys, exact) = pieces(0, low, high);
            assert!(keys.len() <= 14, "{low}..={high}: {}", keys.len());
            let width = high - low;
            for order in [low, high, low + width / 2, low + width / 3] {
                assert_eq!(covers(&keys, order), 1, "{low}..={high} at {order}");
            }
            let slack = width / 16 + 1;
            let below = low.checked_sub(slack + 1);
            let above = high.checked_add(slack + 1);
            for order in below.into_iter().chain(above) {
                assert_eq!(covers(&keys, order), 0, "{low}..={high} at {order}");
            }
            if exact && low > 0 {
                assert_eq!(covers(&keys, low - 1), 0);
            }
            if width < 32 {
                assert!(exact);
            }
        }
    }
}
