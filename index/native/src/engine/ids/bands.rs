//! The best entries, stored a second time in bands, so that `top` need not look at all entries.
//!
//! ```text
//!   rank     score descending, id ascending: no two entries have the same
//!   band 1   ranks up to the first border: the best 4,096 entries, more or less
//!   band 2   from there to the second border: four times as many
//!   band 3   from there to the third border; the three together are a thirty-second of all entries
//!   ALL      every entry, also those above
//! ```
//!
//! A band has programs, postings and keys of its own, in the same arenas, and only for its members.
//! `top` searches band after band and stops at the first border up to which it has found enough
//! (`matching/best.rs`); every other question searches ALL.
//!
//! Invariant: every entry whose rank is not behind a border is a member of the band of its rank.
//! A border may lie between equal scores. Borders move by one member at a time, inwards when a band
//! is too large and outwards when it is too small. Where no member is left outside, new ones are
//! gathered from ALL by a *sweep* over the slots, a few at a time: the border moves when the sweep
//! is complete, and until then members behind it may be incomplete.

mod snapshot;

use crate::engine::ids::slots::Owner;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

/// The number of a band, from 1; or ALL.
pub type Band = u32;
/// Every entry.
pub const ALL: Band = 0;
/// The number of bands, without ALL.
pub const BANDS: usize = 3;

/// A band is this many times as large as the one before.
const GROWTH: usize = 4;
/// One entry in this many is stored a second time.
const SHARE: usize = 32;
/// The size of the first band as a power of two.
pub const FIRST: u32 = 12;

/// The order of answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank(i64, u64);

impl Rank {
    /// The rank of an entry.
    pub fn new(score: i64, id: u64) -> Self {
        Rank(!score, id)
    }

    /// The score of the entry.
    pub fn score(self) -> i64 {
        !self.0
    }

    /// The id of the entry.
    pub fn id(self) -> u64 {
        self.1
    }
}

/// New members are being gathered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sweep {
    /// Those with ranks up to this one,
    pub border: Rank,
    /// for this band,
    pub band: Band,
    /// from this page on.
    pub page: u32,
}

/// What brings the bands closer to their sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Move the last member of a band to the next one, or out.
    Shrink(Band, Rank),
    /// Move the first member behind a band into it.
    Extend(Band, Rank),
    /// Start to gather members for a band, so that it and the better ones have this many.
    Gather(Band, usize),
    /// Go on gathering.
    Sweep(Sweep),
}

/// The members of all bands.
pub struct Bands {
    /// Each with its program and position there.
    members: BTreeMap<Rank, Owner>,
    counts: [usize; BANDS],
    /// The last rank of each band; none while it has never had members.
    borders: [Option<Rank>; BANDS],
    sweep: Option<Sweep>,
    /// The size of the first band as a power of two; 0 is none.
    first: u32,
}

impl Default for Bands {
    fn default() -> Self {
        Bands {
            members: BTreeMap::new(),
            counts: [0; BANDS],
            borders: [None; BANDS],
            sweep: None,
            first: FIRST,
        }
    }
}

impl Bands {
    /// Set the size of the first band as a power of two; 0 means no bands. Below `FIRST`, which is
    /// for tests, half of all entries are stored twice.
    pub fn use_first(&mut self, first: u32) {
        self.first = first;
    }

    /// The band of a rank, if it is in one.
    pub fn band_of(&self, rank: Rank) -> Option<Band> {
        let settled = self.borders.iter().position(|&border| Some(rank) <= border);
        let gathered = self.sweep.filter(|sweep| rank <= sweep.border);
        settled
            .map(|at| at as Band + 1)
            .or(gathered.map(|sweep| sweep.band))
    }

    /// The last rank of a band.
    pub fn border(&self, band: Band) -> Option<Rank> {
        self.borders[band as usize - 1]
    }

    /// The number of members of a band.
    pub fn count(&self, band: Band) -> usize {
        self.counts[band as usize - 1]
    }

    /// The number of members of all bands.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// All members, best first.
    pub fn iter(&self) -> impl Iterator<Item = (Rank, Owner)> {
        self.members.iter().map(|(&rank, &owner)| (rank, owner))
    }

    /// The program of a member, and the position there.
    pub fn owner(&self, rank: Rank) -> Option<Owner> {
        self.members.get(&rank).copied()
    }

    /// Set the program of a member.
    pub fn set_owner(&mut self, rank: Rank, owner: Owner) {
        if let Some(known) = self.members.get_mut(&rank) {
            *known = owner;
        }
    }

    /// Add a member to its band. Returns the band; `None` if there is none for its rank.
    pub fn add(&mut self, rank: Rank) -> Option<Band> {
        let band = self.band_of(rank)?;
        if self.members.insert(rank, Owner::default()).is_none() {
            self.counts[band as usize - 1] += 1;
        }
        Some(band)
    }

    /// Remove a member.
    pub fn remove(&mut self, rank: Rank) {
        if let Some(band) = self.band_of(rank)
            && self.members.remove(&rank).is_some()
        {
            self.counts[band as usize - 1] -= 1;
        }
    }

    /// The sizes that the bands of an index of this number of entries should have.
    fn wanted(&self, entries: usize) -> [usize; BANDS] {
        let (room, least) = match self.first {
            0 => return [0; BANDS],
            FIRST => (entries / SHARE, (1 << FIRST) / GROWTH),
            _ => (entries / 2, 1),
        };
        let mut left = if room < least { 0 } else { room };
        let mut size = 1 << self.first;
        [(); BANDS].map(|()| {
            let wanted = left.min(size);
            left -= wanted;
            size *= GROWTH;
            wanted
        })
    }

    /// The next step towards the wanted sizes; `None` if they are nearly right.
    pub fn next_step(&self, entries: usize) -> Option<Step> {
        let wanted = self.wanted(entries);
        for (at, &wanted) in wanted.iter().enumerate() {
            if self.counts[at] > wanted + wanted / 8 {
                let (&last, _) = self.members.range(..=self.last_of(at)?).next_back()?;
                return Some(Step::Shrink(at as Band + 1, last));
            }
        }
        if let Some(sweep) = self.sweep {
            return Some(Step::Sweep(sweep));
        }
        for (at, &some) in wanted.iter().enumerate() {
            if self.counts[at] < some - some / 8 {
                let band = at as Band + 1;
                return Some(match self.first_behind(at) {
                    Some(next) => Step::Extend(band, next),
                    None => Step::Gather(band, wanted[..=at].iter().sum()),
                });
            }
        }
        None
    }

    /// The last rank that may be in a band, complete or not.
    fn last_of(&self, at: usize) -> Option<Rank> {
        let swept = self.sweep.filter(|sweep| sweep.band as usize == at + 1);
        self.borders[at].max(swept.map(|sweep| sweep.border))
    }

    /// The border of a band and all better ones; band 0 has none.
    pub fn behind(&self, band: Band) -> Option<Rank> {
        self.borders[..band as usize]
            .iter()
            .flatten()
            .max()
            .copied()
    }

    /// The best member behind a band, if nothing that is not a member comes before it.
    fn first_behind(&self, at: usize) -> Option<Rank> {
        let from = self.behind(at as Band + 1).map_or(Unbounded, Excluded);
        let (&next, _) = self.members.range((from, Unbounded)).next()?;
        (Some(next) <= self.behind(BANDS as Band)).then_some(next)
    }

    /// Move the border of a band before its last member, which was removed before.
    pub fn shrink(&mut self, band: Band, gone: Rank) {
        let inner = self.behind(band - 1);
        let (before, settled) = (
            self.members.range(..gone).next_back(),
            self.behind(BANDS as Band),
        );
        let last = before
            .map(|(&rank, _)| rank)
            .filter(|&rank| Some(rank) > inner);
        if Some(gone) > settled {
            let border = last.filter(|&last| Some(last) > settled);
            let sweep = self.sweep.zip(border);
            self.sweep = sweep.map(|(sweep, border)| Sweep { border, ..sweep });
            return;
        }
        let old = std::mem::replace(&mut self.borders[band as usize - 1], last);
        if let Some(outer) = self.borders.get_mut(band as usize) {
            *outer = (*outer).max(old);
        }
    }

    /// Move the border of a band behind the next member, which was removed before.
    pub fn extend(&mut self, band: Band, next: Rank) {
        self.borders[band as usize - 1] = Some(next);
    }

    /// Gather the entries with ranks up to a border for a band. It must be the last one that has
    /// members.
    pub fn start_sweep(&mut self, band: Band, border: Rank) {
        self.borders[band as usize - 1] = self.behind(BANDS as Band);
        self.borders[band as usize..].fill(None);
        self.sweep = Some(Sweep {
            border,
            band,
            page: 0,
        });
    }

    /// The pages before this one are swept.
    pub fn go_on(&mut self, page: u32) {
        if let Some(sweep) = &mut self.sweep {
            sweep.page = page;
        }
    }

    /// The sweep is complete: its members are all that there are.
    pub fn end_sweep(&mut self) {
        if let Some(sweep) = self.sweep.take() {
            self.borders[sweep.band as usize - 1] = Some(sweep.border);
        }
    }

    /// Memory in bytes, about: the nodes of the tree are at least half full.
    pub fn total_bytes(&self) -> usize {
        self.members.len() * size_of::<(Rank, Owner)>() * 3 / 2
    }
}
