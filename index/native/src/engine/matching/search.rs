//! Matching: from the event to its lists, from postings to marked slots.
//!
//! Each of the three steps prefetches what it needs a little later: lists, then the programs of
//! candidates and their long literals, then the ids of shared expressions.

use std::collections::HashSet;

use crate::engine::core::{Core, DEEP, Target};
use crate::engine::expression::formula::{Kind, is_true};
use crate::engine::ids::bands::{ALL, Band};
use crate::engine::ids::groups::Numbers;
use crate::engine::ids::shared_ids::{Handle, SEVERAL};
use crate::engine::matching::event::Event;
use crate::engine::matching::json::Buffer;
use crate::engine::matching::marks::Marks;
use crate::engine::matching::names::Names;
use crate::engine::matching::scan::{POSTING, scan};
use crate::engine::memory::arena::Ref;
use crate::engine::postings::lists::ListId;

/// How many candidates ahead are prefetched.
pub(crate) const AHEAD: usize = 12;

/// How many lists ahead are prefetched.
const LISTS_AHEAD: usize = 4;

/// A program of more words is evaluated once for an event, however many of its postings hold.
/// Otherwise a program with thousands of words and thousands of entries would cost their product.
const LARGE: usize = 64;

/// The buffers of a match, reused from one event to the next.
#[derive(Default)]
pub struct Scratch {
    pub event: Event,
    pub json: Buffer,
    pub names: Names,
    lists: Vec<ListId>,
    targets: Vec<Target>,
    /// The positions of the programs to be evaluated.
    candidates: Vec<Ref>,
    shared: Vec<Handle>,
    truth: Vec<bool>,
    /// The large programs that were evaluated for this event, by position.
    judged: HashSet<u32>,
    pub(crate) marks: Marks,
    pub(crate) excluded: Numbers,
    /// The pages with matches, and their marked slots.
    pub(crate) pages: Vec<(u32, u64)>,
    /// The postings that were read for this event, and the programs that were evaluated.
    pub touched: u64,
    pub evaluated: u64,
}

impl Core {
    /// Mark all slots whose expressions the event in the scratch makes true.
    pub(crate) fn find(&self, scratch: &mut Scratch) {
        self.long
            .truth()
            .fill(&mut scratch.event, &self.types, false);
        self.find_in(ALL, scratch);
    }

    /// Mark the slots of a band whose expressions the event in the scratch makes true.
    pub(crate) fn find_in(&self, band: Band, scratch: &mut Scratch) {
        if self.tuning.prefetch {
            self.find_all::<true>(band, scratch);
        } else {
            self.find_all::<false>(band, scratch);
        }
    }

    /// The same, with prefetching or without.
    fn find_all<const AHEAD_OF_TIME: bool>(&self, band: Band, scratch: &mut Scratch) {
        let Scratch {
            event,
            lists,
            targets,
            candidates,
            truth,
            judged,
            shared,
            marks,
            touched,
            evaluated,
            ..
        } = scratch;
        marks.reset(self.slots.pages());
        lists.clear();
        targets.clear();
        let (types, long) = (&self.types, &self.long);
        self.keys
            .gather::<AHEAD_OF_TIME>(band, event, types, &self.lists, long, lists);
        for (i, &list) in lists.iter().enumerate() {
            if AHEAD_OF_TIME {
                self.fetch_lists(lists, i);
            }
            self.lists.blocks::<1>(list, |block| {
                *touched += (block.len() / POSTING) as u64;
                scan(block, event, targets);
            });
            self.lists.blocks::<0>(list, |block| {
                *touched += block.len() as u64;
                targets.extend_from_slice(block);
            });
        }
        self.sort_out(targets, marks, candidates, shared);
        *evaluated += candidates.len() as u64;
        judged.clear();
        for (i, &candidate) in candidates.iter().enumerate() {
            if AHEAD_OF_TIME {
                self.fetch_ahead(candidates, i);
            }
            let program = self.programs.at(candidate);
            if program.code().len() > LARGE && !judged.insert(candidate) {
                *evaluated -= 1;
                continue;
            }
            if !is_true(
                program.kind(),
                program.code(),
                program.to_check(),
                event,
                &self.long,
                truth,
            ) {
                continue;
            }
            let slot = program.slot();
            if slot & SEVERAL != 0 {
                shared.push(slot);
            } else {
                marks.mark(slot);
            }
        }
        for (i, &handle) in shared.iter().enumerate() {
            if AHEAD_OF_TIME && let Some(&ahead) = shared.get(i + AHEAD) {
                self.shared_ids.prefetch(ahead);
            }
            self.shared_ids.each(handle, |slot| marks.mark(slot));
        }
    }

    /// Sort the targets of the postings that hold: mark decided ones with one id, and collect the
    /// handles of several ids and the candidates. Without a branch, as in `scan.rs`.
    #[inline(always)]
    fn sort_out(
        &self,
        targets: &[Target],
        marks: &mut Marks,
        candidates: &mut Vec<Ref>,
        shared: &mut Vec<Handle>,
    ) {
        candidates.clear();
        candidates.resize(targets.len() + 1, 0);
        shared.clear();
        shared.resize(targets.len() + 1, 0);
        let (mut deep_ones, mut several_ones) = (0, 0);
        let nobody = marks.nobody();
        for &target in targets {
            let deep = target & DEEP != 0;
            let several = target & (DEEP | SEVERAL) == SEVERAL;
            candidates[deep_ones] = target ^ DEEP;
            deep_ones += usize::from(deep);
            shared[several_ones] = target;
            several_ones += usize::from(several);
            marks.mark(if deep | several { nobody } else { target });
        }
        candidates.truncate(deep_ones);
        shared.truncate(several_ones);
    }

    /// Prefetch the next lists: first their parts, and when those are in the cache, their items.
    #[inline(always)]
    fn fetch_lists(&self, lists: &[ListId], i: usize) {
        if let Some(&far) = lists.get(i + 2 * LISTS_AHEAD) {
            self.lists.prefetch_parts(far);
        }
        if let Some(&near) = lists.get(i + LISTS_AHEAD) {
            self.lists.prefetch(near);
        }
    }

    /// Prefetch what the next candidates need: first their programs, and when those are in the
    /// cache, their open literals.
    #[inline(always)]
    fn fetch_ahead(&self, candidates: &[Ref], i: usize) {
        if let Some(&far) = candidates.get(i + 2 * AHEAD) {
            self.programs.prefetch(far);
        }
        if let Some(&near) = candidates.get(i + AHEAD) {
            let program = self.programs.at(near);
            if program.kind() == Kind::Conjunction {
                for &id in program.code()[..program.to_check()].iter().take(4) {
                    self.long.prefetch(id);
                }
            }
        }
    }
}
