//! A bit for each popular set: an event first marks the sets that contain its values, and a check
//! of such a set then reads one bit.
//!
//! ```text
//!   (country, 'US') ──▶ 3, 17, 40, …      country in ('US', 'CA') has bit 17
//!   (country, 'CA') ──▶ 17, 21, …         country not in ('US', 'FR') has bit 40, read inverted
//! ```
//!
//! This is the first phase of the thesis, predicates before expressions, for the predicates where
//! it pays: popular sets guard many postings, and searching each set took most of a match. The cost
//! of marking depends on how many sets contain the values of an event, so that is limited: a set
//! gets a bit only while none of its values has too many. A set without a bit is searched when it
//! is checked.

mod snapshot;

use crate::engine::matching::event::Event;
use crate::engine::memory::chunked::Chunked;
use crate::language::Type;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// Larger sets have no bit.
const MOST_VALUES: usize = 64;
/// The maximum number of bits that a value marks.
const MOST_BITS: usize = 4096;
/// The maximum number of bits. An event clears them all, so they should fit the cache.
const ALL_BITS: usize = 1 << 18;
const SHARDS: usize = 256;

/// The bit that is always marked.
pub const ALWAYS_MARKED: u32 = 0;

struct Value {
    value: u64,
    attribute: u32,
    bits: SmallVec<[u32; 4]>,
}

/// The bits in use.
pub struct SetBits {
    shards: Vec<HashTable<Value>>,
    /// The literal of a bit.
    literals: Chunked<u32>,
    free: Vec<u32>,
    /// The number of sets of each attribute.
    sets: Vec<u32>,
    spilled: usize,
}

impl Default for SetBits {
    fn default() -> Self {
        let mut literals = Chunked::default();
        literals.push(0); // the one that is always marked
        SetBits {
            shards: (0..SHARDS).map(|_| HashTable::new()).collect(),
            literals,
            free: Vec::new(),
            sets: Vec::new(),
            spilled: 0,
        }
    }
}

fn hash(attribute: u32, value: u64) -> u64 {
    FxBuildHasher.hash_one((attribute, value))
}

fn shard_of(hash: u64) -> usize {
    (hash >> 40) as usize % SHARDS
}

impl SetBits {
    fn find(&self, attribute: u32, value: u64) -> Option<&[u32]> {
        let hash = hash(attribute, value);
        self.shards[shard_of(hash)]
            .find(hash, |v| v.value == value && v.attribute == attribute)
            .map(|found| &found.bits[..])
    }

    /// A bit for a set of distinct values; `None` if the set is too large, or one of its values has
    /// too many bits.
    pub fn give(&mut self, attribute: u32, values: &[u64], literal: u32) -> Option<u32> {
        let full = |value: &u64| {
            self.find(attribute, *value)
                .is_some_and(|bits| bits.len() >= MOST_BITS)
        };
        if values.len() > MOST_VALUES
            || (self.free.is_empty() && self.literals.len() >= ALL_BITS)
            || values.iter().any(full)
        {
            return None;
        }
        let bit = self.free.pop().unwrap_or_else(|| {
            self.literals.push(0);
            self.literals.len() as u32 - 1
        });
        *self.literals.get_mut(bit) = literal;
        self.join(bit, attribute, values);
        Some(bit)
    }

    /// Let the values of a set mark its bit.
    fn join(&mut self, bit: u32, attribute: u32, values: &[u64]) {
        for &value in values {
            let hash = hash(attribute, value);
            let entry = self.shards[shard_of(hash)]
                .entry(
                    hash,
                    |v| v.value == value && v.attribute == attribute,
                    |v| self::hash(v.attribute, v.value),
                )
                .or_insert_with(|| Value {
                    value,
                    attribute,
                    bits: SmallVec::new(),
                });
            let bits = &mut entry.into_mut().bits;
            let before = heap_bytes(bits);
            bits.push(bit);
            self.spilled += heap_bytes(bits) - before;
        }
        if self.sets.len() <= attribute as usize {
            self.sets.resize(attribute as usize + 1, 0);
        }
        self.sets[attribute as usize] += 1;
    }

    /// Free the bit of a set of these values.
    pub fn take_back(&mut self, bit: u32, attribute: u32, values: &[u64]) {
        for &value in values {
            let hash = hash(attribute, value);
            let found = self.shards[shard_of(hash)]
                .find_entry(hash, |v| v.value == value && v.attribute == attribute);
            let Ok(mut entry) = found else { continue };
            let bits = &mut entry.get_mut().bits;
            let before = heap_bytes(bits);
            if let Some(at) = bits.iter().position(|&other| other == bit) {
                bits.swap_remove(at);
            }
            if bits.len() * 4 <= bits.capacity() {
                bits.shrink_to_fit();
            }
            self.spilled -= before;
            if bits.is_empty() {
                entry.remove();
            } else {
                self.spilled += heap_bytes(bits);
            }
        }
        self.sets[attribute as usize] -= 1;
        self.free.push(bit);
    }

    /// The literal of a bit.
    #[inline]
    pub fn literal(&self, bit: u32) -> u32 {
        *self.literals.get(bit)
    }

    /// Mark the sets that contain the values of an event.
    pub fn mark(&self, event: &mut Event, types: &[Type]) {
        event.unmark(self.literals.len());
        event.mark(ALWAYS_MARKED);
        for place in 0..event.present().len() {
            let attribute = event.present()[place];
            if self.sets.get(attribute as usize).is_none_or(|&n| n == 0) {
                continue;
            }
            if !types[attribute as usize].is_list() {
                self.mark_value(attribute, event.order(attribute), event);
                continue;
            }
            for element in 0..event.elements(attribute).len() {
                self.mark_value(attribute, event.elements(attribute)[element], event);
            }
        }
    }

    #[inline(always)]
    fn mark_value(&self, attribute: u32, value: u64, event: &mut Event) {
        for &bit in self.find(attribute, value).unwrap_or_default() {
            event.mark(bit);
        }
    }

    /// The number of sets with a bit, and the number of bits over all values.
    pub fn count(&self) -> (usize, usize) {
        let marks = self.shards.iter().flatten().map(|v| v.bits.len()).sum();
        (self.literals.len() - 1 - self.free.len(), marks)
    }

    /// Whether each value of a set marks its bit.
    pub fn has(&self, bit: u32, attribute: u32, values: &[u64]) -> bool {
        values.iter().all(|&value| {
            self.find(attribute, value)
                .is_some_and(|bits| bits.contains(&bit))
        })
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        let around = self.free.capacity() * 4 + self.sets.capacity() * 4;
        tables + self.spilled + self.literals.total_bytes() + around
    }
}

fn heap_bytes(bits: &SmallVec<[u32; 4]>) -> usize {
    if bits.spilled() {
        bits.capacity() * 4
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_marks_the_sets_that_it_belongs_to() {
        let mut sets = SetBits::default();
        let first = sets.give(0, &[1, 2], 70).unwrap();
        let second = sets.give(0, &[2, 3], 71).unwrap();
        let other = sets.give(1, &[2], 72).unwrap();
        let mut event = Event::default();
        event.reset(2);
        event.set_bool(0, true);
        sets.mark(&mut event, &[Type::Bool, Type::Bool]);
        let marked = |event: &Event, bit| event.marked(u64::from(bit)) == 1;
        assert!(marked(&event, ALWAYS_MARKED) && marked(&event, first));
        assert!(!marked(&event, second) && !marked(&event, other));
        assert_eq!((sets.literal(second), sets.count()), (71, (3, 5)));
        sets.take_back(first, 0, &[1, 2]);
        assert_eq!(sets.count(), (2, 3));
        assert_eq!(sets.give(1, &[9], 73), Some(first));
    }

    #[test]
    fn popular_values_and_large_sets_have_their_bounds() {
        let mut sets = SetBits::default();
        for n in 0..MOST_BITS as u64 {
            assert!(sets.give(0, &[7, n + 100], n as u32).is_some());
        }
        assert_eq!(sets.give(0, &[3, 7], 0), None);
        assert!(sets.give(0, &[3, 8], 0).is_some());
        let large: Vec<u64> = (0..MOST_VALUES as u64 + 1).collect();
        assert_eq!(sets.give(1, &large, 0), None);
    }
}
