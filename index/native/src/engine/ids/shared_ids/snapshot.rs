//! Shared expressions in a snapshot. The programs hold the handles.

use super::{MANY, MOST_FEW, NUMBER, SEVERAL, SharedIds, words_for};
use crate::engine::memory::arena::Claims;
use crate::engine::snapshot::sections::{Malformed, Section, ensure};

impl SharedIds {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 4] {
        let [items, headers, long] = self.many.sections();
        [&self.few, items, headers, long]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 4] {
        let [items, headers, long] = self.many.sections_mut();
        [&mut self.few, items, headers, long]
    }

    /// Check that no two handles share memory.
    ///
    /// # Errors
    /// If they do, or if one is invalid.
    pub fn rebuild(&mut self, handles: impl Iterator<Item = u32>) -> Result<(), Malformed> {
        self.many.rebuild()?;
        let mut claims = self.few.claims()?;
        let mut unclaimed = vec![true; self.many.numbers() as usize];
        let mut lists = 0;
        for handle in handles {
            ensure(handle & SEVERAL != 0, "a handle of several ids has one")?;
            if handle & MANY == 0 {
                self.claim_few(handle & NUMBER, &mut claims)?;
                continue;
            }
            let list = handle & NUMBER;
            let known = self.many.parts(list) == Some(1) && self.many.len(list) > 1;
            let fresh = known && std::mem::take(&mut unclaimed[list as usize]);
            ensure(fresh, "shared ids belong to no program, or to two")?;
            lists += 1;
        }
        ensure(lists == self.many.count(), "ids belong to no program")?;
        self.few.settle(&claims);
        Ok(())
    }

    fn claim_few(&self, place: u32, claims: &mut Claims) -> Result<(), Malformed> {
        ensure(self.few.has(place, 1), "ids are outside their arena")?;
        let (len, room) = self.head(place);
        let sound = len > 1 && len <= room && room <= MOST_FEW;
        ensure(sound, "the numbers of ids and slots differ")?;
        claims.claim(place, words_for(room))
    }
}
