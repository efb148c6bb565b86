//! The matches so far: one bit for each slot, a word for each page. This removes repeats and sorts
//! at once.

use crate::engine::ids::slots::Slot;

/// The slots that a match has marked.
#[derive(Default)]
pub struct Marks {
    words: Vec<u64>,
    summary: Vec<u64>,
    pages: usize,
}

impl Marks {
    /// Make room for this number of pages, all unmarked.
    pub fn reset(&mut self, pages: usize) {
        self.pages = pages;
        if self.words.len() <= pages {
            self.words.resize(pages + 1, 0);
            self.summary.resize((pages + 1).div_ceil(64), 0);
        }
    }

    /// A slot that no id has, to mark instead of a branch.
    pub fn nobody(&self) -> Slot {
        self.pages as u32 * 64
    }

    /// Mark a slot.
    #[inline(always)]
    pub fn mark(&mut self, slot: Slot) {
        let page = (slot / 64) as usize;
        debug_assert!(page < self.words.len());
        // SAFETY: `reset` made room for every page of the index that is being matched.
        unsafe {
            *self.words.get_unchecked_mut(page) |= 1 << (slot & 63);
            *self.summary.get_unchecked_mut(page / 64) |= 1 << (page & 63);
        }
    }

    /// Unmark a slot.
    pub fn unmark(&mut self, slot: Slot) {
        if let Some(word) = self.words.get_mut((slot / 64) as usize) {
            *word &= !(1 << (slot & 63));
        }
    }

    /// Pass the marked words to `each`, page by page, and clear them.
    #[inline(always)]
    pub fn drain(&mut self, mut each: impl FnMut(u32, u64)) {
        for (i, summary) in self.summary.iter_mut().enumerate() {
            let mut pages = std::mem::take(summary);
            while pages != 0 {
                let page = i * 64 + pages.trailing_zeros() as usize;
                pages &= pages - 1;
                let marked = std::mem::take(&mut self.words[page]);
                if page < self.pages {
                    each(page as u32, marked);
                }
            }
        }
    }
}
