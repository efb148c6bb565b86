//! Groups of ids as small numbers, and which groups are muted.
//!
//! ```text
//!   group 8 300 007 ──table──▶ number 3 ──▶ one bit: is it muted?
//! ```
//!
//! A slot holds the number of its group, so that a match reads one bit and no table. Group 0 means
//! none: it has number 0, costs nothing and is never muted. A number is freed with the last id of
//! its group. Muting is stored by group, whether it has ids or not.

mod snapshot;

use crate::engine::memory::chunked::Chunked;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::hash::BuildHasher;

/// The number of a group in this index; 0 for none.
pub type GroupNumber = u32;

/// The table is divided into shards, so that growing one is quick.
const SHARDS: usize = 64;

#[derive(Clone, Copy, Default)]
struct Known {
    group: u64,
    uses: u32,
}

/// All groups with ids.
#[derive(Default)]
pub struct Groups {
    shards: Vec<HashTable<GroupNumber>>,
    /// By number; the first means none.
    known: Chunked<Known>,
    free: Vec<GroupNumber>,
    muted: FxHashSet<u64>,
    muted_numbers: Numbers,
    len: usize,
}

fn hash(group: u64) -> u64 {
    FxBuildHasher.hash_one(group)
}

fn shard_of(hash: u64) -> usize {
    (hash >> 50) as usize % SHARDS
}

impl Groups {
    /// The group with a number.
    pub fn group(&self, number: GroupNumber) -> u64 {
        if number == 0 {
            0
        } else {
            self.known.get(number).group
        }
    }

    /// The number of a group, if it has ids.
    pub fn find(&self, group: u64) -> Option<GroupNumber> {
        let hash = hash(group);
        let shard = self.shards.get(shard_of(hash))?;
        let known = &self.known;
        shard
            .find(hash, |&number| known.get(number).group == group)
            .copied()
    }

    /// The number of a group, counting one more use.
    pub fn acquire(&mut self, group: u64) -> GroupNumber {
        if group == 0 {
            return 0;
        }
        let number = self.find(group).unwrap_or_else(|| self.declare(group));
        self.known.get_mut(number).uses += 1;
        number
    }

    fn declare(&mut self, group: u64) -> GroupNumber {
        if self.shards.is_empty() {
            self.shards.resize_with(SHARDS, HashTable::new);
            self.known.push(Known::default());
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.known.push(Known::default());
            self.known.len() as GroupNumber - 1
        });
        *self.known.get_mut(number) = Known { group, uses: 0 };
        self.register(group, number);
        number
    }

    /// Add a group to the table.
    fn register(&mut self, group: u64, number: GroupNumber) {
        let hash = hash(group);
        let known = &self.known;
        self.shards[shard_of(hash)]
            .insert_unique(hash, number, |&n| self::hash(known.get(n).group));
        if self.muted.contains(&group) {
            self.muted_numbers.insert(number);
        }
        self.len += 1;
    }

    /// Count one use less of a group.
    pub fn release(&mut self, number: GroupNumber) {
        if number == 0 {
            return;
        }
        let known = self.known.get_mut(number);
        known.uses -= 1;
        if known.uses > 0 {
            return;
        }
        let hash = hash(known.group);
        *known = Known::default();
        if let Ok(entry) = self.shards[shard_of(hash)].find_entry(hash, |&n| n == number) {
            entry.remove();
        }
        self.muted_numbers.remove(number);
        self.free.push(number);
        self.len -= 1;
    }

    /// Keep the ids of a group from matching. Returns whether that is a change. The time does not
    /// depend on the number of ids.
    pub fn mute(&mut self, group: u64) -> bool {
        if group == 0 {
            return false;
        }
        if let Some(number) = self.find(group) {
            self.muted_numbers.insert(number);
        }
        self.muted.insert(group)
    }

    /// Let the ids of a group match again. Returns whether that is a change.
    pub fn unmute(&mut self, group: u64) -> bool {
        if let Some(number) = self.find(group) {
            self.muted_numbers.remove(number);
        }
        self.muted.remove(&group)
    }

    /// The muted groups, ascending.
    pub fn muted(&self) -> Vec<u64> {
        let mut muted: Vec<u64> = self.muted.iter().copied().collect();
        muted.sort_unstable();
        muted
    }

    /// The numbers of the muted groups that have ids.
    #[inline]
    pub fn muted_numbers(&self) -> &Numbers {
        &self.muted_numbers
    }

    /// The number of groups with ids.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no group has ids.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        tables
            + self.known.total_bytes()
            + self.free.capacity() * 4
            + self.muted.capacity() * 9
            + self.muted_numbers.words.capacity() * 8
    }

    /// Check the use count of each number, and that the muted numbers are those of the muted
    /// groups.
    ///
    /// # Errors
    /// With the first invariant that does not hold.
    pub fn check_invariants(&self, uses: impl Fn(GroupNumber) -> u32) -> Result<(), String> {
        let mut used = 0;
        for number in 1..self.known.len() as GroupNumber {
            let Known { group, uses: known } = *self.known.get(number);
            if known != uses(number) {
                return Err(format!("group {group} has {known} uses, not those counted"));
            }
            used += usize::from(known > 0);
            if known > 0 && self.find(group) != Some(number) {
                return Err(format!("group {group} is not found by its id"));
            }
            let muted = known > 0 && self.muted.contains(&group);
            if muted != self.muted_numbers.contains(number) {
                return Err(format!("group {group} is muted in one place only"));
            }
        }
        if used != self.len || used + self.free.len() + 1 != self.known.len().max(1) {
            return Err(format!("{used} groups are used, not {}", self.len));
        }
        Ok(())
    }
}

/// A set of small numbers, one bit each.
#[derive(Default)]
pub struct Numbers {
    words: Vec<u64>,
    len: usize,
}

impl Numbers {
    /// Add a number.
    pub fn insert(&mut self, number: u32) {
        let word = (number / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let fresh = self.words[word] >> (number & 63) & 1 == 0;
        self.words[word] |= 1 << (number & 63);
        self.len += usize::from(fresh);
    }

    /// Remove a number.
    pub fn remove(&mut self, number: u32) {
        if self.contains(number) {
            self.words[(number / 64) as usize] &= !(1 << (number & 63));
            self.len -= 1;
        }
    }

    /// Whether it has a number.
    #[inline(always)]
    pub fn contains(&self, number: u32) -> bool {
        let word = self.words.get((number / 64) as usize);
        word.is_some_and(|word| word >> (number & 63) & 1 == 1)
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn a_group_is_muted_with_and_without_ids() {
        let mut groups = Groups::default();
        assert!(groups.mute(7) && !groups.mute(7) && !groups.mute(0));
        assert!(groups.muted_numbers().is_empty());
        let (seven, eight) = (groups.acquire(7), groups.acquire(8));
        assert!(groups.muted_numbers().contains(seven));
        assert!(!groups.muted_numbers().contains(eight));
        groups.release(seven);
        assert!(groups.muted_numbers().is_empty());
        let nine = groups.acquire(9);
        assert_eq!(nine, seven, "numbers are given back");
        assert!(!groups.muted_numbers().contains(nine));
        groups.acquire(7);
        assert!(groups.unmute(7) && !groups.unmute(7));
        assert!(groups.muted_numbers().is_empty() && groups.muted().is_empty());
        groups.check_invariants(|_| 1).expect("one use each");
    }
}
