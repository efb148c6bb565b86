//! Insertion and the two phases of cutting: algorithms 3 to 6.
//!
//! ```text
//!   insert ─ best partition at each level ─► l-node ─ overflow ─► reinsert a few, then
//!     root:   partition: the attribute of `choose.rs` ─► p-node, cluster
//!     bucket: cluster: halve, move what is enclosed ─► partition what stays, cluster the halves
//! ```
//!
//! Errata: the halves are [low, mid] and [mid + 1, high]; algorithm 5 ends when no attribute is in
//! `min_size` conjunctions.

use super::{BeTree, NONE, ROOT, Store};

impl BeTree {
    /// Algorithm 3, without what follows an overflow. Returns the c-node.
    pub(super) fn insert(&mut self, slot: u32, store: &Store) -> u32 {
        let mut node = ROOT;
        let mut used = Vec::new();
        while let Some(partition) = self.partition_for(node, slot, &used, store) {
            used.push(self.nodes.p[partition].attribute);
            let bucket = self.descend(partition, slot, store);
            node = self.nodes.buckets[bucket].node;
        }
        self.put(node, slot, store);
        node
    }

    /// Algorithm 4: the smallest bucket that encloses the conjunction. An equality gets a bucket of
    /// its own in a hybrid directory.
    fn descend(&mut self, partition: u32, slot: u32, store: &Store) -> u32 {
        let attribute = self.nodes.p[partition].attribute;
        let Some(literal) = Self::literal(store, slot, attribute) else {
            return self.nodes.p[partition].top;
        };
        if let (true, Some(value)) = (self.parameters.hybrid, literal.equality()) {
            if let Some(&bucket) = self.nodes.p[partition].equal.get(&value) {
                return bucket;
            }
            let bucket = self.nodes.new_bucket(value, value, NONE, partition);
            self.nodes.p[partition].equal.insert(value, bucket);
            return bucket;
        }
        let interval = self.nodes.interval(literal);
        let mut bucket = self.nodes.p[partition].top;
        while let Some((left, right)) = self.nodes.buckets[bucket].children {
            bucket = if self.nodes.buckets[left].encloses(interval) {
                left
            } else if self.nodes.buckets[right].encloses(interval) {
                right
            } else {
                break;
            };
        }
        bucket
    }

    /// Put a slot into a leaf, and count it in the partitions above.
    fn put(&mut self, node: u32, slot: u32, store: &Store) {
        if self.homes.len() <= slot as usize {
            self.homes.resize(slot as usize + 1, NONE);
        }
        self.homes[slot as usize] = node;
        let leaf = &mut self.nodes.c[node].leaf;
        leaf.push(slot, self.variant, &self.evaluation, store);
        self.count(node, slot, store, 1);
    }

    /// Take a slot out of its leaf and of the counts.
    pub(super) fn take(&mut self, slot: u32, store: &Store) {
        let node = std::mem::replace(&mut self.homes[slot as usize], NONE);
        let leaf = &mut self.nodes.c[node].leaf;
        let place = leaf.slots.iter().position(|&other| other == slot);
        leaf.swap_remove(place.expect("a slot is in its home"));
        self.count(node, slot, store, usize::MAX);
    }

    /// Add 1, or as a wrapping addition −1, in every partition above a c-node.
    fn count(&mut self, node: u32, slot: u32, store: &Store, change: usize) {
        let path: Vec<u32> = self.nodes.path(node).collect();
        for partition in path {
            let partition = &mut self.nodes.p[partition];
            let literal = Self::literal(store, slot, partition.attribute);
            let counter = if literal.is_some_and(|literal| literal.equality().is_some()) {
                &mut partition.subsumed
            } else {
                &mut partition.covered
            };
            *counter = counter.wrapping_add(change);
        }
    }

    pub(super) fn lay_out(&mut self, node: u32, store: &Store) {
        let leaf = &mut self.nodes.c[node].leaf;
        leaf.lay_out(self.variant, &self.evaluation, store);
    }

    /// What follows an insert into a leaf: if it overflows, some of it is inserted again, once, and
    /// then the space is cut.
    pub(super) fn reinsert(&mut self, node: u32, store: &Store) {
        if !self.overflows(node) {
            return;
        }
        let count = self.nodes.c[node].leaf.slots.len();
        let mut again = Vec::new();
        for _ in 0..(count as f64 * self.parameters.reinsert) as usize {
            let slots = &self.nodes.c[node].leaf.slots;
            let slot = slots[self.chance.below(slots.len())];
            self.take(slot, store);
            again.push(slot);
        }
        let mut touched = vec![node];
        touched.extend(again.into_iter().map(|slot| self.insert(slot, store)));
        for node in touched {
            self.cut(node, store);
        }
    }

    fn overflows(&self, node: u32) -> bool {
        self.nodes.c[node].leaf.slots.len() > self.nodes.c[node].cap
    }

    /// Lines 14 to 17 of algorithm 3.
    pub(super) fn cut(&mut self, node: u32, store: &Store) {
        if self.overflows(node) {
            match self.nodes.c[node].bucket {
                NONE => self.partition(node, store),
                bucket => self.cluster(bucket, store),
            }
        }
    }

    /// Algorithm 5.
    fn partition(&mut self, node: u32, store: &Store) {
        while self.overflows(node) {
            let Some((attribute, moved)) = self.next_attribute(node, store) else {
                break;
            };
            let existing = self.nodes.c[node].partitions.get(&attribute).copied();
            let partition = existing.unwrap_or_else(|| self.nodes.new_p(attribute, node));
            // Both are in the order of the leaf.
            let mut going = moved.iter().peekable();
            let leaf = &mut self.nodes.c[node].leaf.slots;
            leaf.retain(|slot| going.next_if_eq(&slot).is_none());
            self.lay_out(node, store);
            for slot in moved {
                let bucket = self.descend(partition, slot, store);
                let below = self.nodes.buckets[bucket].node;
                self.count(node, slot, store, usize::MAX); // `put` counts it there and above
                self.put(below, slot, store);
            }
            for below in self.nodes.below(partition) {
                self.cut(below, store);
            }
        }
        self.set_capacity(node);
    }

    /// Equation 9.
    pub(super) fn set_capacity(&mut self, node: u32) {
        let max = self.parameters.max_cap;
        self.nodes.c[node].cap = capacity(self.nodes.c[node].leaf.slots.len(), max);
    }

    /// Algorithm 6.
    fn cluster(&mut self, bucket: u32, store: &Store) {
        let node = self.nodes.buckets[bucket].node;
        if !self.overflows(node) {
            return;
        }
        let &super::nodes::Bucket {
            low,
            high,
            partition,
            children,
            ..
        } = &self.nodes.buckets[bucket];
        if children.is_some() || low == high {
            return self.partition(node, store);
        }
        let middle = ((i128::from(low) + i128::from(high)).div_euclid(2)) as i64;
        let left = self.nodes.new_bucket(low, middle, bucket, partition);
        let right = self.nodes.new_bucket(middle + 1, high, bucket, partition);
        self.nodes.buckets[bucket].children = Some((left, right));
        for slot in std::mem::take(&mut self.nodes.c[node].leaf.slots) {
            let attribute = self.nodes.p[partition].attribute;
            let literal = Self::literal(store, slot, attribute);
            let interval = literal.map(|literal| self.nodes.interval(literal));
            let holds =
                |bucket: u32| interval.is_some_and(|i| self.nodes.buckets[bucket].encloses(i));
            let to = [left, right].into_iter().find(|&half| holds(half));
            let below = self.nodes.buckets[to.unwrap_or(bucket)].node;
            self.homes[slot as usize] = below;
            self.nodes.c[below].leaf.slots.push(slot);
        }
        for each in [
            node,
            self.nodes.buckets[left].node,
            self.nodes.buckets[right].node,
        ] {
            self.lay_out(each, store);
        }
        self.partition(node, store);
        self.cluster(left, store);
        self.cluster(right, store);
        self.set_capacity(node);
    }
}

/// Equation 9: the capacity of a leaf after a partitioning.
pub(super) fn capacity(count: usize, max_cap: usize) -> usize {
    count.div_ceil(max_cap).max(1) * max_cap
}
