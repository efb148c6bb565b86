//! A hash table of numbers whose contents are stored elsewhere. Clearing it costs nothing.
//!
//! Every expression starts with an empty table, and most add a dozen entries. So a slot records the
//! generation in which it was filled, and a new generation empties all slots at once. Entries are
//! compared by content, never by hash alone.

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    /// 0 is no generation.
    generation: u32,
    id: u32,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    /// A power of two, at most half full.
    slots: Vec<Slot>,
    generation: u32,
    len: usize,
}

const FIRST_SLOTS: usize = 64;

impl Table {
    /// Empties the table.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill(Slot::default());
            self.generation = 1;
        }
    }

    /// The number of the entry with this hash that is the `same`; otherwise adds and returns `id`.
    pub(super) fn find_or_insert(
        &mut self,
        hash: u64,
        id: u32,
        mut same: impl FnMut(u32) -> bool,
    ) -> u32 {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.generation != self.generation {
                break;
            }
            if slot.hash == hash && same(slot.id) {
                return slot.id;
            }
            at = (at + 1) & mask;
        }
        self.fill(at, hash, id);
        self.len += 1;
        id
    }

    fn fill(&mut self, at: usize, hash: u64, id: u32) {
        let generation = self.generation;
        self.slots[at] = Slot {
            hash,
            generation,
            id,
        };
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); slots]);
        for slot in old {
            if slot.generation == self.generation {
                let mut at = slot.hash as usize & (slots - 1);
                while self.slots[at].generation == self.generation {
                    at = (at + 1) & (slots - 1);
                }
                self.fill(at, slot.hash, slot.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_again_until_cleared() {
        let mut table = Table::default();
        for round in 0..3 {
            table.clear();
            for id in 0..1000 {
                assert_eq!(table.find_or_insert(u64::from(id % 7), id, |_| false), id);
            }
            for id in 0..1000 {
                let found = table.find_or_insert(u64::from(id % 7), 9999, |other| other == id);
                assert_eq!(found, id, "round {round}");
            }
        }
    }

    #[test]
    fn generations_wrap_around() {
        let mut table = Table::default();
        table.clear();
        table.find_or_insert(1, 0, |_| true);
        table.generation = u32::MAX;
        table.clear();
        assert_eq!(table.find_or_insert(1, 5, |_| true), 5);
    }
}
