//! Groups in a snapshot: by number, and which are muted. Use counts are rebuilt.

use super::{GroupNumber, Groups, Known, SHARDS};
use crate::engine::snapshot::sections::{Item, Malformed, Reader, Section, ensure};
use hashbrown::HashTable;

impl Item for Known {
    fn write(&self, out: &mut Vec<u8>) {
        self.group.write(out);
    }

    fn read(from: &mut Reader) -> Result<Self, Malformed> {
        let group = from.u64()?;
        Ok(Known { group, uses: 0 })
    }
}

impl Groups {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 2] {
        [&self.known, &self.muted]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 2] {
        [&mut self.known, &mut self.muted]
    }

    /// Count one use of a number that was read.
    ///
    /// # Errors
    /// If it belongs to no group.
    pub fn count(&mut self, number: GroupNumber) -> Result<(), Malformed> {
        if number == 0 {
            return Ok(());
        }
        let is_known = (number as usize) < self.known.len();
        ensure(is_known, "an id has an unknown group")?;
        let known = self.known.get_mut(number);
        ensure(known.group != 0, "a group has no id")?;
        known.uses += 1;
        Ok(())
    }

    /// Rebuild the table, after all uses are counted.
    ///
    /// # Errors
    /// If a group is not used, or is there twice.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        if self.known.is_empty() {
            return Ok(());
        }
        self.shards.resize_with(SHARDS, HashTable::new);
        for number in (1..self.known.len() as GroupNumber).rev() {
            let Known { group, uses } = *self.known.get(number);
            if group == 0 {
                self.free.push(number);
                continue;
            }
            let fresh = uses > 0 && self.find(group).is_none();
            ensure(fresh, "a group has no ids, or exists twice")?;
            self.register(group, number);
        }
        Ok(())
    }
}
