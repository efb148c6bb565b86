//! A cluster (section 2.2.1) and the kernels that check it (section 2.2.3).
//!
//! ```text
//!   r = 2    columns[0] │ p4 │ p9 │ p1 │ …     references to bits, 16 to a cache line
//!            columns[1] │ p7 │ p2 │ p2 │ …
//!            slots      │ 12 │ 15 │ 30 │ …
//! ```
//!
//! For r up to 10 there is a kernel of its own, whose inner loop is a cache line long; it asks for
//! the lines ahead before it reads one. Longer conjunctions take the general loop.

use super::Key;

const LINE: usize = 16;
/// How many references ahead are fetched.
const AHEAD: usize = 4 * LINE;

/// The bits of the satisfied predicates.
#[derive(Default)]
pub struct Truth {
    bits: Vec<u64>,
    set: Vec<u32>,
}

impl Truth {
    pub fn clear(&mut self, bound: usize) {
        for number in self.set.drain(..) {
            self.bits[number as usize / 64] = 0;
        }
        self.bits.resize(bound.div_ceil(64), 0);
    }

    #[inline]
    pub fn set(&mut self, number: u32) {
        self.bits[number as usize / 64] |= 1 << (number % 64);
        self.set.push(number);
    }

    #[inline(always)]
    fn has(&self, number: u32) -> bool {
        self.bits[number as usize / 64] >> (number % 64) & 1 == 1
    }
}

pub struct Cluster {
    pub table: u32,
    pub key: Key,
    /// The probability of the access predicate.
    pub probability: f64,
    columns: Vec<Vec<u32>>,
    pub slots: Vec<u32>,
    /// How many slots the dynamic algorithm has looked at.
    pub considered: usize,
}

impl Cluster {
    pub fn new(table: u32, key: Key, size: usize, probability: f64) -> Self {
        Cluster {
            table,
            key,
            probability,
            columns: vec![Vec::new(); size],
            slots: Vec::new(),
            considered: 0,
        }
    }

    /// The number of predicates to check.
    pub fn size(&self) -> usize {
        self.columns.len()
    }

    pub fn push(&mut self, slot: u32, rest: &[u32]) {
        for (column, &number) in self.columns.iter_mut().zip(rest) {
            column.push(number);
        }
        self.slots.push(slot);
    }

    pub fn swap_remove(&mut self, place: usize) {
        for column in &mut self.columns {
            column.swap_remove(place);
        }
        self.slots.swap_remove(place);
        self.considered = self.considered.min(self.slots.len());
    }

    /// The benefit margin, in checks an event (section 4).
    pub fn margin(&self) -> f64 {
        self.probability * self.slots.len() as f64
    }

    /// `cluster_matching` of figure 2.
    pub fn check(&self, truth: &Truth, prefetch: bool, found: &mut Vec<u32>) {
        macro_rules! kernels {
            ($($size:literal)*) => {
                match self.columns.len() {
                    0 => found.extend(&self.slots),
                    $($size if prefetch => self.kernel::<$size, true>(truth, found),
                    $size => self.kernel::<$size, false>(truth, found),)*
                    _ => self.any_size(truth, found),
                }
            };
        }
        kernels!(1 2 3 4 5 6 7 8 9 10);
    }

    fn kernel<const SIZE: usize, const PREFETCH: bool>(&self, truth: &Truth, found: &mut Vec<u32>) {
        let count = self.slots.len();
        let columns: [&[u32]; SIZE] = std::array::from_fn(|place| &self.columns[place][..count]);
        for start in (0..count).step_by(LINE) {
            if PREFETCH {
                columns
                    .iter()
                    .for_each(|column| fetch(column, start + AHEAD));
            }
            for place in start..(start + LINE).min(count) {
                if columns.iter().all(|column| truth.has(column[place])) {
                    found.push(self.slots[place]);
                }
            }
        }
    }

    fn any_size(&self, truth: &Truth, found: &mut Vec<u32>) {
        for (place, &slot) in self.slots.iter().enumerate() {
            if self.columns.iter().all(|column| truth.has(column[place])) {
                found.push(slot);
            }
        }
    }

    pub fn check_invariants(&self) {
        assert!(!self.slots.is_empty(), "an empty cluster is gone");
        assert!(self.columns.iter().all(|c| c.len() == self.slots.len()));
        assert!(self.considered <= self.slots.len());
    }
}

#[inline(always)]
fn fetch(column: &[u32], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(line) = column.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no effect but on caches, and the address is in the column.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (column, place);
}
