//! A small open table from a piece of an attribute's domain to its list.
//!
//! Each attribute has its own table, so that the pieces which an event looks up are close together:
//! a lookup reads one cache line; in a table over all attributes it would read three. Its size is
//! limited so that doubling it takes less than a millisecond; further pieces go to the table of all
//! keys.

use crate::engine::postings::lists::{ListId, NO_LIST};

/// The maximum number of pieces in one table.
const MOST: usize = 1 << 15;

#[derive(Clone, Copy)]
struct Piece {
    value: u64,
    level: u32,
    list: ListId,
}

const FREE: Piece = Piece {
    value: 0,
    level: 0,
    list: NO_LIST,
};

/// Lists by level and value.
#[derive(Default)]
pub struct NodeTable {
    pieces: Vec<Piece>,
    len: usize,
}

#[inline(always)]
fn hash(level: u32, value: u64) -> u64 {
    (value.wrapping_add(u64::from(level) << 57)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl NodeTable {
    #[inline(always)]
    fn home(&self, level: u32, value: u64) -> usize {
        (hash(level, value) >> 32) as usize & (self.pieces.len() - 1)
    }

    /// The list of a piece.
    #[inline(always)]
    pub fn find(&self, level: u32, value: u64) -> Option<ListId> {
        if self.pieces.is_empty() {
            return None;
        }
        let mut at = self.home(level, value);
        loop {
            let piece = &self.pieces[at];
            if piece.list == NO_LIST {
                return None;
            }
            if piece.value == value && piece.level == level {
                return Some(piece.list);
            }
            at = (at + 1) & (self.pieces.len() - 1);
        }
    }

    /// Whether there is room for one more.
    pub fn has_room(&self) -> bool {
        self.len < MOST
    }

    /// Add a new piece.
    pub fn insert(&mut self, level: u32, value: u64, list: ListId) {
        if (self.len + 1) * 4 > self.pieces.len() * 3 {
            let larger = (self.pieces.len() * 2).max(4);
            let old = std::mem::replace(&mut self.pieces, vec![FREE; larger]);
            for piece in old.into_iter().filter(|piece| piece.list != NO_LIST) {
                self.place(piece);
            }
        }
        self.place(Piece { value, level, list });
        self.len += 1;
    }

    fn place(&mut self, piece: Piece) {
        let mut at = self.home(piece.level, piece.value);
        while self.pieces[at].list != NO_LIST {
            at = (at + 1) & (self.pieces.len() - 1);
        }
        self.pieces[at] = piece;
    }

    /// Remove a piece. Returns whether it existed.
    pub fn remove(&mut self, level: u32, value: u64) -> bool {
        if self.pieces.is_empty() {
            return false;
        }
        let mask = self.pieces.len() - 1;
        let mut at = self.home(level, value);
        loop {
            let piece = self.pieces[at];
            if piece.list == NO_LIST {
                return false;
            }
            if piece.value == value && piece.level == level {
                break;
            }
            at = (at + 1) & mask;
        }
        // Move back the pieces that probed past this gap, so that lookups still find them.
        let mut next = (at + 1) & mask;
        while self.pieces[next].list != NO_LIST {
            let home = self.home(self.pieces[next].level, self.pieces[next].value);
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(at) & mask) {
                self.pieces[at] = self.pieces[next];
                at = next;
            }
            next = (next + 1) & mask;
        }
        self.pieces[at] = FREE;
        self.len -= 1;
        if self.len == 0 {
            self.pieces = Vec::new();
        }
        true
    }

    /// Prefetch the cache line where a piece would be.
    #[inline(always)]
    pub fn prefetch(&self, level: u32, value: u64) {
        if !self.pieces.is_empty() {
            crate::engine::memory::arena::prefetch(&self.pieces[self.home(level, value)]);
        }
    }

    /// All lists.
    pub fn lists(&self) -> impl Iterator<Item = ListId> {
        self.pieces
            .iter()
            .map(|piece| piece.list)
            .filter(|&list| list != NO_LIST)
    }

    /// The number of pieces.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory in bytes.
    pub fn total_bytes(&self) -> usize {
        self.pieces.capacity() * size_of::<Piece>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_behaves_as_a_map() {
        let mut table = NodeTable::default();
        let mut model: HashMap<(u32, u64), ListId> = HashMap::new();
        let mut seed = 7u64;
        for step in 0..50_000u32 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let key = ((seed >> 60) as u32, (seed >> 40) % 300);
            if let Some(list) = model.remove(&key) {
                assert_eq!(table.find(key.0, key.1), Some(list));
                assert!(table.remove(key.0, key.1));
                assert!(!table.remove(key.0, key.1));
            } else {
                assert_eq!(table.find(key.0, key.1), None);
                table.insert(key.0, key.1, step);
                model.insert(key, step);
            }
            assert_eq!(table.len(), model.len());
        }
        assert!(
            model
                .iter()
                .all(|(key, &list)| table.find(key.0, key.1) == Some(list))
        );
        assert_eq!(table.lists().count(), model.len());
    }
}
