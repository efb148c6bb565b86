//! Ids as slots: small numbers, in pages of 64 neighbouring ids.
//!
//! ```text
//!   id 1 000 005 ──▶ page of ids 999 936 … 999 999+64 ──▶ slot = page * 64 + 5
//!   matched      one bit a slot, so a page is a word: marking an id twice marks it once, and
//!                reading the words in the order of the pages gives the ids in order
//! ```
//!
//! Each slot has its program, its position among the program's ids, its score, window, group,
//! version and labels. What is default among these costs nothing until a neighbour has another one.

mod snapshot;

use crate::engine::ids::digest;
use crate::engine::ids::groups::{GroupNumber, Groups, Numbers};
use crate::engine::ids::labels::{LabelFilter, LabelSet, Labels};
use crate::engine::ids::score::bid;
use crate::engine::memory::arena::{NOWHERE, Ref};
use crate::engine::memory::chunked::Chunked;
use crate::engine::memory::sparse::Sparse;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The number of an id in this index.
pub type Slot = u32;

const SHARDS: usize = 64;
/// The base of a free page.
const FREE: u64 = u64::MAX;

#[derive(Clone, Copy, Default)]
struct Page {
    taken: u64,
    windowed: u64,
}

/// The program of an id.
#[derive(Clone, Copy, PartialEq)]
pub struct Owner {
    /// Its program; `NOWHERE` for an expression that is never true.
    pub program: Ref,
    /// The position among the ids of the program.
    pub position: u32,
}

impl Default for Owner {
    fn default() -> Self {
        Owner {
            program: NOWHERE,
            position: 0,
        }
    }
}

/// The validity window `[start, end)` of an id.
#[derive(Clone, Copy, PartialEq)]
struct Window {
    start: f64,
    end: f64,
}

impl Default for Window {
    fn default() -> Self {
        Window {
            start: f64::NEG_INFINITY,
            end: f64::INFINITY,
        }
    }
}

/// The properties of an id, besides its expression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Properties<'a> {
    pub score: i64,
    /// The validity window `[start, end)`; infinity means no bound.
    pub window: Option<(f64, f64)>,
    /// The group, for example its advertiser; 0 means none.
    pub group: u64,
    /// The version, which only the digest uses.
    pub version: u32,
    /// The text of its set of labels (`labels.rs`); empty means none.
    pub labels: &'a str,
}

/// The group and version of an id.
#[derive(Clone, Copy, Default, PartialEq)]
struct Origin {
    group: GroupNumber,
    version: u32,
}

/// All ids.
#[derive(Default)]
pub struct Slots {
    shards: Vec<HashTable<u32>>,
    /// The first id of each page, as a number of pages.
    bases: Chunked<u64>,
    /// The base of the first of every 64 pages if the others are consecutive, as they are where ids
    /// come from a sequence; otherwise FREE. A match needs the bases of nearly all pages, and these
    /// stay in the cache.
    runs: Vec<u64>,
    pages: Chunked<Page>,
    free: Vec<u32>,
    owners: Chunked<Owner>,
    scores: Sparse<i64>,
    origins: Sparse<Origin>,
    groups: Groups,
    label_sets: Sparse<LabelSet>,
    labels: Labels,
    digest: u64,
    windows: Sparse<Window>,
    /// The number of slots with a window.
    windowed: usize,
    /// An upper bound of the scores in each page.
    best: Chunked<i64>,
    len: usize,
    unordered: bool,
}

fn hash(base: u64) -> u64 {
    FxBuildHasher.hash_one(base)
}

impl Slots {
    /// Without ids.
    pub fn new() -> Self {
        Slots {
            shards: (0..SHARDS).map(|_| HashTable::new()).collect(),
            ..Default::default()
        }
    }

    fn page_of(&self, base: u64) -> Option<u32> {
        let hash = hash(base);
        let bases = &self.bases;
        self.shards[(hash >> 50) as usize % SHARDS]
            .find(hash, |&page| *bases.get(page) == base)
            .copied()
    }

    /// The slot of an id, if it exists.
    pub fn find(&self, id: u64) -> Option<Slot> {
        let page = self.page_of(id >> 6)?;
        let bit = (id & 63) as u32;
        (self.pages.get(page).taken >> bit & 1 == 1).then_some(page * 64 + bit)
    }

    /// The slot of an id, taken if necessary, and whether it is new.
    pub fn take(&mut self, id: u64) -> (Slot, bool) {
        let base = id >> 6;
        let page = self.page_of(base).unwrap_or_else(|| self.new_page(base));
        let bit = (id & 63) as u32;
        let taken = &mut self.pages.get_mut(page).taken;
        let fresh = *taken >> bit & 1 == 0;
        *taken |= 1 << bit;
        if fresh {
            self.len += 1;
            self.digest = self.digest.wrapping_add(digest::term(id, 0));
        }
        (page * 64 + bit, fresh)
    }

    fn new_page(&mut self, base: u64) -> u32 {
        let page = self.free.pop().unwrap_or_else(|| {
            let page = self.pages.len() as u32;
            assert!(page < 1 << 24, "an index has at most a billion slots");
            self.pages.push(Page::default());
            self.bases.push(FREE);
            self.best.push(0);
            self.owners.grow_to((page as usize + 1) * 64);
            page
        });
        self.unordered |= page > 0 && *self.bases.get(page - 1) > base;
        self.unordered |= page as usize + 1 < self.pages.len();
        self.set_base(page, base);
        let hash = hash(base);
        let bases = &self.bases;
        self.shards[(hash >> 50) as usize % SHARDS]
            .insert_unique(hash, page, |&other| self::hash(*bases.get(other)));
        page
    }

    fn set_base(&mut self, page: u32, base: u64) {
        *self.bases.get_mut(page) = base;
        let (run, place) = ((page / 64) as usize, u64::from(page % 64));
        if run == self.runs.len() {
            self.runs.push(base.checked_sub(place).unwrap_or(FREE));
        } else if self.runs[run].wrapping_add(place) != base {
            self.runs[run] = FREE;
        }
    }

    /// Free a slot.
    pub fn give_back(&mut self, slot: Slot) {
        self.set_properties(slot, Properties::default());
        let term = digest::term(self.id(slot), 0);
        self.digest = self.digest.wrapping_sub(term);
        *self.owners.get_mut(slot) = Owner::default();
        let page = slot / 64;
        let entry = self.pages.get_mut(page);
        entry.taken &= !(1 << (slot & 63));
        self.len -= 1;
        if entry.taken == 0 {
            let hash = hash(*self.bases.get(page));
            let shard = &mut self.shards[(hash >> 50) as usize % SHARDS];
            if let Ok(found) = shard.find_entry(hash, |&other| other == page) {
                found.remove();
            }
            *self.bases.get_mut(page) = FREE;
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
        match self.runs[(page / 64) as usize] {
            FREE => self.bases.get(page) << 6,
            run => (run + u64::from(page % 64)) << 6,
        }
    }

    /// Whether the order of the pages may differ from the order of their ids.
    pub fn unordered(&self) -> bool {
        self.unordered
    }

    /// The number of pages.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The program of a slot.
    #[inline]
    pub fn owner(&self, slot: Slot) -> Owner {
        *self.owners.get(slot)
    }

    /// Set the program of a slot.
    pub fn set_owner(&mut self, slot: Slot, owner: Owner) {
        *self.owners.get_mut(slot) = owner;
    }

    /// The score of a slot.
    #[inline]
    pub fn score(&self, slot: Slot) -> i64 {
        self.scores.get(slot)
    }

    /// Prefetch the score of a slot.
    #[inline]
    pub fn prefetch_score(&self, slot: Slot) {
        self.scores.prefetch(slot);
    }

    /// The properties of a slot.
    pub fn properties(&self, slot: Slot) -> Properties<'_> {
        let Origin { group, version } = self.origins.get(slot);
        Properties {
            score: self.score(slot),
            window: self.window(slot),
            group: self.groups.group(group),
            version,
            labels: self.labels.text(self.label_sets.get(slot)),
        }
    }

    /// Set the properties of a slot.
    pub fn set_properties(&mut self, slot: Slot, properties: Properties) {
        self.set_score(slot, properties.score);
        self.set_window(slot, properties.window);
        self.set_origin(slot, properties.group, properties.version);
        self.set_labels(slot, properties.labels);
    }

    fn set_labels(&mut self, slot: Slot, text: &str) {
        let old = self.label_sets.get(slot);
        if self.labels.text(old) != text {
            let new = self.labels.acquire(text);
            self.label_sets.set(slot, new);
            self.labels.release(old);
        }
    }

    fn set_origin(&mut self, slot: Slot, group: u64, version: u32) {
        let old = self.origins.get(slot);
        let mut new = Origin { version, ..old };
        if self.groups.group(old.group) != group {
            new.group = self.groups.acquire(group);
            self.groups.release(old.group);
        }
        self.origins.set(slot, new);
        let id = self.id(slot);
        self.digest = self
            .digest
            .wrapping_sub(digest::term(id, old.version))
            .wrapping_add(digest::term(id, version));
    }

    /// Set or remove a window.
    fn set_window(&mut self, slot: Slot, window: Option<(f64, f64)>) {
        let bit = 1 << (slot & 63);
        let page = self.pages.get_mut(slot / 64);
        self.windowed -= usize::from(page.windowed & bit != 0);
        self.windowed += usize::from(window.is_some());
        page.windowed &= !bit;
        if window.is_some() {
            page.windowed |= bit;
        }
        let window = window.map(|(start, end)| Window { start, end });
        self.windows.set(slot, window.unwrap_or_default());
    }

    fn window(&self, slot: Slot) -> Option<(f64, f64)> {
        let has_one = self.pages.get(slot / 64).windowed >> (slot & 63) & 1 == 1;
        let Window { start, end } = self.windows.get(slot);
        has_one.then_some((start, end))
    }

    fn set_score(&mut self, slot: Slot, score: i64) {
        let old = self.score(slot);
        self.scores.set(slot, score);
        let best = self.best.get_mut(slot / 64);
        if score > *best {
            *best = score;
        } else if score < old && old == *best {
            self.find_best(slot / 64);
        }
    }

    fn find_best(&mut self, page: u32) {
        let scores = (0..64).map(|bit| self.scores.get(page * 64 + bit));
        *self.best.get_mut(page) = scores.max().unwrap_or(0);
    }

    /// An upper bound of the scores in a page.
    #[inline]
    pub fn best(&self, page: u32) -> i64 {
        *self.best.get(page)
    }

    /// The groups.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The groups, to mute them.
    pub fn groups_mut(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// The number of a slot's group.
    pub fn group_number(&self, slot: Slot) -> GroupNumber {
        self.origins.get(slot).group
    }

    /// The sets of labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The number of a slot's set of labels.
    pub fn label_set(&self, slot: Slot) -> LabelSet {
        self.label_sets.get(slot)
    }

    /// A digest of the ids and their versions.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Whether any slot has a window.
    pub fn has_windows(&self) -> bool {
        self.windowed > 0
    }

    /// The marked slots of a page whose windows are open at this time.
    #[inline]
    pub fn open_at(&self, page: u32, marked: u64, at: f64) -> u64 {
        let mut open = marked;
        let mut windowed = marked & self.pages.get(page).windowed;
        while windowed != 0 {
            let bit = windowed.trailing_zeros();
            windowed &= windowed - 1;
            let Window { start, end } = self.windows.get(page * 64 + bit);
            let is_open = start <= at && at < end;
            open &= !(u64::from(!is_open) << bit);
        }
        open
    }

    /// The marked slots of a page whose groups are neither muted nor excluded.
    #[inline]
    pub fn heard(&self, page: u32, marked: u64, excluded: &Numbers) -> u64 {
        let muted = self.groups.muted_numbers();
        self.those(page, marked, |slot| {
            let group = self.origins.get(slot).group;
            !muted.contains(group) && !excluded.contains(group)
        })
    }

    /// The marked slots of a page whose labels pass the filter.
    #[inline]
    pub fn labelled(&self, page: u32, marked: u64, filter: &LabelFilter) -> u64 {
        self.those(page, marked, |slot| {
            self.labels.passes(self.label_sets.get(slot), filter)
        })
    }

    /// Of the marked slots of a page, those whose bids are at least the floor.
    #[inline]
    pub fn bidding(&self, page: u32, marked: u64, floor: u64) -> u64 {
        self.those(page, marked, |slot| bid(self.scores.get(slot)) >= floor)
    }

    #[inline(always)]
    fn those(&self, page: u32, marked: u64, pass: impl Fn(Slot) -> bool) -> u64 {
        let (mut left, mut passed) = (marked, 0);
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            passed |= u64::from(pass(page * 64 + bit)) << bit;
        }
        passed
    }

    /// Whether a slot is in use.
    pub fn is_taken(&self, slot: Slot) -> bool {
        self.pages.get(slot / 64).taken >> (slot & 63) & 1 == 1
    }

    /// All slots in use.
    pub fn taken(&self) -> impl Iterator<Item = Slot> {
        (0..self.pages.len() as u32).flat_map(|page| self.taken_in(page))
    }

    /// The slots of a page in use.
    pub fn taken_in(&self, page: u32) -> impl Iterator<Item = Slot> + use<> {
        let taken = self.pages.get(page).taken;
        (0..64)
            .filter(move |bit| taken >> bit & 1 == 1)
            .map(move |bit| page * 64 + bit)
    }

    /// Check that free slots have default properties and that no score is above its page's bound.
    ///
    /// # Errors
    /// With the first slot that breaks this.
    pub fn check_free(&self) -> Result<(), String> {
        for page in 0..self.pages.len() as u32 {
            let taken = self.pages.get(page).taken;
            if (0..64).any(|bit| self.score(page * 64 + bit) > self.best(page)) {
                return Err(format!("page {page} has a score above its best"));
            }
            for bit in (0..64).filter(|bit| taken >> bit & 1 == 0) {
                if self.properties(page * 64 + bit) != Properties::default() {
                    return Err(format!(
                        "slot {} is free and has properties",
                        page * 64 + bit
                    ));
                }
            }
        }
        Ok(())
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory of groups and versions in bytes.
    pub fn origin_bytes(&self) -> usize {
        self.origins.total_bytes() + self.groups.total_bytes()
    }

    /// Memory of labels in bytes.
    pub fn label_bytes(&self) -> usize {
        self.label_sets.total_bytes() + self.labels.total_bytes()
    }

    /// Memory of everything else in bytes.
    pub fn total_bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(HashTable::allocation_size).sum();
        tables
            + self.pages.total_bytes()
            + self.bases.total_bytes()
            + self.runs.capacity() * 8
            + self.owners.total_bytes()
            + self.scores.total_bytes()
            + self.windows.total_bytes()
            + self.best.total_bytes()
            + self.free.capacity() * 4
    }
}
