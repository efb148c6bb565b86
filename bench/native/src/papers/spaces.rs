//! PS-Tree's disjoint predicate spaces of one attribute (chapter 6 of the thesis): the bounds of its
//! predicates cut its values into spaces, and a value lies in exactly one.
//!
//! ```text
//!   [10, 30], [20, 60]:   …  │10      │20      │31      │61  …      cuts, with their use counts
//!                       s0   │  s1    │  s2    │  s3    │  s4       spaces
//! ```
//!
//! Algorithms 4 to 10 find the place of a cut in a tree over the digits of values; here a B-tree
//! does. A cut that nothing uses any more goes, and the spaces on its sides become one (algorithm
//! 12; [decision 4](../../../../docs/decisions/0004-reference-differs-from-thesis.md) says why by
//! use counts).

use std::collections::BTreeMap;

use super::literal::LOW;

pub struct Spaces {
    /// The space that begins at a value, and the number of bounds there.
    cuts: BTreeMap<i64, (u32, u32)>,
    free: Vec<u32>,
}

impl Default for Spaces {
    fn default() -> Self {
        Spaces {
            cuts: BTreeMap::from([(LOW, (0, 1))]),
            free: Vec::new(),
        }
    }
}

impl Spaces {
    /// Cut at the bounds of a range. `split` gets each old space and its new right part.
    pub fn cut(&mut self, (low, high): (i64, i64), mut split: impl FnMut(u32, u32)) {
        for bound in bounds(low, high) {
            if let Some((_, uses)) = self.cuts.get_mut(&bound) {
                *uses += 1;
                continue;
            }
            let new = self.free.pop().unwrap_or(self.cuts.len() as u32);
            let old = self.locate(bound);
            self.cuts.insert(bound, (new, 1));
            split(old, new);
        }
    }

    /// Take the bounds of a range away. `merge` gets each remaining space and the one that
    /// it takes over.
    pub fn release(&mut self, (low, high): (i64, i64), mut merge: impl FnMut(u32, u32)) {
        for bound in bounds(low, high) {
            let (space, uses) = self.cuts.get_mut(&bound).expect("the range was cut");
            *uses -= 1;
            if *uses == 0 {
                let gone = *space;
                self.cuts.remove(&bound);
                self.free.push(gone);
                merge(self.locate(bound), gone);
            }
        }
    }

    /// The space of a value (algorithm 11).
    #[inline]
    pub fn locate(&self, value: i64) -> u32 {
        let mut before = self.cuts.range(..=value);
        before.next_back().map_or(0, |(_, &(space, _))| space)
    }

    /// The spaces within a range whose bounds are cuts.
    pub fn within(&self, (low, high): (i64, i64)) -> impl Iterator<Item = u32> {
        let range = (low <= high).then(|| self.cuts.range(low..=high));
        range.into_iter().flatten().map(|(_, &(space, _))| space)
    }
}

fn bounds(low: i64, high: i64) -> impl Iterator<Item = i64> {
    let bounds = (low <= high).then_some([Some(low).filter(|&l| l > LOW), high.checked_add(1)]);
    bounds.into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::literal::HIGH;

    /// The first value of each space.
    fn starts(spaces: &Spaces) -> Vec<i64> {
        spaces.cuts.keys().copied().collect()
    }

    #[test]
    fn the_example_of_figure_1_3_1_has_3_in_the_space_of_both() {
        let mut spaces = Spaces::default();
        spaces.cut((0, 4), |_, _| {});
        spaces.cut((2, 4), |_, _| {});
        let holders = |value| {
            let space = spaces.locate(value);
            [(0, 4), (2, 4)].map(|range| spaces.within(range).any(|other| other == space))
        };
        assert_eq!(holders(1), [true, false]);
        assert_eq!(holders(3), [true, true]);
    }

    #[test]
    fn the_example_of_section_6_1_has_five_spaces() {
        let mut spaces = Spaces::default();
        spaces.cut((-5, -1), |_, _| {});
        spaces.cut((1, 5), |_, _| {});
        assert_eq!(starts(&spaces), [LOW, -5, 0, 1, 6]);
        assert!(spaces.within((1, 5)).eq([spaces.locate(2)]));
    }

    #[test]
    fn the_example_of_section_6_4_has_five_spaces_and_three_when_the_second_is_removed() {
        let mut spaces = Spaces::default();
        let mut parts = Vec::new();
        spaces.cut((20, 60), |old, new| parts.push((old, new)));
        spaces.cut((30, 80), |old, new| parts.push((old, new)));
        assert_eq!(parts, [(0, 1), (1, 2), (1, 3), (2, 4)]);
        assert_eq!(starts(&spaces), [LOW, 20, 30, 61, 81]);
        let counters = [19, 20, 30, 61, 81].map(|value| {
            let space = spaces.locate(value);
            let covers = |&&range: &&(i64, i64)| spaces.within(range).any(|s| s == space);
            [(20, 60), (30, 80)].iter().filter(covers).count()
        });
        assert_eq!(counters, [0, 1, 2, 1, 0]);
        let mut merged = Vec::new();
        spaces.release((30, 80), |kept, gone| merged.push((kept, gone)));
        assert_eq!(merged, [(1, 3), (2, 4)]);
        assert_eq!(starts(&spaces), [LOW, 20, 61]);
        spaces.release((20, 60), |_, _| {});
        assert_eq!(starts(&spaces), [LOW]);
    }

    #[test]
    fn a_range_without_an_end_has_one_cut() {
        let mut spaces = Spaces::default();
        spaces.cut((30, HIGH), |_, _| {});
        assert_eq!(starts(&spaces), [LOW, 30]);
    }
}
