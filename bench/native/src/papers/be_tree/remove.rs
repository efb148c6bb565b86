//! Removal: empty nodes go, and underflowing buckets merge (end of section 4.2, rule 3 of 4.3).
//!
//! ```text
//!   [0, 49] ── [0, 24]  S1        [0, 49]  S1 S2     if [0, 49] is unpartitioned and all of it
//!           └─ [25, 49] S2   ─►                      fits into half a leaf
//! ```

use super::{BeTree, NONE, Store};

impl BeTree {
    /// Tidy up around a c-node that has just lost a slot.
    pub(super) fn shrink(&mut self, node: u32, store: &Store) {
        self.set_capacity(node);
        self.merge(node, store);
        let bucket = self.nodes.c[node].bucket;
        if bucket == NONE {
            return;
        }
        let (parent, partition) = {
            let bucket = &self.nodes.buckets[bucket];
            (bucket.parent, bucket.partition)
        };
        if parent != NONE {
            let above = self.nodes.buckets[parent].node;
            if self.merge(above, store) {
                self.shrink(above, store);
            }
            return;
        }
        if !self.is_empty(node) {
            return;
        }
        let top = self.nodes.p[partition].top;
        if bucket != top {
            let value = self.nodes.buckets[bucket].low;
            self.nodes.p[partition].equal.remove(&value);
            self.nodes.free_bucket(bucket);
        }
        if self.nodes.p[partition].equal.is_empty() && self.is_empty(self.nodes.buckets[top].node) {
            let above = self.nodes.p[partition].parent;
            let attribute = self.nodes.p[partition].attribute;
            self.nodes.c[above].partitions.remove(&attribute);
            self.nodes.free_bucket(top);
            self.nodes.p.free(partition);
            self.shrink(above, store);
        }
    }

    /// Merge the halves of a bucket into it, if they are leaves, nothing is partitioned, and all
    /// fits into half the capacity. Returns whether it did.
    fn merge(&mut self, node: u32, store: &Store) -> bool {
        let bucket = self.nodes.c[node].bucket;
        let halves = (bucket != NONE).then(|| self.nodes.buckets[bucket].children);
        let Some(Some((left, right))) = halves else {
            return false;
        };
        let all = [left, right].map(|half| self.nodes.buckets[half].node);
        let open = |&node: &u32| self.nodes.c[node].partitions.is_empty();
        let leaf = |&half: &u32| self.nodes.buckets[half].children.is_none();
        let counts = all.iter().chain([&node]);
        let total: usize = counts.map(|&n| self.nodes.c[n].leaf.slots.len()).sum();
        let fits = total <= self.parameters.max_cap / 2;
        if !(fits && open(&node) && all.iter().all(open) && [left, right].iter().all(leaf)) {
            return false;
        }
        for (half, from) in [left, right].into_iter().zip(all) {
            for slot in std::mem::take(&mut self.nodes.c[from].leaf.slots) {
                self.homes[slot as usize] = node;
                self.nodes.c[node].leaf.slots.push(slot);
            }
            self.nodes.free_bucket(half);
        }
        self.nodes.buckets[bucket].children = None;
        self.lay_out(node, store);
        true
    }

    fn is_empty(&self, node: u32) -> bool {
        let c = &self.nodes.c[node];
        let whole = c.bucket == NONE || self.nodes.buckets[c.bucket].children.is_none();
        c.leaf.slots.is_empty() && c.partitions.is_empty() && whole
    }
}
