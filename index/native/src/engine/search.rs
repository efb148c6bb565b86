//! Matching: from the event to its lists, from postings to ids.
//!
//! The three steps each ask for the memory of what comes a little later: lists, then the programs
//! of candidates and the long literals in them, then the ids of shared expressions.

use std::collections::HashSet;

use super::check;
use super::core::{Core, DEEP};
use super::event::Event;
use super::filter::Filter;
use super::formula::{Kind, is_true};
use super::groups::Numbers;
use super::lists::ListId;
use super::lists::NARROW;
use super::marks::Marks;
use super::scan::{Found, Half, POSTING};
use super::sharers::{Handle, SEVERAL};

/// How many candidates are on their way from memory while one is evaluated.
const AHEAD: usize = 12;

/// A program of more words than this is evaluated once an event, however many of its postings hold:
/// one of thousands of words with thousands of entries would otherwise take their product.
const LARGE: usize = 64;

/// What a match needs beside the index, kept from one event to the next.
#[derive(Default)]
pub struct Scratch {
    pub event: Event,
    lists: Vec<ListId>,
    found: Found,
    candidates: Vec<u64>,
    shared: Vec<Handle>,
    truth: Vec<bool>,
    /// Large programs that were evaluated for this event, by their places.
    judged: HashSet<u32>,
    marks: Marks,
    excluded: Numbers,
    /// The pages that have matches, and which of their slots.
    pages: Vec<(u32, u64)>,
    /// Postings that the last match looked at, and programs that it evaluated.
    pub touched: u64,
    pub evaluated: u64,
}

#[inline(always)]
fn place_of(candidate: u64) -> u32 {
    candidate as u32 & !(DEEP as u32)
}

/// Append the ids of a page's bits. Four are written whether there are as many or not, since the
/// end of a loop over one or two bits is mispredicted at every other page.
#[inline(always)]
fn write_ids(base: u64, mut bits: u64, out: &mut Vec<u64>) {
    let (len, count) = (out.len(), bits.count_ones() as usize);
    out.reserve(64);
    // SAFETY: there is room for 64 more, no more than that are written, and the first `count` of
    // them are made part of the vector.
    unsafe {
        let mut next = out.as_mut_ptr().add(len);
        loop {
            for _ in 0..4 {
                next.write(base | u64::from(bits.trailing_zeros()));
                next = next.add(1);
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        out.set_len(len + count);
    }
}

impl Core {
    /// Mark the slots whose expressions the event in the scratch makes true.
    fn find(&self, scratch: &mut Scratch) {
        if self.tuning.prefetch {
            self.find_all::<true>(scratch);
        } else {
            self.find_all::<false>(scratch);
        }
    }

    /// The same, asking for memory ahead or not.
    fn find_all<const AHEAD_OF_TIME: bool>(&self, scratch: &mut Scratch) {
        let Scratch {
            event,
            lists,
            found,
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
        found.clear();
        *touched = 0;
        self.long.bits().mark(event, &self.types);
        self.keys
            .gather::<AHEAD_OF_TIME>(event, &self.types, &self.lists, &self.long, lists);
        for (i, &list) in lists.iter().enumerate() {
            if AHEAD_OF_TIME {
                self.fetch_lists(lists, i, 4);
            }
            self.lists.blocks::<0>(list, |block| {
                *touched += (block.len() / POSTING) as u64;
                found.scan(block, event, &self.long, self.wide);
            });
            self.lists.blocks::<1>(list, |block| {
                *touched += (block.len() / NARROW) as u64;
                found.scan_narrow(block, event, &self.long, self.wide);
            });
        }
        found.look_at_aside(event, &self.long);
        let Found {
            halves, targets, ..
        } = found;
        self.check_halves(halves, event, targets);
        self.sort_out(targets, marks, candidates, shared);
        *evaluated = candidates.len() as u64;
        judged.clear();
        for (i, &candidate) in candidates.iter().enumerate() {
            if AHEAD_OF_TIME {
                self.fetch_ahead(candidates, i);
            }
            let program = self.programs.at(place_of(candidate));
            if program.code().len() > LARGE && !judged.insert(place_of(candidate)) {
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
            let slot = (candidate >> 32) as u32;
            if slot & SEVERAL != 0 {
                shared.push(slot);
            } else {
                marks.mark(slot);
            }
        }
        for (i, &handle) in shared.iter().enumerate() {
            if AHEAD_OF_TIME && let Some(&ahead) = shared.get(i + AHEAD) {
                self.sharers.prefetch(ahead);
            }
            self.sharers.each(handle, |slot| marks.mark(slot));
        }
    }

    /// Check the second guards, and append the targets of the postings that hold.
    #[inline(always)]
    fn check_halves(&self, halves: &[Half], event: &Event, targets: &mut Vec<u64>) {
        let mut kept = targets.len();
        targets.resize(kept + halves.len(), 0);
        for &(guard, target) in halves {
            targets[kept] = target;
            kept += usize::from(check::holds(guard, event, &self.long));
        }
        targets.truncate(kept);
    }

    /// Of the postings that hold, mark what is decided and has one id, and put the handles of
    /// several ids, and what must still be evaluated, where they belong. Without a branch, as in
    /// `scan.rs`.
    #[inline(always)]
    fn sort_out(
        &self,
        targets: &[u64],
        marks: &mut Marks,
        candidates: &mut Vec<u64>,
        shared: &mut Vec<Handle>,
    ) {
        candidates.clear();
        candidates.resize(targets.len() + 1, 0);
        shared.clear();
        shared.resize(targets.len() + 1, 0);
        let (mut deep_ones, mut several_ones) = (0, 0);
        let nobody = marks.nobody();
        for &target in targets {
            let slot = (target >> 32) as u32;
            let deep = target & DEEP != 0;
            let several = slot & SEVERAL != 0;
            candidates[deep_ones] = target;
            deep_ones += usize::from(deep);
            shared[several_ones] = slot;
            several_ones += usize::from(several & !deep);
            marks.mark(if deep | several { nobody } else { slot });
        }
        candidates.truncate(deep_ones);
        shared.truncate(several_ones);
    }

    /// Bring the next lists on their way: first their parts, then, when those have come, what is
    /// in them.
    #[inline(always)]
    fn fetch_lists(&self, lists: &[ListId], i: usize, ahead: usize) {
        if let Some(&far) = lists.get(i + 2 * ahead) {
            self.lists.prefetch_parts(far);
        }
        if let Some(&near) = lists.get(i + ahead) {
            self.lists.prefetch(near);
        }
    }

    /// Bring what the next candidates need on its way: first their programs, then, when those
    /// have come, the long literals in them.
    #[inline(always)]
    fn fetch_ahead(&self, candidates: &[u64], i: usize) {
        if let Some(&far) = candidates.get(i + 2 * AHEAD) {
            self.programs.prefetch(place_of(far));
        }
        if let Some(&near) = candidates.get(i + AHEAD) {
            let program = self.programs.at(place_of(near));
            let code = program.code();
            let open = match program.kind() {
                Kind::Conjunction => program.to_check(),
                Kind::Tree => code.len(),
                Kind::Graph => 0, // its words are not all literals and gates
            };
            for &word in code[..open].iter().take(4) {
                if word & 15 == check::LITERAL {
                    self.long.prefetch(check::payload_of(word) as u32);
                }
            }
        }
    }

    /// The ids that the event in the scratch matches and that pass the filter, ascending, into
    /// `out`.
    pub fn matches(&self, scratch: &mut Scratch, filter: &Filter, out: &mut Vec<u64>) {
        self.find(scratch);
        #[cfg(target_arch = "x86_64")]
        if self.wide {
            // SAFETY: `wide` says that the processor has the instructions.
            return unsafe { self.collect_counting(scratch, filter, out) };
        }
        self.collect(scratch, filter, out);
    }

    /// As `collect`, by a processor that counts bits and finds the lowest.
    ///
    /// # Safety
    /// It is one.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,popcnt")]
    unsafe fn collect_counting(&self, scratch: &mut Scratch, filter: &Filter, out: &mut Vec<u64>) {
        self.collect(scratch, filter, out);
    }

    #[inline(always)]
    fn collect(&self, scratch: &mut Scratch, filter: &Filter, out: &mut Vec<u64>) {
        out.clear();
        let Scratch {
            marks, excluded, ..
        } = scratch;
        self.sift(marks, excluded, filter, |page, open| {
            write_ids(self.slots.base(page), open, out);
        });
        if self.slots.unordered() {
            out.sort_unstable();
        }
    }

    /// The best `limit` matches that pass the filter by score, lower ids first among equals, into
    /// `out`; and how many pass in all.
    pub fn top(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> usize {
        self.find(scratch);
        #[cfg(target_arch = "x86_64")]
        if self.wide {
            // SAFETY: `wide` says that the processor has the instructions.
            return unsafe { self.choose_counting(scratch, filter, limit, out) };
        }
        self.choose(scratch, filter, limit, out)
    }

    /// As `choose`, by a processor that counts bits and finds the lowest.
    ///
    /// # Safety
    /// It is one.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,popcnt")]
    unsafe fn choose_counting(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> usize {
        self.choose(scratch, filter, limit, out)
    }

    #[inline(always)]
    fn choose(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> usize {
        out.clear();
        let Scratch {
            marks,
            excluded,
            pages,
            ..
        } = scratch;
        let mut total = 0;
        pages.clear();
        self.sift(marks, excluded, filter, |page, open| {
            total += open.count_ones() as usize;
            pages.push((page, open));
        });
        let better = |a: &(i64, u64), b: &(i64, u64)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        let most = limit.saturating_mul(2).max(16);
        // What is worse than the `limit` best so far is not looked at: of thousands of matches
        // few scores are read, and those come from all over memory. Where ids come in order, an
        // equal score is worse, too.
        let ties = i64::from(self.slots.unordered());
        let mut bar = if limit == 0 { i64::MAX } else { i64::MIN };
        for (i, &(page, mut open)) in pages.iter().enumerate() {
            if let Some(&(ahead, open)) = pages.get(i + AHEAD)
                && self.slots.best(ahead) >= bar
            {
                self.slots
                    .prefetch_score(ahead * 64 + (open.trailing_zeros() & 63));
            }
            if self.slots.best(page) < bar {
                continue;
            }
            while open != 0 {
                let slot = page * 64 + open.trailing_zeros();
                open &= open - 1;
                let score = self.slots.score(slot);
                if score >= bar {
                    out.push((score, self.slots.id(slot)));
                }
            }
            if limit > 0 && out.len() > most {
                out.select_nth_unstable_by(limit - 1, better);
                out.truncate(limit);
                bar = out[limit - 1].0.saturating_add(1 - ties);
            }
        }
        if limit < out.len() {
            if limit > 0 {
                out.select_nth_unstable_by(limit - 1, better);
            }
            out.truncate(limit);
        }
        out.sort_unstable_by(better);
        total
    }
}
