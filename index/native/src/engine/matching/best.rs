//! The best matches: band after band, until enough of them are certain (`ids/bands.rs`).

use crate::engine::core::Core;
use crate::engine::ids::bands::{BANDS, Band, Rank};
use crate::engine::matching::filter::Filter;
use crate::engine::matching::search::Scratch;

impl Core {
    /// The best `limit` matches that pass the filter, by score, lower ids first among equals, into
    /// `out`. Returns how many pass in total.
    pub fn top(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> usize {
        out.clear();
        self.find(scratch);
        self.rank_marked(scratch, filter, limit, out)
    }

    /// The same without the total. The time depends on the limit and on how many entries match, and
    /// hardly on how many there are.
    pub fn best(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) {
        out.clear();
        if limit > 0 && !self.best_in_bands(scratch, filter, limit, out) {
            self.top(scratch, filter, limit, out);
        }
    }

    /// The best matches from the bands. Returns whether they are certain.
    fn best_in_bands(
        &self,
        scratch: &mut Scratch,
        filter: &Filter,
        limit: usize,
        out: &mut Vec<(i64, u64)>,
    ) -> bool {
        self.long
            .truth()
            .fill(&mut scratch.event, &self.types, true);
        let (mut searched, mut passed) = (0, 0);
        for band in 1..=BANDS as Band {
            let members = self.bands.count(band);
            if members > 0 {
                self.find_in(band, scratch);
                passed += self.rank_marked(scratch, filter, limit, out);
                searched += members;
            }
            let last = out.get(limit - 1).map(|&(score, id)| Rank::new(score, id));
            if last.is_some_and(|last| Some(last) <= self.bands.border(band)) {
                return true;
            }
            // Do not search the other bands where they will hardly have enough.
            if (passed + 1) * self.bands.len() < limit.saturating_mul(searched) {
                return false;
            }
        }
        false
    }
}
