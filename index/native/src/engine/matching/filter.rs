//! The filter of a query. It applies when ids are emitted, never during the search.
//!
//! Excluded ids are unmarked one by one. Muted and excluded groups cost a lookup of the group of
//! each marked slot, excluded labels one of its labels, a floor one of its score; a query without
//! them pays for none.

use crate::engine::core::Core;
use crate::engine::ids::groups::Numbers;
use crate::engine::matching::marks::Marks;

/// Which matches a query returns.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only ids whose windows are open at this moment.
    pub at: Option<f64>,
    /// None of these ids. Unknown ids have no effect.
    pub ids: Vec<u64>,
    /// No ids of these groups. Group 0 means no group and has no effect.
    pub groups: Vec<u64>,
    /// No ids with one of these labels, or with one below them. Unknown labels have no effect.
    pub labels: Vec<String>,
    /// Only ids with labels, all of which are among these or below them.
    pub within: Option<Vec<String>>,
    /// Only ids whose bid is at least this.
    pub floor: u64,
}

impl Core {
    /// Pass the marked slots that the filter accepts to `each`, page by page, and clear the marks.
    /// `excluded` is empty before and after.
    #[inline(always)]
    pub(crate) fn sift(
        &self,
        marks: &mut Marks,
        excluded: &mut Numbers,
        filter: &Filter,
        mut each: impl FnMut(u32, u64),
    ) {
        for &id in &filter.ids {
            if let Some(slot) = self.slots.find(id) {
                marks.unmark(slot);
            }
        }
        let has_windows = self.slots.has_windows();
        let open_at = |page: u32, marked: u64| match filter.at {
            Some(at) if has_windows => self.slots.open_at(page, marked, at),
            _ => marked,
        };
        let groups = self.slots.groups();
        let looks_at_groups = !groups.muted_numbers().is_empty() || !filter.groups.is_empty();
        let labels = self
            .slots
            .labels()
            .filter(&filter.labels, filter.within.as_deref());
        if !looks_at_groups && labels.is_none() && filter.floor == 0 {
            marks.drain(|page, marked| each(page, open_at(page, marked)));
            return;
        }
        let numbers = || filter.groups.iter().filter_map(|&group| groups.find(group));
        numbers().for_each(|number| excluded.insert(number));
        marks.drain(|page, marked| {
            let mut open = open_at(page, marked);
            if looks_at_groups {
                open = self.slots.heard(page, open, excluded);
            }
            if let Some(labels) = &labels {
                open = self.slots.labelled(page, open, labels);
            }
            if filter.floor > 0 {
                open = self.slots.bidding(page, open, filter.floor);
            }
            each(page, open);
        });
        numbers().for_each(|number| excluded.remove(number));
    }
}
