//! What always holds of a BE-Tree.

use super::insert::capacity;
use super::{BeTree, NONE, ROOT, Store};

impl BeTree {
    /// Panics if something is not as it should be.
    pub(super) fn check(&self, store: &Store) {
        let (mut c, mut p, mut buckets, mut slots) = (0, 0, 0, 0);
        let mut nodes = vec![ROOT];
        while let Some(node) = nodes.pop() {
            c += 1;
            slots += self.check_leaf_of(node, store);
            for (&attribute, &partition) in &self.nodes.c[node].partitions {
                p += 1;
                let number = partition;
                let partition = &self.nodes.p[partition];
                assert_eq!((partition.attribute, partition.parent), (attribute, node));
                let mut above = self.nodes.path(node);
                let again = above.any(|p| self.nodes.p[p].attribute == attribute);
                assert!(!again, "an attribute partitions once on a path");
                for (value, &bucket) in &partition.equal {
                    let bucket = &self.nodes.buckets[bucket];
                    assert_eq!((bucket.low, bucket.high), (*value, *value));
                }
                let below = self.nodes.below(number);
                buckets += below.len();
                let mut held = 0;
                let mut inside = below.clone();
                while let Some(node) = inside.pop() {
                    held += self.nodes.c[node].leaf.slots.len();
                    let partitions = self.nodes.c[node].partitions.values();
                    inside.extend(partitions.flat_map(|&p| self.nodes.below(p)));
                }
                assert_eq!(held, partition.subsumed + partition.covered);
                assert!(held > 0, "no partition is empty");
                nodes.extend(below);
            }
        }
        assert_eq!(slots, store.count());
        let held = (
            self.nodes.c.len(),
            self.nodes.p.len(),
            self.nodes.buckets.len(),
        );
        assert_eq!(held, (c, p, buckets), "no node is lost");
    }

    fn check_leaf_of(&self, node: u32, store: &Store) -> usize {
        let c = &self.nodes.c[node];
        let count = c.leaf.slots.len();
        assert!(count <= c.cap.max(capacity(count, self.parameters.max_cap)));
        for &slot in &c.leaf.slots {
            assert_eq!(self.homes[slot as usize], node);
            assert!(self.may_stay(node, slot, store));
        }
        if c.bucket == NONE {
            return count;
        }
        let bucket = &self.nodes.buckets[c.bucket];
        if bucket.children.is_none() && !bucket.is_atomic() {
            assert!(
                c.partitions.is_empty(),
                "a leaf bucket is split before it is partitioned"
            );
        }
        let attribute = self.nodes.p[bucket.partition].attribute;
        let equal = self.nodes.p[bucket.partition]
            .equal
            .values()
            .any(|&b| b == c.bucket);
        for &slot in c.leaf.slots.iter().filter(|_| !equal) {
            let literal = Self::literal(store, slot, attribute).expect("it has the attribute");
            let interval = self.nodes.interval(literal);
            assert!(bucket.encloses(interval));
            let halves = bucket.children.into_iter().flat_map(|(l, r)| [l, r]);
            let mut halves = halves.map(|half| &self.nodes.buckets[half]);
            assert!(
                !halves.any(|half| half.encloses(interval)),
                "the smallest bucket"
            );
        }
        count
    }
}
