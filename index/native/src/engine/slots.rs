//! Ids as slots: small numbers, in pages of 64 neighbouring ids.
//!
//! ```text
//!   id 1 000 005 ──▶ page of ids 999 936 … 999 999+64 ──▶ slot = page * 64 + 5
//!   matched      one bit a slot, so a page is a word: marking an id twice marks it once, and
//!                reading the words in the order of the pages gives the ids in order
//! ```
//!
//! Beside each slot stand its program, its place among the program's ids, and its score; windows,
//! which few have, in a map.

use super::arena::{NOWHERE, Ref};
use super::chunked::Chunked;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// The number of an id in this index.
pub type Slot = u32;

const SHARDS: usize = 64;

#[derive(Clone, Copy)]
struct Page {
    base: u64,
    taken: u64,
    windowed: u64,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            base: u64::MAX,
            taken: 0,
            windowed: 0,
        }
    }
}

/// What belongs to an id.
#[derive(Clone, Copy)]
pub struct Owner {
    /// Its program; `NOWHERE` for an expression that is never true.
    pub program: Ref,
    /// Its place among the ids of the program.
    pub place: u32,
}

impl Default for Owner {
    fn default() -> Self {
        Owner {
            program: NOWHERE,
            place: 0,
        }
    }
}

/// All ids.
#[derive(Default)]
pub struct Slots {
    shards: Vec<HashTable<u32>>,
    pages: Chunked<Page>,
    free: Vec<u32>,
    owners: Chunked<Owner>,
    scores: Chunked<i64>,
    windows: FxHashMap<Slot, (f64, f64)>,
    len: usize,
    unordered: bool,
}

fn hash(base: u64) -> u64 {
    FxBuildHasher.hash_one(base)
}

impl Slots {
    /// No ids.
    pub fn new() -> Self {
        Slots {
            shards: (0..SHARDS).map(|_| HashTable::new()).collect(),
            ..Default::default()
        }
    }

    fn page_of(&self, base: u64) -> Option<u32> {
        let hash = hash(base);
        let pages = &self.pages;
        self.shards[(hash >> 50) as usize % SHARDS]
            .find(hash, |&page| pages.get(page).base == base)
            .copied()
    }

    /// The slot of an id that is there.
    pub fn find(&self, id: u64) -> Option<Slot> {
        let page = self.page_of(id >> 6)?;
        let bit = (id & 63) as u32;
        (self.pages.get(page).taken >> bit & 1 == 1).then_some(page * 64 + bit)
    }

    /// The slot for an id, taken if it was free; and whether it was.
    pub fn take(&mut self, id: u64) -> (Slot, bool) {
        let base = id >> 6;
        let page = self.page_of(base).unwrap_or_else(|| self.new_page(base));
        let bit = (id & 63) as u32;
        let taken = &mut self.pages.get_mut(page).taken;
        let fresh = *taken >> bit & 1 == 0;
        *taken |= 1 << bit;
        self.len += usize::from(fresh);
        (page * 64 + bit, fresh)
    }

    fn new_page(&mut self, base: u64) -> u32 {
        let page = self.free.pop().unwrap_or_else(|| {
            let page = self.pages.len() as u32;
            assert!(page < 1 << 25, "an index has at most two billion slots");
            self.pages.push(Page::default());
            self.owners.grow_to((page as usize + 1) * 64);
            page
        });
        self.unordered |= page > 0 && self.pages.get(page - 1).base > base;
        self.unordered |= page as usize + 1 < self.pages.len();
        self.pages.get_mut(page).base = base;
        let hash = hash(base);
        let pages = &self.pages;
        self.shards[(hash >> 50) as usize % SHARDS]
            .insert_unique(hash, page, |&other| self::hash(pages.get(other).base));
        page
    }

    /// Give a slot back.
    pub fn give_back(&mut self, slot: Slot) {
        self.set_window(slot, None);
        self.set_score(slot, 0);
        *self.owners.get_mut(slot) = Owner::default();
        let page = slot / 64;
        let entry = self.pages.get_mut(page);
        entry.taken &= !(1 << (slot & 63));
        self.len -= 1;
        if entry.taken == 0 {
            let base = entry.base;
            let hash = hash(base);
            let shard = &mut self.shards[(hash >> 50) as usize % SHARDS];
            if let Ok(found) = shard.find_entry(hash, |&other| other == page) {
                found.remove();
            }
            entry.base = u64::MAX;
            self.free.push(page);
        }
        if self.len == 0 {
            self.unordered = false;
        }
    }

    /// The id of a slot.
    #[inline]
    pub fn id(&self, slot: Slot) -> u64 {
        self.base(slot / 64) | u64::from(slot & 63)
    }

    /// The first id of a page.
    #[inline]
    pub fn base(&self, page: u32) -> u64 {
        self.pages.get(page).base << 6
    }

    /// Whether pages, as numbered, may be out of the order of their ids.
    pub fn unordered(&self) -> bool {
        self.unordered
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// What belongs to a slot.
    #[inline]
    pub fn owner(&self, slot: Slot) -> Owner {
        *self.owners.get(slot)
    }

    /// Say what belongs to a slot.
    pub fn set_owner(&mut self, slot: Slot, owner: Owner) {
        *self.owners.get_mut(slot) = owner;
    }

    /// The score of a slot.
    #[inline]
    pub fn score(&self, slot: Slot) -> i64 {
        if (slot as usize) < self.scores.len() {
            *self.scores.get(slot)
        } else {
            0
        }
    }

    /// Set a score. No memory is spent on scores until one is not zero.
    pub fn set_score(&mut self, slot: Slot, score: i64) {
        if score != 0 && self.scores.len() <= slot as usize {
            self.scores.grow_to(self.owners.len());
        }
        if (slot as usize) < self.scores.len() {
            *self.scores.get_mut(slot) = score;
        }
    }

    /// Set or remove a window; no bound is an infinity.
    pub fn set_window(&mut self, slot: Slot, window: Option<(f64, f64)>) {
        let bit = 1 << (slot & 63);
        let page = self.pages.get_mut(slot / 64);
        match window {
            Some(window) => {
                page.windowed |= bit;
                self.windows.insert(slot, window);
            }
            None if page.windowed & bit != 0 => {
                page.windowed &= !bit;
                self.windows.remove(&slot);
            }
            None => {}
        }
    }

    /// The window of a slot.
    pub fn window(&self, slot: Slot) -> Option<(f64, f64)> {
        self.windows.get(&slot).copied()
    }

    /// Of the marked slots of a page, those whose windows are open at a moment.
    #[inline]
    pub fn open_at(&self, page: u32, marked: u64, at: f64) -> u64 {
        let mut open = marked;
        let mut windowed = marked & self.pages.get(page).windowed;
        while windowed != 0 {
            let bit = windowed.trailing_zeros();
            windowed &= windowed - 1;
            if let Some(&(start, end)) = self.windows.get(&(page * 64 + bit))
                && !(start <= at && at < end)
            {
                open &= !(1 << bit);
            }
        }
        open
    }

    /// All slots that are taken.
    pub fn taken(&self) -> impl Iterator<Item = Slot> {
        (0..self.pages.len() as u32).flat_map(|page| {
            let taken = self.pages.get(page).taken;
            (0..64)
                .filter(move |bit| taken >> bit & 1 == 1)
                .map(move |bit| page * 64 + bit)
        })
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes taken.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        tables
            + self.pages.total_bytes()
            + self.owners.total_bytes()
            + self.scores.total_bytes()
            + self.windows.capacity() * 25
            + self.free.capacity() * 4
    }
}

/// The slots that a match has marked.
#[derive(Default)]
pub struct Marks {
    words: Vec<u64>,
    summary: Vec<u64>,
    pages: usize,
}

impl Marks {
    /// Make room for so many pages. Nothing is marked.
    pub fn reset(&mut self, pages: usize) {
        self.pages = pages;
        if self.words.len() <= pages {
            self.words.resize(pages + 1, 0);
            self.summary.resize((pages + 1).div_ceil(64), 0);
        }
    }

    /// A slot that nobody has, to mark in place of none.
    pub fn nobody(&self) -> Slot {
        self.pages as u32 * 64
    }

    /// Mark the slots of a list.
    #[inline(always)]
    pub fn mark_all(&mut self, slots: &[u64]) {
        for &slot in slots {
            self.mark(slot as Slot);
        }
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

    /// Hand out the marked words, page by page, and forget them.
    #[inline]
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
