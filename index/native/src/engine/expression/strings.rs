//! Strings by number: every string that a predicate names is kept once, with a use count.
//!
//! An event's string is looked up once; after that, equality is a comparison of numbers. A string
//! that no predicate names has no number and needs none. The table is divided into shards, so that
//! growing one takes microseconds.

mod snapshot;

use crate::engine::memory::chunked::Chunked;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

const SHARD_BITS: u32 = 8;

struct Known {
    text: Box<str>,
    uses: u32,
}

/// The strings in use.
#[derive(Default)]
pub struct Strings {
    shards: Vec<HashTable<u32>>,
    known: Chunked<Option<Known>>,
    free: Vec<u32>,
    bytes: usize,
}

fn hash(text: &[u8]) -> u64 {
    FxBuildHasher.hash_one(text)
}

fn shard_of(hash: u64) -> usize {
    (hash >> (56 - SHARD_BITS)) as usize & ((1 << SHARD_BITS) - 1)
}

impl Strings {
    /// Without strings.
    pub fn new() -> Self {
        Strings {
            shards: (0..1 << SHARD_BITS).map(|_| HashTable::new()).collect(),
            ..Default::default()
        }
    }

    /// The number of a string, if a predicate names it.
    #[inline]
    pub fn find(&self, text: &str) -> Option<u32> {
        self.find_bytes(text.as_bytes())
    }

    /// The number of a string, given as bytes: a piece of a text may end inside a character.
    #[inline]
    pub fn find_bytes(&self, text: &[u8]) -> Option<u32> {
        let hash = hash(text);
        let known = &self.known;
        self.shards[shard_of(hash)]
            .find(hash, |&number| text_of(known, number).as_bytes() == text)
            .copied()
    }

    /// The number of a string, counting one more use of it.
    pub fn acquire(&mut self, text: &str) -> u32 {
        if let Some(number) = self.find(text) {
            self.retain(number);
            return number;
        }
        let known = Known {
            text: text.into(),
            uses: 1,
        };
        self.bytes += text.len();
        let number = match self.free.pop() {
            Some(number) => {
                *self.known.get_mut(number) = Some(known);
                number
            }
            None => {
                self.known.push(Some(known));
                self.known.len() as u32 - 1
            }
        };
        let hash = hash(text.as_bytes());
        let known = &self.known;
        self.shards[shard_of(hash)].insert_unique(hash, number, |&other| {
            self::hash(text_of(known, other).as_bytes())
        });
        number
    }

    /// Count one more use.
    pub fn retain(&mut self, number: u32) {
        if let Some(known) = self.known.get_mut(number) {
            known.uses += 1;
        }
    }

    /// Count one use less; the last one removes the string.
    pub fn release(&mut self, number: u32) {
        let Some(known) = self.known.get_mut(number) else {
            return;
        };
        known.uses -= 1;
        if known.uses > 0 {
            return;
        }
        let hash = hash(known.text.as_bytes());
        self.bytes -= known.text.len();
        if let Ok(entry) = self.shards[shard_of(hash)].find_entry(hash, |&n| n == number) {
            entry.remove();
        }
        *self.known.get_mut(number) = None;
        self.free.push(number);
    }

    /// The use count of a string.
    pub fn uses(&self, number: u32) -> u32 {
        self.known
            .get(number)
            .as_ref()
            .map_or(0, |known| known.uses)
    }

    /// The string of a number that is in use.
    #[inline]
    pub fn text(&self, number: u32) -> &str {
        text_of(&self.known, number)
    }

    /// All strings have lower numbers than this.
    pub fn numbers(&self) -> u32 {
        self.known.len() as u32
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.known.len() - self.free.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        self.bytes + tables + self.known.total_bytes() + self.free.capacity() * 4
    }
}

fn text_of(known: &Chunked<Option<Known>>, number: u32) -> &str {
    known.get(number).as_ref().map_or("", |known| &known.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acquire_then_release_is_identity() {
        let mut strings = Strings::new();
        let numbers: Vec<u32> = (0..5000)
            .map(|i| strings.acquire(&format!("s{i}")))
            .collect();
        assert_eq!(strings.acquire("s7"), numbers[7]);
        assert_eq!(strings.len(), 5000);
        for (i, &number) in numbers.iter().enumerate() {
            assert_eq!(strings.text(number), format!("s{i}"));
            strings.release(number);
        }
        assert_eq!(strings.find("s8"), None);
        assert_eq!(strings.find("s7"), Some(numbers[7]));
        strings.release(numbers[7]);
        assert!(strings.is_empty());
    }
}
