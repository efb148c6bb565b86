//! Programs in a snapshot: their memory and their positions. The table is rebuilt.

use super::{HEADER, NOWHERE, Programs, SHARDS};
use crate::engine::expression::formula::{Kind, is_well_formed};
use crate::engine::snapshot::sections::{Malformed, Section, ensure};

impl Programs {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 2] {
        [&self.arena, &self.places]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 2] {
        [&mut self.arena, &mut self.places]
    }

    /// Rebuild the table, and check that programs are valid and do not overlap.
    ///
    /// # Errors
    /// If it does not.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        let mut claims = self.arena.claims()?;
        for number in (0..self.places.len() as u32).rev() {
            let place = self.place(number);
            if place == NOWHERE {
                self.free.push(number);
                continue;
            }
            ensure(
                place >> 31 == 0 && self.arena.has(place, HEADER),
                "a program is outside its arena",
            )?;
            let program = self.at(place);
            let (entries, code) = (program.entry_count(), program.code_len());
            claims.claim(place, program.room())?;
            let kind = program.header[0] >> super::KIND_SHIFT & 3;
            let band = program.band();
            let sound = program.number() == number
                && kind <= Kind::Graph as u64
                && entries > 0
                && (program.kind() != Kind::Conjunction || program.to_check() <= code);
            ensure(sound, "a program is not valid")?;
            let well_formed = is_well_formed(program.kind(), program.code());
            ensure(well_formed, "the code of a program is not well-formed")?;
            self.counts[band as usize] += 1;
        }
        self.arena.settle(&claims);
        self.fill_table();
        Ok(())
    }

    fn fill_table(&mut self) {
        let mut table = std::mem::take(&mut self.table);
        // Reserve about what a shard will have, so that few of them grow.
        let expected = self.counts.iter().sum::<usize>() / SHARDS;
        for shard in &mut table {
            shard.reserve(expected, |_| 0);
        }
        for number in self.iter() {
            let hash = self.hash_of(number);
            table[hash as usize % SHARDS].insert_unique(hash, number, |&other| self.hash_of(other));
        }
        self.table = table;
    }
}
