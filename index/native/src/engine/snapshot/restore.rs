//! From the sections of a snapshot to a working index.
//!
//! A snapshot is a copy of memory, and matching trusts its memory: no arena checks its bounds. So
//! every reference is checked once before the first use: positions are inside their arenas and do
//! not overlap; words name attributes, strings, bits and literals that exist; every entry of a
//! program is a posting and every posting an entry; every id is where its slot says. A damaged file
//! has a wrong checksum and does not get this far; this protects from a forged one with a right
//! checksum.

use crate::engine::core::{Core, DEEP, guards_of, target_of};
use crate::engine::expression::formula::literals;
use crate::engine::expression::literal_word;
use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::expression::programs::NO_SLOT;
use crate::engine::expression::truth::{ALWAYS_TRUE, Guard};
use crate::engine::ids::bands::{ALL, BANDS, Band};
use crate::engine::ids::shared_ids::SEVERAL;
use crate::engine::ids::slots::Owner;
use crate::engine::memory::arena::NOWHERE;
use crate::engine::postings::lists::PARTS;
use crate::engine::snapshot::sections::{Malformed, Section, ensure};
use crate::language::Schema;
use smallvec::SmallVec;

impl Core {
    /// The sections of a snapshot, in order.
    pub fn sections(&self) -> Vec<&dyn Section> {
        let mut parts: Vec<&dyn Section> = Vec::new();
        parts.extend(self.long.sections());
        parts.extend(self.programs.sections());
        parts.extend(self.lists.sections());
        parts.extend(self.keys.sections());
        parts.extend(self.slots.sections());
        parts.extend(self.shared_ids.sections());
        parts.push(&self.bands);
        parts.push(&self.selectivity);
        parts.push(&self.pending);
        parts
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> Vec<&mut dyn Section> {
        let mut parts: Vec<&mut dyn Section> = Vec::new();
        parts.extend(self.long.sections_mut());
        parts.extend(self.programs.sections_mut());
        parts.extend(self.lists.sections_mut());
        parts.extend(self.keys.sections_mut());
        parts.extend(self.slots.sections_mut());
        parts.extend(self.shared_ids.sections_mut());
        parts.push(&mut self.bands);
        parts.push(&mut self.selectivity);
        parts.push(&mut self.pending);
        parts
    }

    /// An index to read the sections of a snapshot into.
    pub fn unread(schema: Schema) -> Self {
        let mut core = Core::new(schema);
        core.long = LongLiterals::unread();
        core
    }

    /// Rebuild the index from the sections.
    ///
    /// # Errors
    /// If they do not fit together.
    pub fn rebuild(&mut self) -> Result<(), Malformed> {
        self.lists.rebuild()?;
        self.programs.rebuild()?;
        self.long.rebuild(&self.types)?;
        self.count_uses()?;
        self.keys
            .rebuild(self.types.len(), &mut self.lists, &self.long)?;
        self.slots.rebuild()?;
        self.restore_sharers()?;
        self.restore_postings()?;
        self.restore_slots()?;
        let is_known = |&id: &u64| self.slots.find(id).is_some();
        ensure(
            self.pending.iter().all(is_known),
            "a pending id is not there",
        )
    }

    fn count_uses(&mut self) -> Result<(), Malformed> {
        let mut exist = true;
        for number in self.programs.iter() {
            let program = self.programs.get(number);
            literals(program.kind(), program.code(), |id| {
                exist &= self.long.count(id);
                if exist && id != ALWAYS_TRUE {
                    let attribute = literal_word::attribute_of(self.long.word(id));
                    self.schema.use_fold(attribute);
                }
            });
        }
        ensure(exist, "a program has an unknown literal")?;
        ensure(self.long.are_used(), "a literal is not used")
    }

    /// Check that postings and entries belong to each other, and guards to their programs.
    fn restore_postings(&mut self) -> Result<(), Malformed> {
        let mut postings = 0;
        for list in 0..self.lists.numbers() {
            if self.lists.parts(list) != Some(PARTS) {
                continue;
            }
            ensure(!self.keys.is_keyless(list), "a list of postings has no key")?;
            postings += self.lists.len(list);
        }
        let mut entries = 0;
        let mut guards: SmallVec<[Guard; 16]> = SmallVec::new();
        let mut seen = vec![0u64; self.lists.reach().div_ceil(64)];
        for number in self.programs.iter() {
            let place = self.programs.place(number);
            let program = self.programs.at(place);
            guards.clear();
            guards.push(ALWAYS_TRUE);
            literals(program.kind(), program.code(), |id| {
                guards.extend(self.long.guard(id));
            });
            for (list, position) in program.entries() {
                let is_posting =
                    self.lists.parts(list) == Some(PARTS) && self.lists.has(list, position);
                ensure(is_posting, "an entry is not a posting")?;
                let posting = self.lists.item(list, position);
                let guarded = guards_of(posting).iter().all(|it| guards.contains(it));
                ensure(guarded, "a posting has the guard of another program")?;
                let target = target_of(posting);
                let is_ours = match target & DEEP {
                    0 => target == program.slot(),
                    _ => target ^ DEEP == place,
                };
                let at = self.lists.position(list, position);
                let fresh = seen[at / 64] >> (at % 64) & 1 == 0;
                ensure(is_ours && fresh, "an entry belongs to another program")?;
                seen[at / 64] |= 1 << (at % 64);
                entries += 1;
            }
        }
        ensure(postings == entries, "a posting belongs to no program")
    }

    /// Check that no two programs share ids.
    fn restore_sharers(&mut self) -> Result<(), Malformed> {
        let slots = self.programs.iter().map(|n| self.programs.get(n).slot());
        let handles: Vec<u32> = slots.filter(|slot| slot & SEVERAL != 0).collect();
        let have_ids = handles.iter().all(|&handle| handle != NO_SLOT);
        ensure(have_ids, "a program has no ids")?;
        self.shared_ids.rebuild(handles.into_iter())
    }

    /// Check that every id is one of the ids of its program.
    fn restore_slots(&mut self) -> Result<(), Malformed> {
        let slots = self.slots.pages() as u64 * 64;
        let is_owned = |slot: u64, program: u32, position: u32| {
            slots > slot && self.slots.owner(slot as u32) == (Owner { program, position })
        };
        let mut owned = 0;
        for number in self.programs.iter() {
            let program = self.programs.get(number);
            let slot = program.slot();
            if program.band() != ALL {
                continue;
            }
            if slot & SEVERAL == 0 {
                ensure(
                    is_owned(u64::from(slot), number, 0),
                    "an id belongs to another program",
                )?;
                owned += 1;
                continue;
            }
            let (mut position, mut all_owned) = (0, true);
            self.shared_ids.each(slot, |slot| {
                all_owned &= is_owned(u64::from(slot), number, position);
                position += 1;
            });
            ensure(all_owned, "an id belongs to another program")?;
            owned += position;
        }
        let with_program = self.slots.taken().map(|slot| self.slots.owner(slot));
        let with_program = with_program.filter(|owner| owner.program != NOWHERE);
        ensure(
            with_program.count() == owned as usize,
            "an id is of no program",
        )?;
        self.restore_members()
    }

    /// Find the members of the bands, and check that they are all that there should be.
    fn restore_members(&mut self) -> Result<(), Malformed> {
        let slots = self.slots.pages() as u64 * 64;
        for number in self.programs.iter() {
            let program = self.programs.get(number);
            let (band, held) = (program.band(), program.slot());
            if band == ALL {
                continue;
            }
            let mut members = Vec::new();
            if held & SEVERAL == 0 {
                members.push(held);
            } else {
                self.shared_ids.each(held, |slot| members.push(slot));
            }
            for (position, slot) in (0..).zip(members) {
                let exists = u64::from(slot) < slots && self.slots.is_taken(slot);
                ensure(exists, "a band has an unknown id")?;
                let owner = Owner {
                    program: number,
                    position,
                };
                let rank = self.rank(slot);
                self.bands.restore_member(rank, band, owner)?;
            }
        }
        for slot in self.slots.taken() {
            let rank = self.rank(slot);
            if self.slots.owner(slot).program == NOWHERE {
                self.bands.add(rank);
            }
            let is_complete = Some(rank) > self.bands.behind(BANDS as Band);
            let is_member = self.bands.owner(rank).is_some();
            ensure(is_complete || is_member, "a band lacks an id")?;
        }
        Ok(())
    }
}
