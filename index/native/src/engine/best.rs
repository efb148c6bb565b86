//! How entries enter and leave the bands of the best (`ids/bands.rs`).

use crate::engine::core::Core;
use crate::engine::expression::formula::{Formula, Node};
use crate::engine::ids::bands::{Band, Rank, Step, Sweep};
use crate::engine::ids::slots::Slot;
use crate::engine::memory::arena::NOWHERE;

/// The entries that are looked at to find where a border should be.
const SAMPLED: usize = 1024;
/// The pages that a step of a sweep reads at most,
const PAGES: u32 = 64;
/// and the members that it adds.
const ADDED: usize = 4;

impl Core {
    /// The rank of a slot.
    pub(crate) fn rank(&self, slot: Slot) -> Rank {
        Rank::new(self.slots.score(slot), self.slots.id(slot))
    }

    /// Add a slot to the band of its rank, if it has one.
    pub(crate) fn enter_band(&mut self, slot: Slot) {
        let Some(band) = self.bands.add(self.rank(slot)) else {
            return;
        };
        let number = self.slots.owner(slot).program;
        if number == NOWHERE {
            return;
        }
        let program = self.programs.get(number);
        let mut formula = Formula::default();
        formula.read(program.kind(), program.code(), |id| self.long.word(id));
        for node in &formula.nodes {
            if let Node::Literal(_, id) = node {
                self.long.retain(*id);
            }
        }
        let copy = self.program_of(&formula, band);
        self.attach(slot, copy);
    }

    /// Remove a slot from its band, if it is in one. Its rank must not have changed yet.
    pub(crate) fn leave_band(&mut self, slot: Slot) {
        let rank = self.rank(slot);
        if let Some(owner) = self.bands.owner(rank) {
            self.detach(owner);
            self.bands.remove(rank);
        }
    }

    /// One step towards the right sizes of the bands, about as long as inserting an expression.
    /// Returns whether there was something to do.
    pub fn settle(&mut self) -> bool {
        match self.bands.next_step(self.slots.len()) {
            None => return false,
            Some(Step::Shrink(band, rank)) => {
                self.shift(rank, |core| core.bands.shrink(band, rank));
            }
            Some(Step::Extend(band, rank)) => {
                self.shift(rank, |core| core.bands.extend(band, rank));
            }
            Some(Step::Gather(band, members)) => return self.gather(band, members),
            Some(Step::Sweep(sweep)) => self.sweep(sweep),
        }
        true
    }

    /// Move a border across a member.
    fn shift(&mut self, rank: Rank, move_border: impl FnOnce(&mut Core)) {
        let slot = self.slots.find(rank.id());
        if let Some(slot) = slot {
            self.leave_band(slot);
        }
        move_border(self);
        if let Some(slot) = slot {
            self.enter_band(slot);
        }
    }

    /// Start to gather members for a band. Returns whether there may be any.
    fn gather(&mut self, band: Band, members: usize) -> bool {
        let pages = self.slots.pages();
        let each = (self.slots.len() / SAMPLED).clamp(1, 64);
        let mut ranks: Vec<Rank> = Vec::new();
        for page in (0..pages).step_by((pages / SAMPLED).max(1)) {
            let slots: Vec<Slot> = self.slots.taken_in(page as u32).collect();
            let first = page % slots.len().max(1) % each;
            let some = slots.iter().skip(first).step_by(each);
            ranks.extend(some.map(|&slot| self.rank(slot)));
        }
        ranks.sort_unstable();
        let at = members * ranks.len() / self.slots.len().max(1);
        let settled = self.bands.behind(band);
        let from = ranks.partition_point(|&rank| Some(rank) <= settled);
        let border = ranks.get(from.max(at.saturating_sub(1)));
        if let Some(&border) = border {
            self.bands.start_sweep(band, border);
        }
        border.is_some()
    }

    /// Add some members that a sweep finds.
    fn sweep(&mut self, sweep: Sweep) {
        let (mut page, mut added) = (sweep.page, 0);
        let end = (self.slots.pages() as u32).min(page + PAGES);
        while page < end {
            if Rank::new(self.slots.best(page), 0) <= sweep.border {
                for slot in self.slots.taken_in(page).collect::<Vec<_>>() {
                    let rank = self.rank(slot);
                    if rank > sweep.border || self.bands.owner(rank).is_some() {
                        continue;
                    }
                    if added == ADDED {
                        self.bands.go_on(page);
                        return;
                    }
                    self.enter_band(slot);
                    added += 1;
                }
            }
            page += 1;
        }
        self.bands.go_on(page);
        if page as usize >= self.slots.pages() {
            self.bands.end_sweep();
        }
    }
}
