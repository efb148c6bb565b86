//! The invariants, checked from scratch. Slow, for tests.

use crate::engine::core::{Core, DEEP, guards_of, target_of};
use crate::engine::expression::formula::{Formula, literals};
use crate::engine::expression::literal_ids::LiteralId;
use crate::engine::expression::literal_word;
use crate::engine::expression::long_literals::Test;
use crate::engine::expression::programs::ProgramId;
use crate::engine::expression::truth::{ALWAYS_TRUE, Guard};
use crate::engine::ids::bands::{ALL, BANDS, Band};
use crate::engine::ids::digest;
use crate::engine::ids::shared_ids::SEVERAL;
use crate::engine::ids::slots::{Owner, Slot};
use crate::engine::memory::arena::NOWHERE;
use crate::engine::planning::selectivity::point_of;
use crate::engine::postings::keys::Key;
use crate::language::Type;
use rustc_hash::{FxHashMap, FxHashSet};

impl Core {
    /// Check all invariants.
    ///
    /// # Errors
    /// With the first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.check_programs()?;
        self.check_postings()?;
        self.check_slots()?;
        self.check_bands()?;
        self.check_origins()?;
        self.check_uses()
    }

    fn check_programs(&self) -> Result<(), String> {
        let mut seen = FxHashSet::default();
        let mut formula = Formula::default();
        for number in self.programs.iter() {
            let program = self.programs.get(number);
            if program.number() != number {
                return Err(format!(
                    "program {number} thinks it is {}",
                    program.number()
                ));
            }
            if self.slot_count(program) == 0 {
                return Err(format!("program {number} has no ids"));
            }
            if program.entry_count() == 0 {
                return Err(format!("program {number} has no entries"));
            }
            formula.read(program.kind(), program.code(), |id| self.long.word(id));
            let hash = formula.hash();
            if self
                .programs
                .find(&formula, program.kind(), program.band(), hash)
                != Some(number)
            {
                return Err(format!("program {number} is not found by its structure"));
            }
            if !seen.insert((
                program.band(),
                program.kind() as u8,
                formula.canonical(program.kind()),
            )) {
                return Err(format!("program {number} exists twice"));
            }
        }
        Ok(())
    }

    fn check_postings(&self) -> Result<(), String> {
        let mut postings = 0;
        for number in self.programs.iter() {
            let place = self.programs.place(number);
            for (list, position) in self.programs.get(number).entries() {
                postings += 1;
                if !self.lists.has(list, position) {
                    return Err(format!("program {number} has an entry behind a list's end"));
                }
                let target = target_of(self.lists.item(list, position));
                if ![DEEP | place, self.programs.get(number).slot()].contains(&target) {
                    return Err(format!("program {number} has an entry of another program"));
                }
            }
        }
        let mut under_keys = 0;
        for list in self.keys.lists() {
            if self.lists.len(list) == 0 {
                return Err(format!("the list of {:?} is empty", self.keys.key_of(list)));
            }
            if !matches!(self.keys.key_of(list), Key::Link(..)) {
                under_keys += self.lists.len(list);
            }
        }
        if under_keys != postings {
            return Err(format!("{under_keys} postings, but {postings} entries"));
        }
        let lists = self.keys.lists().map(|list| self.keys.key_of(list));
        let pairs = lists.filter(|key| matches!(key, Key::Pair(..))).count();
        if pairs != self.keys.pair_keys() {
            return Err(format!(
                "{pairs} keys are pairs, not {}",
                self.keys.pair_keys()
            ));
        }
        Ok(())
    }

    fn check_slots(&self) -> Result<(), String> {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        let mut taken = 0;
        for slot in self.slots.taken() {
            taken += 1;
            let owner = self.slots.owner(slot);
            if self.slots.find(self.slots.id(slot)) != Some(slot) {
                return Err(format!("slot {slot} is not found by its id"));
            }
            if owner.program == NOWHERE {
                continue;
            }
            *counts.entry(owner.program).or_insert(0) += 1;
            self.check_owner(slot, owner, ALL)?;
        }
        if taken != self.slots.len() {
            return Err(format!("{taken} slots are taken, not {}", self.slots.len()));
        }
        self.check_counts(&counts, |band| band == ALL)
    }

    /// Check that a slot is where its owner says.
    fn check_owner(&self, slot: Slot, owner: Owner, band: Band) -> Result<(), String> {
        let program = self.programs.get(owner.program);
        let listed = if program.slot() & SEVERAL == 0 {
            program.slot()
        } else {
            self.shared_ids.get(program.slot(), owner.position)
        };
        if listed != slot || program.band() != band {
            return Err(format!("slot {slot} is not at its position in band {band}"));
        }
        Ok(())
    }

    fn check_counts(
        &self,
        counts: &FxHashMap<u32, u32>,
        of: impl Fn(Band) -> bool,
    ) -> Result<(), String> {
        for number in self.programs.iter() {
            let program = self.programs.get(number);
            let count = self.slot_count(program);
            if of(program.band()) && counts.get(&number) != Some(&count) {
                return Err(format!("program {number} does not have {count} slots"));
            }
        }
        Ok(())
    }

    /// Check that the bands have all entries up to their borders, and no others.
    fn check_bands(&self) -> Result<(), String> {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        let mut members = [0; BANDS + 1];
        for (rank, owner) in self.bands.iter() {
            let slot = self.slots.find(rank.id());
            let Some(slot) = slot.filter(|&slot| self.rank(slot) == rank) else {
                return Err(format!("{rank:?} is in a band and not in the index"));
            };
            let Some(band) = self.bands.band_of(rank) else {
                return Err(format!("{rank:?} is a member behind the last border"));
            };
            members[band as usize] += 1;
            if (owner.program == NOWHERE) != (self.slots.owner(slot).program == NOWHERE) {
                return Err(format!("{rank:?} has a program in one place only"));
            }
            if owner.program != NOWHERE {
                *counts.entry(owner.program).or_insert(0) += 1;
                self.check_owner(slot, owner, band)?;
            }
        }
        self.check_counts(&counts, |band| band != ALL)?;
        for band in 1..=BANDS as Band {
            if self.bands.count(band) != members[band as usize] {
                return Err(format!(
                    "band {band} does not have as many members as it says"
                ));
            }
            if self.bands.border(band).is_some()
                && self.bands.border(band) < self.bands.behind(band)
            {
                return Err(format!("the border of band {band} is before another one"));
            }
        }
        for slot in self.slots.taken() {
            let rank = self.rank(slot);
            let settled = Some(rank) <= self.bands.behind(BANDS as Band);
            if settled && self.bands.owner(rank).is_none() {
                return Err(format!("{rank:?} is not in its band"));
            }
        }
        Ok(())
    }

    fn check_origins(&self) -> Result<(), String> {
        let mut uses: FxHashMap<u32, u32> = FxHashMap::default();
        let mut labels: FxHashMap<u32, u32> = FxHashMap::default();
        let mut sum = 0u64;
        for slot in self.slots.taken() {
            let properties = self.slots.properties(slot);
            sum = sum.wrapping_add(digest::term(self.slots.id(slot), properties.version));
            *uses.entry(self.slots.group_number(slot)).or_insert(0) += 1;
            *labels.entry(self.slots.label_set(slot)).or_insert(0) += 1;
        }
        if sum != self.slots.digest() {
            return Err(format!(
                "the digest is {:x}, not {sum:x}",
                self.slots.digest()
            ));
        }
        self.slots
            .groups()
            .check_invariants(|number| uses.get(&number).copied().unwrap_or(0))?;
        self.slots.labels().check_invariants(&labels)?;
        self.slots.check_free()
    }

    /// Check that each posting is guarded by literals of its program.
    fn check_guards(&self, number: ProgramId) -> Result<(), String> {
        let program = self.programs.get(number);
        let mut guards: FxHashSet<Guard> = FxHashSet::default();
        guards.insert(ALWAYS_TRUE);
        literals(program.kind(), program.code(), |id| {
            guards.extend(self.long.guard(id));
        });
        for (list, position) in program.entries() {
            let posting = guards_of(self.lists.item(list, position));
            if !posting.iter().all(|guard| guards.contains(guard)) {
                return Err(format!("program {number} has the guard of another one"));
            }
        }
        Ok(())
    }

    fn check_uses(&self) -> Result<(), String> {
        let mut uses: FxHashMap<LiteralId, u32> = FxHashMap::default();
        for number in self.programs.iter() {
            let program = self.programs.get(number);
            literals(program.kind(), program.code(), |id| {
                *uses.entry(id).or_insert(0) += 1;
            });
            self.check_guards(number)?;
        }
        self.long.check_numbers(&self.types, &uses)?;
        let mut strings: FxHashMap<u32, u32> = FxHashMap::default();
        let mut long: FxHashSet<u32> = FxHashSet::default();
        for &id in uses.keys().filter(|&&id| id != ALWAYS_TRUE) {
            let word = self.long.word(id);
            let kind = self.types[literal_word::attribute_of(word) as usize];
            match literal_word::op_of(word) {
                literal_word::EQ | literal_word::NE if kind == Type::Str => {
                    *strings.entry(point_of(word, kind) as u32).or_insert(0) += 1;
                }
                literal_word::LITERAL => {
                    long.insert(literal_word::number_of(word));
                }
                _ => {}
            }
        }
        for &number in &long {
            let literal = self.long.get(number);
            match literal.test {
                Test::Prefix(string) | Test::Suffix(string) => {
                    *strings.entry(string).or_insert(0) += 1;
                }
                Test::Among(values) | Test::AnyOf(values) | Test::AllOf(values)
                    if literal.texts =>
                {
                    for &value in values {
                        *strings.entry(value as u32).or_insert(0) += 1;
                    }
                }
                _ => {}
            }
        }
        if long.len() != self.long.len() {
            return Err(format!(
                "{} long literals, {} used",
                self.long.len(),
                long.len()
            ));
        }
        let counted = self.long.strings();
        if strings.len() != counted.len() {
            return Err(format!("{} strings, {} used", counted.len(), strings.len()));
        }
        if let Some((&number, &uses)) = strings.iter().find(|&(&n, &u)| counted.uses(n) != u) {
            return Err(format!("string {number} does not have {uses} uses"));
        }
        Ok(())
    }
}
