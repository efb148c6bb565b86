//! The guards on one attribute: their numbers, the spaces of its values, and the rows.

use super::{MOST_CLOSE, MOST_GUARDS, MOST_SPACES, MOST_WORDS};
use crate::engine::expression::literal_word::LiteralWord;
use smallvec::SmallVec;

/// What a guard asks of a present value, by its order: to be in one of these ranges, or in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    pub ranges: SmallVec<[(u64, u64); 4]>,
    pub positive: bool,
}

impl Ranges {
    /// Some single values.
    pub fn of_points(points: impl Iterator<Item = u64>, positive: bool) -> Self {
        let ranges = points.map(|point| (point, point)).collect();
        Ranges { ranges, positive }
    }

    pub(super) fn hold(&self, order: u64) -> bool {
        let within = |&(low, high): &(u64, u64)| low <= order && order <= high;
        self.ranges.iter().any(within) == self.positive
    }

    pub(super) fn are_points(&self) -> bool {
        self.ranges.iter().all(|(low, high)| low == high)
    }

    /// The values at which a space must begin.
    pub(super) fn cuts(&self) -> impl Iterator<Item = u64> {
        let bounds = |&(low, high): &(u64, u64)| [Some(low), high.checked_add(1)];
        let cuts = self.ranges.iter().flat_map(bounds).flatten();
        cuts.filter(|&cut| cut > 0)
    }
}

/// The guards on one attribute, with a row for each space, or by value. What a match reads fills the
/// first cache line.
#[derive(Default)]
#[repr(C, align(64))]
pub(super) struct Table {
    /// The spaces of close values, from `first` on, where the second space begins.
    pub(super) close: Vec<u16>,
    pub(super) first: u64,
    /// The rows of the spaces, `stride` words each; by value, the row of values that no guard names.
    pub(super) stride: usize,
    pub(super) rows: Vec<u64>,
    /// Where the spaces begin, ascending, and how many bounds of guards are there. The first is 0.
    pub(super) starts: Vec<u64>,
    pub(super) start_uses: Vec<u32>,
    pub(super) words: Vec<LiteralWord>,
    pub(super) uses: Vec<u32>,
    pub(super) free: Vec<u16>,
    pub(super) attribute: u32,
    pub(super) by_value: bool,
}

impl Table {
    pub(super) fn space_of(&self, order: u64) -> usize {
        match self.close_place(order) {
            Some(place) => usize::from(self.close[place]),
            None if self.close.is_empty() => {
                self.starts.partition_point(|&start| start <= order) - 1
            }
            None => 0,
        }
    }

    /// Where a value has its place among the close ones; `None` if it is below all, or there are none.
    #[inline(always)]
    pub(super) fn close_place(&self, order: u64) -> Option<usize> {
        let last = self.close.len().checked_sub(1)?;
        let place = order.checked_sub(self.first)?;
        Some(place.min(last as u64) as usize)
    }

    pub(super) fn row(&self, space: usize) -> &[u64] {
        &self.rows[space * self.stride..(space + 1) * self.stride]
    }

    /// The stride that one more guard needs.
    pub(super) fn next_stride(&self) -> usize {
        let needed = match self.free.is_empty() {
            true => self.words.len() / 64 + 1,
            false => self.stride,
        };
        if needed <= self.stride {
            self.stride
        } else {
            needed + needed / 4
        }
    }

    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty() || self.words.len() < MOST_GUARDS
    }

    pub(super) fn fits(&self, ranges: &Ranges) -> bool {
        let spaces = self.starts.len() + 2 * ranges.ranges.len();
        self.has_room() && spaces <= MOST_SPACES && spaces * self.next_stride() <= MOST_WORDS
    }

    /// A number for a guard, with one use, and room for its bit.
    pub(super) fn number(&mut self, word: LiteralWord) -> usize {
        let stride = self.next_stride();
        if stride > self.stride {
            let spaces = if self.by_value { 1 } else { self.starts.len() };
            let mut rows = vec![0; spaces * stride];
            for space in 0..spaces {
                let old = &self.rows[space * self.stride..(space + 1) * self.stride];
                rows[space * stride..space * stride + old.len()].copy_from_slice(old);
            }
            (self.rows, self.stride) = (rows, stride);
        }
        match self.free.pop() {
            Some(number) => {
                let number = usize::from(number);
                (self.words[number], self.uses[number]) = (word, 1);
                number
            }
            None => {
                self.words.push(word);
                self.uses.push(1);
                self.words.len() - 1
            }
        }
    }

    /// Begin a space at each bound of some ranges.
    pub(super) fn cut(&mut self, ranges: &Ranges) {
        for start in ranges.cuts() {
            let place = self.starts.partition_point(|&other| other < start);
            if self.starts.get(place) == Some(&start) {
                self.start_uses[place] += 1;
                continue;
            }
            self.starts.insert(place, start);
            self.start_uses.insert(place, 1);
            let (len, stride) = (self.rows.len(), self.stride);
            self.rows.resize(len + stride, 0);
            self.rows
                .copy_within((place - 1) * stride..len, place * stride);
            let is_between = place > 1 && place + 1 < self.starts.len();
            match self.close_place(start) {
                Some(from) if is_between => {
                    self.close[from..].iter_mut().for_each(|space| *space += 1);
                }
                _ => self.look_up_close_values(),
            }
        }
    }

    /// End the spaces that no guard needs any more.
    pub(super) fn mend(&mut self, ranges: &Ranges) {
        let before = self.starts.len();
        for start in ranges.cuts() {
            let Ok(place) = self.starts.binary_search(&start) else {
                continue;
            };
            self.start_uses[place] -= 1;
            if self.start_uses[place] == 0 {
                self.starts.remove(place);
                self.start_uses.remove(place);
                let stride = self.stride;
                self.rows.drain(place * stride..(place + 1) * stride);
            }
        }
        if self.starts.len() < before {
            self.look_up_close_values();
        }
    }

    pub(super) fn look_up_close_values(&mut self) {
        self.close.clear();
        let (Some(&first), Some(&last)) = (self.starts.get(1), self.starts.last()) else {
            return;
        };
        if last - first >= MOST_CLOSE {
            return;
        }
        self.first = first;
        let mut space = 1;
        for value in first..=last {
            let ends = self
                .starts
                .get(space + 1)
                .is_some_and(|&next| next <= value);
            space += usize::from(ends);
            self.close.push(space as u16);
        }
    }

    /// Change the bit of a guard in every space where it holds: a free number has only zeros.
    pub(super) fn flip(&mut self, number: usize, ranges: &Ranges) {
        if !ranges.positive {
            self.flip_between(number, 0, self.starts.len());
        }
        for &(low, high) in &ranges.ranges {
            let first = self.space_of(low);
            let within = self.starts[first..].iter();
            let spaces = within.take_while(|&&start| start <= high).count();
            self.flip_between(number, first, first + spaces);
        }
    }

    fn flip_between(&mut self, number: usize, from: usize, to: usize) {
        let rows = &mut self.rows[number / 64..];
        for row in rows.chunks_mut(self.stride).take(to).skip(from) {
            row[0] ^= 1 << (number % 64);
        }
    }
}
