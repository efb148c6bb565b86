//! Matching: algorithm 24 with both optimisations of section 9.3.3.
//!
//! ```text
//!   satisfied predicates ─► queue of level 1 ─► … ─► queue of the highest level
//!   a node from a queue: an `or` is true; an `and` looks its other children up, whose level is
//!   lower, so that they are decided; a true node enters its parents into their queues
//! ```
//!
//! The results are not cleaned up between events: each carries the number of its event.

use super::{ATree, Event, Kind};

#[derive(Default)]
pub struct State {
    event: u32,
    /// By node: the last event that made it true, and that queued it.
    is_true: Vec<u32>,
    queued: Vec<u32>,
    queues: Vec<Vec<u32>>,
    slots: Vec<u32>,
    marks: Vec<u64>,
    /// The leaf of each literal that is satisfied.
    leaves: Vec<u32>,
}

#[cfg(test)]
impl State {
    /// Nodes that the last event made true.
    pub fn satisfied(&self) -> usize {
        self.is_true
            .iter()
            .filter(|&&event| event == self.event)
            .count()
    }
}

impl ATree {
    pub(super) fn find(&mut self, event: &Event, found: &mut Vec<u64>) {
        let state = &mut self.search;
        state.event += 1;
        let now = state.event;
        let bound = self.nodes.bound();
        state.is_true.resize(bound, 0);
        state.queued.resize(bound, 0);
        state.slots.clear();
        state.slots.extend(&self.always);
        state.leaves.clear();
        let leaf_of = &self.leaf_of;
        let leaves = &mut state.leaves;
        self.predicates.satisfied(event, &self.literals, |number| {
            leaves.push(leaf_of[number as usize]);
        });
        if state.queues.is_empty() {
            state.queues.push(Vec::new());
        }
        std::mem::swap(&mut state.queues[0], &mut state.leaves);
        let mut level = 0;
        while level < state.queues.len() {
            let queue = std::mem::take(&mut state.queues[level]);
            for &node in &queue {
                let held = &self.nodes[node];
                let is_true = |child: &u32| state.is_true[*child as usize] == now;
                if held.kind == Kind::And && !held.children.iter().all(is_true) {
                    continue;
                }
                state.is_true[node as usize] = now;
                state.slots.extend(&held.slots);
                for &parent in &held.entered {
                    if state.queued[parent as usize] != now {
                        state.queued[parent as usize] = now;
                        let level = self.nodes[parent].level as usize - 1;
                        if state.queues.len() <= level {
                            state.queues.resize_with(level + 1, Vec::new);
                        }
                        state.queues[level].push(parent);
                    }
                }
            }
            state.queues[level] = queue;
            state.queues[level].clear();
            level += 1;
        }
        self.ids.sorted(&state.slots, &mut state.marks, found);
    }
}
