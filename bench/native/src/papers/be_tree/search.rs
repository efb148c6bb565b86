//! Matching: algorithms 1 and 2, as a loop over a stack of c-nodes.
//!
//! ```text
//!   c-node: check the l-node; for each attribute of the event in the p-directory:
//!     the bucket of = value, and every bucket on the way from the whole domain to the value
//! ```

use super::nodes::{Leaf, bit};
use super::{BeTree, Event, ROOT, Store, Variant};

impl BeTree {
    pub(super) fn find(&mut self, event: &Event, store: &Store, found: &mut Vec<u32>) {
        self.evaluation.begin(self.variant, event, store);
        let present = event.pairs.iter().fold(0, |bits, &(a, _)| bits | bit(a));
        let mut stack = std::mem::take(&mut self.stack);
        stack.push(ROOT);
        while let Some(node) = stack.pop() {
            self.push_below(node, event, &mut stack);
            // The leaf leaves the tree for a moment, since evaluation writes beside it.
            let leaf = std::mem::take(&mut self.nodes.c[node].leaf);
            self.check_leaf(&leaf, event, present, store, found);
            self.nodes.c[node].leaf = leaf;
        }
        self.stack = stack;
    }

    /// All c-nodes that an event visits.
    pub(super) fn visited(&self, event: &Event) -> Vec<u32> {
        let mut nodes = vec![ROOT];
        let mut place = 0;
        while place < nodes.len() {
            self.push_below(nodes[place], event, &mut nodes);
            place += 1;
        }
        nodes
    }

    /// The rest of algorithm 1, and algorithm 2. The smaller of event and directory is gone through.
    fn push_below(&self, node: u32, event: &Event, stack: &mut Vec<u32>) {
        let partitions = &self.nodes.c[node].partitions;
        if partitions.len() < event.pairs.len() {
            for (&attribute, &partition) in partitions {
                let value = event.value(attribute);
                if value != crate::papers::literal::MISSING {
                    self.push_buckets(partition, attribute, value, stack);
                }
            }
        } else {
            for &(attribute, value) in &event.pairs {
                if let Some(&partition) = partitions.get(&attribute) {
                    self.push_buckets(partition, attribute, value, stack);
                }
            }
        }
    }

    fn push_buckets(&self, partition: u32, attribute: u32, value: i64, stack: &mut Vec<u32>) {
        let partition = &self.nodes.p[partition];
        if let Some(&bucket) = partition.equal.get(&value) {
            stack.push(self.nodes.buckets[bucket].node);
        }
        let value = self.nodes.clamp(attribute, value);
        let mut bucket = &self.nodes.buckets[partition.top];
        loop {
            stack.push(bucket.node);
            let Some((left, right)) = bucket.children else {
                break;
            };
            let left = &self.nodes.buckets[left];
            bucket = if value <= left.high {
                left
            } else {
                &self.nodes.buckets[right]
            };
        }
    }

    #[inline]
    fn check_leaf(
        &mut self,
        leaf: &Leaf,
        event: &Event,
        present: u32,
        store: &Store,
        found: &mut Vec<u32>,
    ) {
        let evaluation = &mut self.evaluation;
        let slots = leaf.slots.iter();
        match self.variant {
            Variant::Plain => {
                let hold = |&&slot: &&u32| self.checks.hold(slot, event, &store.literals);
                found.extend(slots.filter(hold));
            }
            Variant::LazyBloom => {
                for (&slot, &signature) in slots.zip(&leaf.signatures) {
                    let mut body = store.body(slot).iter();
                    if present & signature == signature
                        && body.all(|&number| evaluation.lazily(number, event, store))
                    {
                        found.push(slot);
                    }
                }
            }
            Variant::Lazy => {
                for &slot in slots {
                    let mut body = store.body(slot).iter();
                    if body.all(|&number| evaluation.lazily(number, event, store)) {
                        found.push(slot);
                    }
                }
            }
            Variant::Bitmap => {
                for &slot in slots {
                    let mut body = store.body(slot).iter();
                    if body.all(|&n| evaluation.refers_true(evaluation.reference(n), event, store))
                    {
                        found.push(slot);
                    }
                }
            }
            _ if leaf.width == 0 => found.extend(slots),
            Variant::BitmapCc => {
                for (&slot, row) in slots.zip(leaf.block.chunks_exact(leaf.width)) {
                    if row.iter().all(|&r| evaluation.refers_true(r, event, store)) {
                        found.push(slot);
                    }
                }
            }
            Variant::BitmapBloom => {
                let rows = leaf.block.chunks_exact(leaf.width);
                for ((&slot, &signature), row) in slots.zip(&leaf.signatures).zip(rows) {
                    if present & signature == signature
                        && row.iter().all(|&r| evaluation.refers_true(r, event, store))
                    {
                        found.push(slot);
                    }
                }
            }
        }
    }
}
