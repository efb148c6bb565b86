//! From marked slots to ids: all of them in order, or the best ones and their number.

use crate::engine::core::Core;
use crate::engine::matching::filter::Filter;
use crate::engine::matching::search::{AHEAD, Scratch};

/// Append the ids of a page's bits, always four at a time: the CPU mispredicts the end of a loop
/// over one or two bits at every other page.
#[inline(always)]
fn write_ids(base: u64, mut bits: u64, out: &mut Vec<u64>) {
    let (len, count) = (out.len(), bits.count_ones() as usize);
    out.reserve(64);
    // SAFETY: there is room for 64 more, at most 64 are written, and the first `count` of them
    // become part of the vector.
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

/// Whether the CPU has instructions to count bits and to find the lowest one.
pub fn can_count_bits() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Core {
    /// The ids that the event in the scratch matches and that pass the filter, ascending, into
    /// `out`.
    pub fn matches(&self, scratch: &mut Scratch, filter: &Filter, out: &mut Vec<u64>) {
        self.find(scratch);
        #[cfg(target_arch = "x86_64")]
        if self.counts_bits {
            // SAFETY: `counts_bits` says that the CPU has the instructions.
            return unsafe { self.collect_counting(scratch, filter, out) };
        }
        self.collect(scratch, filter, out);
    }

    /// `collect` with the CPU's instructions to count bits and to find the lowest one.
    ///
    /// # Safety
    /// The CPU must have them.
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

    /// Add the marked slots that pass the filter to the best `limit` in `out`, by score, lower ids
    /// first among equals. Returns how many pass.
    pub(crate) fn rank_marked(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.counts_bits {
            // SAFETY: `counts_bits` says that the CPU has the instructions.
            return unsafe { self.choose_counting(scratch, filter, limit, out) };
        }
        self.choose(scratch, filter, limit, out)
    }

    /// `choose` with the CPU's instructions to count bits and to find the lowest one.
    ///
    /// # Safety
    /// The CPU must have them.
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
        // Skip what is worse than the `limit` best so far: scores are scattered over memory, and
        // this reads only a few of thousands. Where ids come in order, an equal score is worse too.
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
