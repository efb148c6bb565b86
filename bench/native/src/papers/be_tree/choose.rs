//! Which attribute next? By score among the partitions that there are, by popularity for a new one
//! (Loss = 0, the paper's optimistic choice in section 5.1).
//!
//! ```text
//!   S: a = 5, b in [1, 9], c = 7      equalities first: S waits for a partition by a or c, and goes
//!                                     by b only when its leaf overflows and no equality is popular
//! ```
//!
//! Equality ranking (Hy-R, section 8.5): "all subscriptions' equality predicates are first consumed …
//! before consuming nonequality predicates". The paper uses it in all experiments.

use rustc_hash::FxHashMap;

use super::{BeTree, Store};
use crate::papers::literal::Literal;

impl BeTree {
    /// The literals of a conjunction that may still partition, given the attributes on its path:
    /// its equalities, if there are any and they come first, or all.
    fn open<'s>(&self, slot: u32, used: &[u32], store: &'s Store) -> Vec<&'s Literal> {
        let is_open = |l: &&Literal| l.interval().is_some() && !used.contains(&l.attribute);
        let mut open: Vec<&Literal> = store.literals_of(slot).filter(is_open).collect();
        let is_equality = |l: &&Literal| l.equality().is_some();
        if self.parameters.equalities_first && open.iter().any(is_equality) {
            open.retain(is_equality);
        }
        open
    }

    /// The partition of a c-node with the best score among the conjunction's open attributes; now
    /// and then another one (section 5.2).
    pub(super) fn partition_for(
        &mut self,
        node: u32,
        slot: u32,
        used: &[u32],
        store: &Store,
    ) -> Option<u32> {
        let partitions = &self.nodes.c[node].partitions;
        if partitions.is_empty() {
            return None;
        }
        let open = self.open(slot, used, store).into_iter();
        let found: Vec<u32> = open
            .filter_map(|literal| partitions.get(&literal.attribute).copied())
            .collect();
        if !found.is_empty() && self.chance.happens(self.parameters.explore) {
            return Some(found[self.chance.below(found.len())]);
        }
        let score = |&partition: &u32| self.score(partition);
        found
            .into_iter()
            .max_by(|one, other| score(one).total_cmp(&score(other)).then(other.cmp(one)))
    }

    /// The attribute that most conjunctions of a leaf are open to, with those conjunctions; and if
    /// it is in fewer than `min_size`, the one that most have at all. None if that is too few.
    pub(super) fn next_attribute(&self, node: u32, store: &Store) -> Option<(u32, Vec<u32>)> {
        let above = self.nodes.path(node).map(|p| self.nodes.p[p].attribute);
        let mut used: Vec<u32> = above.collect();
        let path = used.len();
        used.push(self.nodes.c[node].barred);
        let slots = &self.nodes.c[node].leaf.slots;
        let open = |slot: u32| self.open(slot, &used[..path], store);
        let any = |slot: u32| -> Vec<&Literal> {
            let literals = store.literals_of(slot);
            literals.filter(|l| l.interval().is_some()).collect()
        };
        let of = |literals: Vec<&Literal>| -> Vec<u32> {
            let mut attributes: Vec<u32> = literals.iter().map(|l| l.attribute).collect();
            attributes.retain(|attribute| !used.contains(attribute));
            attributes.sort_unstable();
            attributes.dedup();
            attributes
        };
        let best = |literals: &dyn Fn(u32) -> Vec<u32>| -> Option<(u32, Vec<u32>)> {
            let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
            for attribute in slots.iter().flat_map(|&slot| literals(slot)) {
                *counts.entry(attribute).or_default() += 1;
            }
            let popular = counts
                .into_iter()
                .filter(|&(_, count)| count >= self.parameters.min_size);
            let (attribute, _) =
                popular.max_by_key(|&(attribute, count)| (count, std::cmp::Reverse(attribute)))?;
            let has = |&slot: &u32| literals(slot).contains(&attribute);
            Some((attribute, slots.iter().copied().filter(has).collect()))
        };
        best(&|slot| of(open(slot))).or_else(|| {
            let is_useful = self.parameters.equalities_first;
            is_useful.then(|| best(&|slot| of(any(slot)))).flatten()
        })
    }

    /// Whether a conjunction may stay in the leaf of a c-node: no partition there is for one of its
    /// open attributes.
    pub(super) fn may_stay(&self, node: u32, slot: u32, store: &Store) -> bool {
        let above = self.nodes.path(node).map(|p| self.nodes.p[p].attribute);
        let used: Vec<u32> = above.collect();
        let partitions = &self.nodes.c[node].partitions;
        let mut open = self.open(slot, &used, store).into_iter();
        !open.any(|literal| partitions.contains_key(&literal.attribute))
    }
}
