//! The cost model and what it drives: equations 10 to 15, recycling (section 5).
//!
//! ```text
//!   Rank = (1 − α) · Gain − α · Loss        Gain = (1 − β) · subsumed + β · covered
//!                                           Loss = discarded evaluations an event, last window
//! ```
//!
//! Matching writes nothing: the feedback comes from sampled events at the end of a window, and the
//! writer applies it. A partition below θ = 0 is dissolved and its conjunctions inserted again.

use super::{BeTree, Event, Store};

const ALPHA: f64 = 0.5;
const THETA: f64 = 0.0;
/// Sampled events of a window.
const WINDOW: usize = 64;

/// Equation 15, from the observed share of false candidates.
pub fn beta(false_candidates: f64) -> f64 {
    0.5 - false_candidates / 2.0
}

impl BeTree {
    /// Equation 10 for a p-node.
    pub(super) fn score(&self, partition: u32) -> f64 {
        let partition = &self.nodes.p[partition];
        let (subsumed, covered) = (partition.subsumed as f64, partition.covered as f64);
        let gain = (1.0 - self.beta) * subsumed + self.beta * covered;
        (1.0 - ALPHA) * gain - ALPHA * partition.loss
    }

    /// The end of a window: take the loss of each partition from the events, then recycle.
    pub(super) fn recycle(&mut self, events: &[Event], store: &Store) {
        let events = &events[..events.len().min(WINDOW)];
        if events.is_empty() {
            return;
        }
        let (losses, failed) = self.discarded(events, store);
        self.beta = beta(failed);
        let mut poor = Vec::new();
        for (partition, loss) in losses {
            self.nodes.p[partition].loss = loss / events.len() as f64;
            if self.score(partition) < THETA {
                poor.push(partition);
            }
        }
        let is_poor = |partition: &u32| poor.contains(partition);
        let nested = |&p: &u32| {
            self.nodes
                .path(self.nodes.p[p].parent)
                .any(|above| is_poor(&above))
        };
        let topmost: Vec<u32> = poor.iter().copied().filter(|p| !nested(p)).collect();
        let freed: Vec<u32> = topmost
            .into_iter()
            .flat_map(|p| self.dissolve(p, store))
            .collect();
        for slot in freed {
            let node = self.insert(slot, store);
            self.cut(node, store);
        }
    }

    /// Discarded predicate evaluations below each partition, and the share of false candidates.
    fn discarded(&mut self, events: &[Event], store: &Store) -> (Vec<(u32, f64)>, f64) {
        let mut losses = rustc_hash::FxHashMap::default();
        let (mut candidates, mut failures) = (0, 0);
        for event in events {
            for node in self.visited(event) {
                let mut wasted = 0;
                for &slot in &self.nodes.c[node].leaf.slots {
                    let mut literals = store.literals_of(slot);
                    candidates += 1;
                    if let Some(place) = literals.position(|literal| !literal.holds(event)) {
                        failures += 1;
                        wasted += place + 1;
                    }
                }
                for partition in self.nodes.path(node) {
                    *losses.entry(partition).or_default() += wasted as f64;
                }
            }
        }
        let mut losses: Vec<(u32, f64)> = losses.into_iter().collect();
        losses.sort_unstable_by_key(|&(partition, _)| partition);
        (losses, f64::from(failures) / f64::from(candidates.max(1)))
    }

    /// Remove a partition with all that is below, and return the conjunctions.
    fn dissolve(&mut self, partition: u32, store: &Store) -> Vec<u32> {
        let mut freed = Vec::new();
        let mut partitions = vec![partition];
        let (parent, attribute) = {
            let p = &self.nodes.p[partition];
            (p.parent, p.attribute)
        };
        let mut place = 0;
        while place < partitions.len() {
            for node in self.nodes.below(partitions[place]) {
                partitions.extend(self.nodes.c[node].partitions.values());
                freed.extend(&self.nodes.c[node].leaf.slots);
            }
            place += 1;
        }
        for &slot in &freed {
            self.take(slot, store);
        }
        for partition in partitions {
            for node in self.nodes.below(partition) {
                let bucket = self.nodes.c[node].bucket;
                self.nodes.free_bucket(bucket);
            }
            self.nodes.p.free(partition);
        }
        self.nodes.c[parent].partitions.remove(&attribute);
        self.nodes.c[parent].barred = attribute;
        freed
    }

    pub(super) fn lay_out_leaves(&mut self, store: &Store) {
        let mut nodes: Vec<u32> = store
            .slots()
            .map(|slot| self.homes[slot as usize])
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            self.lay_out(node, store);
        }
    }
}
