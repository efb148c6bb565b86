//! From a value to the lists that it enters: PS-Tree's part in this core.
//!
//! Each list of postings has a *key*. An event has few keys and looks each one up.
//!
//! ```text
//!   age = 30                 ──▶ node (age, level 0, 30)
//!   age between 16 and 31    ──▶ node (age, level 4, 16 >> 4)        dyadic pieces of the domain
//!   age >= 18                ──▶ at least (age, bucket of 18)        four buckets a doubling
//!   tags any of (5 … 64)     ──▶ set, linked from each of its values
//!   a set of more            ──▶ set, tried by itself
//!   f = 3 and g = 8          ──▶ pair (f, g, 3, 8)                   where that is worth a lookup
//!   domain ends with '.news' ──▶ suffix, by its lengths
//!   page contains '/sport/'  ──▶ gram (page, 4, "spor")              also of a pattern
//!   negative …               ──▶ present (attribute)
//!   is null, is empty        ──▶ missing, empty (attribute)
//! ```
//!
//! Thresholds share lists by buckets: with a list for each bound, most would have one posting, and
//! an event enters all lists below its value. A range is covered by at most a dozen pieces. The
//! finest is a sixteenth of its width, so the pieces may cover a little more than the range; then
//! the literal is checked as well. No list with a key is empty: a key is removed with its last
//! posting.

mod snapshot;

use crate::engine::expression::literal_word::MAX_ATTRIBUTES;
use crate::engine::expression::long_literals::{LongLiterals, Test};
use crate::engine::ids::bands::{ALL, BANDS, Band};
use crate::engine::memory::chunked::Chunked;
use crate::engine::postings::grams::Grams;
use crate::engine::postings::lists::{ListId, Lists, NO_LIST, PARTS};
use crate::engine::postings::node_table::NodeTable;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// The key of a list. The level of a `Node` is 0 to 63, and its value is the order shifted right by
/// the level. An attribute stands below the band that the key belongs to (`place_in`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Key {
    #[default]
    None,
    /// Of a band.
    Always(u32),
    Node(u32, u8, u64),
    /// Attribute and bucket of the bound.
    AtLeast(u32, u32),
    AtMost(u32, u32),
    /// Attribute and number of the long literal.
    Set(u32, u32),
    /// A value in linked sets. The items of its list are the lists of the sets.
    Link(u32, u64),
    /// Two attributes, the lower one first, and the keys that an event has there: of the first in
    /// the upper half, of the second in the lower.
    Pair(u32, u16, u64),
    Prefix(u32, u32),
    Suffix(u32, u32),
    /// Attribute, length and bytes of a piece of the text.
    Gram(u32, u8, u64),
    Present(u32),
    Missing(u32),
    Empty(u32),
}

/// The bits of an attribute, below its band.
const ATTRIBUTE_BITS: u32 = MAX_ATTRIBUTES.trailing_zeros();

/// An attribute in a band.
pub fn place_in(band: Band, attribute: u32) -> u32 {
    band << ATTRIBUTE_BITS | attribute
}

/// The band and the attribute of a place.
pub fn split_place(place: u32) -> (Band, u32) {
    (place >> ATTRIBUTE_BITS, place & (MAX_ATTRIBUTES as u32 - 1))
}

impl Key {
    fn place(&mut self) -> Option<&mut u32> {
        match self {
            Key::None | Key::Always(_) => None,
            Key::Node(place, ..)
            | Key::AtLeast(place, _)
            | Key::AtMost(place, _)
            | Key::Set(place, _)
            | Key::Link(place, _)
            | Key::Pair(place, ..)
            | Key::Prefix(place, _)
            | Key::Suffix(place, _)
            | Key::Gram(place, ..)
            | Key::Present(place)
            | Key::Missing(place)
            | Key::Empty(place) => Some(place),
        }
    }

    /// The same key in another band.
    pub fn in_band(mut self, band: Band) -> Key {
        if let Key::Always(own) = &mut self {
            *own = band;
        } else if let Some(place) = self.place() {
            *place = place_in(band, split_place(*place).1);
        }
        self
    }

    /// The band and the attribute of a key.
    pub fn owner(mut self) -> (Band, Option<u32>) {
        if let Key::Always(band) = self {
            return (band, None);
        }
        match self.place() {
            Some(place) => {
                let (band, attribute) = split_place(*place);
                (band, Some(attribute))
            }
            None => (0, None),
        }
    }
}

/// The keys of a literal, usually one.
pub type KeyVec = SmallVec<[Key; 4]>;

/// The maximum size of a set that is posted under each of its values.
pub const POSTED_SET: usize = 4;
/// The maximum size of a set that is linked from each of its values. Larger sets are tried one by
/// one.
pub const LINKED_SET: usize = 64;

const SHARD_BITS: u32 = 10;

#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) present: ListHandle,
    pub(crate) missing: ListHandle,
    pub(crate) empty: ListHandle,
    pub(crate) levels: u64,
    pub(crate) nodes: NodeTable,
    /// The number of pieces in the table of all keys, because `nodes` was full.
    pub(crate) elsewhere: u32,
    /// Buckets of thresholds, ascending.
    pub(crate) at_least: Vec<(u32, ListId)>,
    pub(crate) at_most: Vec<(u32, ListId)>,
    /// The number of values that link to sets.
    pub(crate) links: u32,
    /// Whether there are prefixes, suffixes or large sets.
    pub(crate) has_rare: bool,
    pub(crate) rare: Option<Box<Rare>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListHandle(pub(crate) ListId);

impl Default for ListHandle {
    fn default() -> Self {
        ListHandle(NO_LIST)
    }
}

/// The keys that few attributes have.
pub(crate) struct Rare {
    pub(crate) level_uses: [u32; 64],
    pub(crate) prefix_lengths: BTreeMap<u32, u32>,
    pub(crate) suffix_lengths: BTreeMap<u32, u32>,
    pub(crate) large_sets: FxHashMap<u32, ListId>,
    pub(crate) grams: Grams,
}

/// The level of links to sets in the table of pieces.
const LINK_LEVEL: u32 = 64;
/// The level of pairs with attribute 0, below those with the others.
const PAIR_LEVEL: u32 = 65;

/// Above all levels of pairs; that of a gram is lower by its length.
const GRAM_LEVEL: u32 = u32::MAX;

/// The maximum number of pairs of attributes, each of which an event must look up.
pub const MOST_PAIRS: usize = 64;

/// A pair of attributes that has keys.
pub(crate) struct PairOf {
    pub(crate) first: u32,
    pub(crate) second: u32,
    /// The number of its keys.
    uses: u32,
}

/// All keys of an index.
pub struct Keys {
    pub(crate) shards: Vec<HashTable<ListId>>,
    pub(crate) of_list: Chunked<Key>,
    /// By band. Those of the best grow when they are needed.
    attributes: [Chunked<Attribute>; BANDS + 1],
    pub(crate) always: [ListId; BANDS + 1],
    /// Attributes that have a list of `is null`, by band.
    pub(crate) nullable: [Vec<u32>; BANDS + 1],
    /// The pairs of attributes that have keys. Only the index of all entries has them.
    pub(crate) pairs: Vec<PairOf>,
}

impl PairOf {
    fn is_of(&self, first: u32, second: u32) -> bool {
        self.first == first && self.second == second
    }
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
            attributes: Default::default(),
            always: [NO_LIST; BANDS + 1],
            nullable: Default::default(),
            pairs: Vec::new(),
        }
    }
}

impl Keys {
    /// Grow to this number of attributes.
    pub fn grow_to(&mut self, attributes: usize) {
        self.attributes[ALL as usize].grow_to(attributes);
    }

    /// The keys of an attribute in a band; `None` if it has none there.
    #[inline(always)]
    pub(crate) fn at(&self, place: u32) -> Option<&Attribute> {
        let (band, attribute) = split_place(place);
        let attributes = &self.attributes[band as usize];
        ((attribute as usize) < attributes.len()).then(|| attributes.get(attribute))
    }

    fn at_mut(&mut self, place: u32) -> &mut Attribute {
        let (band, attribute) = split_place(place);
        let attributes = &mut self.attributes[band as usize];
        attributes.grow_to(attribute as usize + 1);
        attributes.get_mut(attribute)
    }

    /// The key of a list.
    pub fn key_of(&self, list: ListId) -> Key {
        *self.of_list.get(list)
    }

    pub(crate) fn find(&self, key: &Key) -> Option<ListId> {
        if let Some((attribute, level, value)) = piece_of(key) {
            let keys = self.at(attribute)?;
            if let Some(list) = keys.nodes.find(level, value) {
                return Some(list);
            }
            if keys.elsewhere == 0 {
                return None;
            }
        }
        let hash = hash(key);
        let of_list = &self.of_list;
        self.shards[shard_of(hash)]
            .find(hash, |&list| of_list.get(list) == key)
            .copied()
    }

    /// The list of a key, created if necessary.
    pub fn list(&mut self, key: Key, lists: &mut Lists, long: &LongLiterals) -> ListId {
        if let Some(list) = self.find(&key) {
            return list;
        }
        let list = lists.create(if matches!(key, Key::Link(..)) {
            1
        } else {
            PARTS
        });
        self.of_list.grow_to(list as usize + 1);
        *self.of_list.get_mut(list) = key;
        self.register(key, list, lists, long);
        self.enter(key, list);
        list
    }

    /// Put a key into the table in which it is looked up.
    fn enter(&mut self, key: Key, list: ListId) {
        if let Some((attribute, level, value)) = piece_of(&key) {
            let keys = self.at_mut(attribute);
            if keys.nodes.has_room() {
                keys.nodes.insert(level, value, list);
                return;
            }
            keys.elsewhere += 1;
        }
        let hash = hash(&key);
        let of_list = &self.of_list;
        self.shards[shard_of(hash)]
            .insert_unique(hash, list, |&other| self::hash(of_list.get(other)));
    }

    /// Remove a list that has become empty, with its key.
    pub fn forget(&mut self, list: ListId, lists: &mut Lists, long: &LongLiterals) {
        let key = self.key_of(list);
        let hash = hash(&key);
        let in_table = piece_of(&key).is_some_and(|(attribute, level, value)| {
            let nodes = &mut self.at_mut(attribute).nodes;
            nodes.remove(level, value)
        });
        if !in_table
            && let Ok(entry) = self.shards[shard_of(hash)].find_entry(hash, |&other| other == list)
        {
            entry.remove();
            if let Some((attribute, ..)) = piece_of(&key) {
                self.at_mut(attribute).elsewhere -= 1;
            }
        }
        *self.of_list.get_mut(list) = Key::None;
        self.unregister(key, list, lists, long);
        lists.destroy(list);
    }

    fn rare(&mut self, attribute: u32) -> &mut Rare {
        self.at_mut(attribute).rare.get_or_insert_with(|| {
            Box::new(Rare {
                level_uses: [0; 64],
                prefix_lengths: BTreeMap::new(),
                suffix_lengths: BTreeMap::new(),
                large_sets: FxHashMap::default(),
                grams: Grams::default(),
            })
        })
    }

    /// Register in the attribute what an event must look up.
    fn register(&mut self, key: Key, list: ListId, lists: &mut Lists, long: &LongLiterals) {
        match key {
            Key::None => {}
            Key::Always(band) => self.always[band as usize] = list,
            Key::Node(attribute, 0, _) => self.at_mut(attribute).levels |= 1,
            Key::Node(attribute, level, _) => {
                self.rare(attribute).level_uses[level as usize] += 1;
                self.at_mut(attribute).levels |= 1 << level;
            }
            Key::AtLeast(attribute, bucket) | Key::AtMost(attribute, bucket) => {
                let buckets = self.buckets(key, attribute);
                let at = buckets.partition_point(|&(other, _)| other < bucket);
                buckets.insert(at, (bucket, list));
            }
            Key::Set(attribute, number) => match set_values(number, long) {
                Some(values) if values.len() <= LINKED_SET => {
                    for &value in values {
                        let link = self.list(Key::Link(attribute, value), lists, long);
                        lists.push(link, &[list]);
                    }
                }
                _ => {
                    self.rare(attribute).large_sets.insert(number, list);
                    self.note_rare(attribute);
                }
            },
            Key::Link(attribute, _) => self.at_mut(attribute).links += 1,
            Key::Pair(first, second, _) => {
                let (first, second) = (split_place(first).1, u32::from(second));
                let known = self.pairs.iter_mut();
                match known.into_iter().find(|pair| pair.is_of(first, second)) {
                    Some(pair) => pair.uses += 1,
                    None => self.pairs.push(PairOf {
                        first,
                        second,
                        uses: 1,
                    }),
                }
            }
            Key::Prefix(attribute, string) | Key::Suffix(attribute, string) => {
                let length = long.strings().text(string).len() as u32;
                *self.lengths(key, attribute).entry(length).or_insert(0) += 1;
                self.note_rare(attribute);
            }
            Key::Gram(attribute, length, gram) => {
                self.rare(attribute).grams.add(length, gram);
                self.note_rare(attribute);
            }
            Key::Present(attribute) => self.at_mut(attribute).present = ListHandle(list),
            Key::Empty(attribute) => self.at_mut(attribute).empty = ListHandle(list),
            Key::Missing(attribute) => {
                self.at_mut(attribute).missing = ListHandle(list);
                let (band, attribute) = split_place(attribute);
                self.nullable[band as usize].push(attribute);
            }
        }
    }

    fn unregister(&mut self, key: Key, list: ListId, lists: &mut Lists, long: &LongLiterals) {
        match key {
            Key::None => {}
            Key::Always(band) => self.always[band as usize] = NO_LIST,
            Key::Node(_, 0, _) => {}
            Key::Node(attribute, level, _) => {
                let uses = &mut self.rare(attribute).level_uses[level as usize];
                *uses -= 1;
                if *uses == 0 {
                    self.at_mut(attribute).levels &= !(1 << level);
                }
            }
            Key::AtLeast(attribute, bucket) | Key::AtMost(attribute, bucket) => {
                let buckets = self.buckets(key, attribute);
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
            Key::Link(attribute, _) => self.at_mut(attribute).links -= 1,
            Key::Pair(first, second, _) => {
                let (first, second) = (split_place(first).1, u32::from(second));
                for pair in &mut self.pairs {
                    pair.uses -= u32::from(pair.is_of(first, second));
                }
                self.pairs.retain(|pair| pair.uses > 0);
            }
            Key::Prefix(attribute, string) | Key::Suffix(attribute, string) => {
                let length = long.strings().text(string).len() as u32;
                release(self.lengths(key, attribute), length);
                self.note_rare(attribute);
            }
            Key::Gram(attribute, length, _) => {
                self.rare(attribute).grams.remove(length);
                self.note_rare(attribute);
            }
            Key::Present(attribute) => {
                self.at_mut(attribute).present = ListHandle(NO_LIST);
            }
            Key::Empty(attribute) => {
                self.at_mut(attribute).empty = ListHandle(NO_LIST);
            }
            Key::Missing(attribute) => {
                self.at_mut(attribute).missing = ListHandle(NO_LIST);
                let (band, attribute) = split_place(attribute);
                self.nullable[band as usize].retain(|&other| other != attribute);
            }
        }
    }

    /// Whether a pair of attributes has keys.
    pub fn has_pair(&self, (first, second): (u32, u32)) -> bool {
        self.pairs.iter().any(|pair| pair.is_of(first, second))
    }

    /// The number of pairs of attributes that have keys.
    pub fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// The number of keys that the pairs of attributes count.
    pub fn pair_keys(&self) -> usize {
        self.pairs.iter().map(|pair| pair.uses as usize).sum()
    }

    /// The buckets of an `AtLeast` or `AtMost`.
    fn buckets(&mut self, key: Key, attribute: u32) -> &mut Vec<(u32, ListId)> {
        let keys = self.at_mut(attribute);
        match key {
            Key::AtLeast(..) => &mut keys.at_least,
            _ => &mut keys.at_most,
        }
    }

    /// The lengths of the strings of a `Prefix` or `Suffix`, with their use counts.
    fn lengths(&mut self, key: Key, attribute: u32) -> &mut BTreeMap<u32, u32> {
        let rare = self.rare(attribute);
        match key {
            Key::Prefix(..) => &mut rare.prefix_lengths,
            _ => &mut rare.suffix_lengths,
        }
    }

    /// Update whether an event must look at an attribute's rare keys.
    fn note_rare(&mut self, attribute: u32) {
        let keys = self.at_mut(attribute);
        keys.has_rare = keys.rare.as_ref().is_some_and(|rare| {
            !(rare.prefix_lengths.is_empty()
                && rare.suffix_lengths.is_empty()
                && rare.large_sets.is_empty()
                && rare.grams.is_empty())
        });
    }

    fn unlink(&mut self, key: Key, set: ListId, lists: &mut Lists, long: &LongLiterals) {
        let Some(link) = self.find(&key) else { return };
        let at = (0..lists.len(link)).find(|&at| lists.item(link, at)[0] == set);
        if let Some(at) = at {
            lists.swap_remove(link, at);
        }
        if lists.len(link) == 0 {
            self.forget(link, lists, long);
        }
    }

    /// The attributes of all bands.
    fn all(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().flat_map(Chunked::iter)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        let nodes: usize = self.all().map(|a| a.nodes.len()).sum();
        nodes + self.shards.iter().map(HashTable::len).sum::<usize>()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The upper bound of the numbers of lists with a key.
    pub fn reach(&self) -> ListId {
        self.of_list.len() as ListId
    }

    /// All lists with a key.
    pub fn lists(&self) -> impl Iterator<Item = ListId> {
        let nodes = self.all().flat_map(|a| a.nodes.lists());
        nodes.chain(self.shards.iter().flat_map(|shard| shard.iter().copied()))
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        let rare: usize = self
            .all()
            .filter_map(|a| a.rare.as_ref())
            .map(|rare| {
                size_of::<Rare>() + rare.large_sets.capacity() * 12 + rare.grams.total_bytes()
            })
            .sum();
        let nodes: usize = self.all().map(|a| a.nodes.total_bytes()).sum();
        let attributes: usize = self.attributes.iter().map(Chunked::total_bytes).sum();
        tables + nodes + rare + self.of_list.total_bytes() + attributes
    }
}

/// The key of a list that a table of pieces may hold: its attribute, level and value.
fn piece_of(key: &Key) -> Option<(u32, u32, u64)> {
    match *key {
        Key::Node(attribute, level, value) => Some((attribute, u32::from(level), value)),
        Key::Link(attribute, value) => Some((attribute, LINK_LEVEL, value)),
        Key::Gram(attribute, length, gram) => {
            Some((attribute, GRAM_LEVEL - u32::from(length), gram))
        }
        Key::Pair(first, second, values) => Some((first, PAIR_LEVEL + u32::from(second), values)),
        _ => None,
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
