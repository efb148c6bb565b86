//! Each distinct predicate once an event: lazily, or from precomputed rows (section 6.1).
//!
//! ```text
//!   lazy     pass │ 0 1 0 0 … │ one bit for each literal; both 0: not evaluated yet
//!            fail │ 1 0 0 0 … │
//!   bitmap   age   [LOW, 17] ─► 0 1 1 0 …    the truth of all literals on age, for each
//!                  [18, 24]  ─► 1 0 1 1 …    piece of its values
//!                  [25, …]   ─► none         rows of zeros are not stored
//! ```
//!
//! The paper has a row for each value. Values between two bounds have equal rows, so there is one
//! row for each piece here, which also serves doubles. The result of an event is built by copying a
//! row for each attribute; what the last event set is cleared first. A literal that came after the
//! rows were built, or that is not a question of the value alone (lists, `is null`), is evaluated
//! lazily: the hybrid at the end of section 6.1.

use rustc_hash::FxHashMap;

use super::Variant;
use crate::papers::literal::{Event, LOW};
use crate::papers::store::Store;

/// A reference with this bit is the number of a literal that has no bit in the rows.
const LAZY: u32 = 1 << 31;
/// Attributes whose rows would take more stay lazy.
const MOST_WORDS: usize = 1 << 17;

#[derive(Default)]
pub struct Evaluation {
    pass: Vec<u64>,
    fail: Vec<u64>,
    /// The literals that were evaluated lazily for the current event.
    evaluated: Vec<u32>,
    references: Vec<u32>,
    rows: FxHashMap<u32, Rows>,
    /// The result of the current event. The lowest bit is always true.
    result: Vec<u64>,
    /// The words that the current event has set.
    copied: Vec<(usize, usize)>,
}

/// The rows of an attribute.
struct Rows {
    /// The first value of each piece.
    starts: Vec<i64>,
    /// Where each row lies in `words`, or NO_ROW.
    places: Vec<u32>,
    words: Vec<u64>,
    width: usize,
    /// The word of the result that the rows are copied to.
    offset: usize,
}

const NO_ROW: u32 = u32::MAX;

impl Evaluation {
    /// The number stands for another literal from now on.
    pub fn forget(&mut self, number: u32) {
        if let Some(reference) = self.references.get_mut(number as usize) {
            *reference = LAZY | number;
        }
    }

    /// Where the truth of a literal is found.
    #[inline]
    pub fn reference(&self, number: u32) -> u32 {
        let known = self.references.get(number as usize);
        known.copied().unwrap_or(LAZY | number)
    }

    pub fn begin(&mut self, variant: Variant, event: &Event, store: &Store) {
        let words = store.literals.bound().div_ceil(64);
        self.pass.resize(words, 0);
        self.fail.resize(words, 0);
        for number in self.evaluated.drain(..) {
            self.pass[number as usize / 64] = 0;
            self.fail[number as usize / 64] = 0;
        }
        if !variant.has_rows() {
            return;
        }
        self.result.resize(self.result.len().max(1), 0);
        for (from, to) in self.copied.drain(..) {
            self.result[from..to].fill(0);
        }
        self.result[0] = 1;
        for &(attribute, value) in &event.pairs {
            let Some(rows) = self.rows.get(&attribute) else {
                continue;
            };
            let piece = rows.starts.partition_point(|&start| start <= value) - 1;
            let place = rows.places[piece];
            if place != NO_ROW {
                let row = &rows.words[place as usize..][..rows.width];
                let target = (rows.offset, rows.offset + rows.width);
                self.result[target.0..target.1].copy_from_slice(row);
                self.copied.push(target);
            }
        }
    }

    #[inline]
    pub fn lazily(&mut self, number: u32, event: &Event, store: &Store) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.pass[word] & bit != 0 {
            return true;
        }
        if self.fail[word] & bit != 0 {
            return false;
        }
        self.evaluated.push(number);
        let holds = store.literals.get(number).holds(event);
        let bits = if holds {
            &mut self.pass
        } else {
            &mut self.fail
        };
        bits[word] |= bit;
        holds
    }

    #[inline]
    pub fn refers_true(&mut self, reference: u32, event: &Event, store: &Store) -> bool {
        if reference & LAZY != 0 {
            return self.lazily(reference & !LAZY, event, store);
        }
        self.result[reference as usize / 64] >> (reference % 64) & 1 == 1
    }

    /// Build the rows of all literals in use.
    pub fn build(&mut self, store: &Store) {
        let mut by_attribute: FxHashMap<u32, Vec<(u32, Ranges)>> = FxHashMap::default();
        self.references = (0..store.literals.bound() as u32)
            .map(|n| LAZY | n)
            .collect();
        for (number, literal) in store.literals.iter() {
            if let Some(ranges) = literal.ranges() {
                let members = by_attribute.entry(literal.attribute).or_default();
                members.push((number, ranges));
            }
        }
        let mut attributes: Vec<u32> = by_attribute.keys().copied().collect();
        attributes.sort_unstable();
        let mut offset = 1;
        self.rows.clear();
        for attribute in attributes {
            let members = &by_attribute[&attribute];
            if let Some(rows) = Rows::new(members, offset) {
                for (bit, (number, _)) in members.iter().enumerate() {
                    self.references[*number as usize] = (offset * 64 + bit) as u32;
                }
                offset += rows.width;
                self.rows.insert(attribute, rows);
            }
        }
        self.result = vec![0; offset];
        self.copied.clear();
    }
}

type Ranges = Vec<(i64, i64)>;

impl Rows {
    fn new(members: &[(u32, Ranges)], offset: usize) -> Option<Self> {
        let bounds = members.iter().flat_map(|(_, ranges)| ranges);
        let cuts = bounds.flat_map(|&(low, high)| [Some(low), high.checked_add(1)]);
        let mut starts: Vec<i64> = cuts.flatten().chain([LOW]).collect();
        starts.sort_unstable();
        starts.dedup();
        let width = members.len().div_ceil(64);
        if starts.len() * width > MOST_WORDS {
            return None;
        }
        let mut words = vec![0u64; starts.len() * width];
        for (bit, (_, ranges)) in members.iter().enumerate() {
            for &(low, high) in ranges {
                let first = starts.partition_point(|&start| start < low);
                let last = starts.partition_point(|&start| start <= high);
                for piece in first..last {
                    words[piece * width + bit / 64] |= 1 << (bit % 64);
                }
            }
        }
        let mut rows = Rows {
            starts,
            places: Vec::new(),
            words: Vec::new(),
            width,
            offset,
        };
        for row in words.chunks_exact(width) {
            let is_zero = row.iter().all(|&word| word == 0);
            let place = if is_zero {
                NO_ROW
            } else {
                rows.words.len() as u32
            };
            rows.places.push(place);
            rows.words
                .extend(row.iter().take(if is_zero { 0 } else { width }));
        }
        Some(rows)
    }
}
