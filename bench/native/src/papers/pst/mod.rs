//! PSTBloom and PSTHash (chapters 7 and 8 of the thesis), and what they share: a tree of predicate
//! spaces for each attribute, and the choice of access predicates.
//!
//! ```text
//!   attribute ─ spaces ─► leaf: what the index keeps there     bloom.rs, hash.rs
//! ```

pub mod bloom;
pub mod hash;
mod selectivity;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::literal::{Event, HIGH, LOW, Literal, Test};
use super::spaces::Spaces;
pub use selectivity::Selectivity;

/// The spaces of every attribute, with a leaf for each.
struct Forest<L> {
    trees: FxHashMap<u32, Tree<L>>,
}

struct Tree<L> {
    spaces: Spaces,
    leaves: Vec<L>,
    /// Literals that have cut the spaces.
    uses: usize,
}

impl<L> Default for Forest<L> {
    fn default() -> Self {
        Forest {
            trees: FxHashMap::default(),
        }
    }
}

impl<L: Clone + Default> Forest<L> {
    /// Cut the spaces at the bounds of a literal (algorithm 4). Returns the splits: a new leaf is a
    /// copy of the old one.
    fn cut(&mut self, literal: &Literal) -> Vec<(u32, u32)> {
        let tree = self.trees.entry(literal.attribute).or_insert_with(|| Tree {
            spaces: Spaces::default(),
            leaves: vec![L::default()],
            uses: 0,
        });
        tree.uses += 1;
        let mut splits = Vec::new();
        let leaves = &mut tree.leaves;
        for range in ranges(literal) {
            tree.spaces.cut(range, |old, new| {
                let copy = leaves[old as usize].clone();
                if new as usize == leaves.len() {
                    leaves.push(copy);
                } else {
                    leaves[new as usize] = copy;
                }
                splits.push((old, new));
            });
        }
        splits
    }

    /// Undo `cut` (algorithm 12). Returns the merges: what is kept, and what is gone, which has
    /// the same contents.
    fn release(&mut self, literal: &Literal) -> Vec<(u32, u32)> {
        let tree = self.tree_mut(literal.attribute);
        let mut merges = Vec::new();
        for range in ranges(literal) {
            tree.spaces
                .release(range, |kept, gone| merges.push((kept, gone)));
        }
        tree.uses -= 1;
        merges
    }

    /// Empty the leaf of a space that is gone; a tree without literals goes.
    fn forget(&mut self, attribute: u32, gone: impl Iterator<Item = u32>) {
        let tree = self.tree_mut(attribute);
        for space in gone {
            tree.leaves[space as usize] = L::default();
        }
        if tree.uses == 0 {
            self.trees.remove(&attribute);
        }
    }

    fn tree_mut(&mut self, attribute: u32) -> &mut Tree<L> {
        self.trees.get_mut(&attribute).expect("the literal was cut")
    }

    /// The spaces that a literal covers.
    fn covered(&self, literal: &Literal) -> Vec<u32> {
        let spaces = &self.trees[&literal.attribute].spaces;
        let all = ranges(literal).into_iter();
        all.flat_map(|range| spaces.within(range)).collect()
    }

    /// The space of each pair of the event (algorithm 11).
    fn located(&self, event: &Event) -> impl Iterator<Item = (u32, u32)> {
        event.pairs.iter().filter_map(|&(attribute, value)| {
            let tree = self.trees.get(&attribute)?;
            Some((attribute, tree.spaces.locate(value)))
        })
    }

    fn leaf(&self, attribute: u32, space: u32) -> &L {
        &self.trees[&attribute].leaves[space as usize]
    }

    fn leaf_mut(&mut self, attribute: u32, space: u32) -> &mut L {
        &mut self.tree_mut(attribute).leaves[space as usize]
    }
}

/// The ranges of values where a literal may hold: all of them for a test on a list.
fn ranges(literal: &Literal) -> Vec<(i64, i64)> {
    literal.ranges().unwrap_or_else(|| vec![(LOW, HIGH)])
}

/// Whether a literal has a place among the spaces.
fn has_place(literal: &Literal) -> bool {
    literal.test != Test::Null
}

fn drop_from(all: &mut Vec<u32>, slot: u32) {
    let place = all.iter().position(|&other| other == slot);
    all.swap_remove(place.expect("the slot is listed"));
}
