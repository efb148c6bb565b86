//! The nodes (section 4.1), and the leaves of sections 6.1 and 6.2.
//!
//! ```text
//!   l-node   slots       │ 7 │ 12 │ 30 │
//!            signatures  │ 0…1010 │ …          Bloom: one bit for each attribute, by its hash
//!            block       │ r r r │ r r 0 │ …   bitmap-CC: references to bits, one row a slot, as
//!                                              wide as the longest; reference 0 is always true
//! ```

use rustc_hash::FxHashMap;

use super::Variant;
use super::evaluation::Evaluation;
use crate::papers::literal::{Literal, Test};
use crate::papers::pool::Pool;
use crate::papers::store::Store;

pub const NONE: u32 = u32::MAX;
pub const ROOT: u32 = 0;

#[derive(Default)]
pub struct Leaf {
    pub slots: Vec<u32>,
    pub signatures: Vec<u32>,
    pub block: Vec<u32>,
    pub width: usize,
}

pub struct CNode {
    pub leaf: Leaf,
    pub cap: usize,
    /// The p-directory: attribute to p-node.
    pub partitions: FxHashMap<u32, u32>,
    /// The bucket that it belongs to; none for the root.
    pub bucket: u32,
    /// The attribute whose partition was recycled last; it is not chosen again at once.
    pub barred: u32,
}

pub struct PNode {
    pub attribute: u32,
    /// The c-node whose directory it is in.
    pub parent: u32,
    /// The bucket of the whole domain.
    pub top: u32,
    /// Buckets of equalities, in a hybrid directory.
    pub equal: FxHashMap<i64, u32>,
    /// Conjunctions below whose predicate a bucket answers, and those where it only covers.
    pub subsumed: usize,
    pub covered: usize,
    /// Discarded predicate evaluations an event, over the last window.
    pub loss: f64,
}

pub struct Bucket {
    pub low: i64,
    pub high: i64,
    pub node: u32,
    pub children: Option<(u32, u32)>,
    /// The bucket that it is a half of.
    pub parent: u32,
    pub partition: u32,
}

impl Bucket {
    pub fn encloses(&self, (low, high): (i64, i64)) -> bool {
        self.low <= low && high <= self.high
    }

    pub fn is_atomic(&self) -> bool {
        self.low == self.high
    }
}

pub struct Nodes {
    pub c: Pool<CNode>,
    pub p: Pool<PNode>,
    pub buckets: Pool<Bucket>,
    domains: Vec<(i64, i64)>,
    max_cap: usize,
}

impl Nodes {
    pub fn new(max_cap: usize, attributes: usize) -> Self {
        let mut nodes = Nodes {
            c: Pool::default(),
            p: Pool::default(),
            buckets: Pool::default(),
            domains: vec![(i64::MAX, i64::MIN); attributes],
            max_cap,
        };
        nodes.new_c(NONE);
        nodes
    }

    fn new_c(&mut self, bucket: u32) -> u32 {
        self.c.add(CNode {
            leaf: Leaf::default(),
            cap: self.max_cap,
            partitions: FxHashMap::default(),
            bucket,
            barred: NONE,
        })
    }

    pub fn new_bucket(&mut self, low: i64, high: i64, parent: u32, partition: u32) -> u32 {
        let bucket = self.buckets.add(Bucket {
            low,
            high,
            node: NONE,
            children: None,
            parent,
            partition,
        });
        self.buckets[bucket].node = self.new_c(bucket);
        bucket
    }

    /// A p-node in the directory of a c-node.
    pub fn new_p(&mut self, attribute: u32, parent: u32) -> u32 {
        let number = self.p.add(PNode {
            attribute,
            parent,
            top: NONE,
            equal: FxHashMap::default(),
            subsumed: 0,
            covered: 0,
            loss: 0.0,
        });
        let (low, high) = self.domain(attribute);
        self.p[number].top = self.new_bucket(low, high, NONE, number);
        self.c[parent].partitions.insert(attribute, number);
        number
    }

    pub fn free_bucket(&mut self, bucket: u32) {
        let node = self.buckets[bucket].node;
        self.c[node].leaf = Leaf::default();
        self.c.free(node);
        self.buckets.free(bucket);
    }

    pub fn widen(&mut self, attribute: u32, value: i64) {
        let (low, high) = &mut self.domains[attribute as usize];
        (*low, *high) = ((*low).min(value), (*high).max(value));
    }

    /// The domain of an attribute; one value for an attribute that no event has shown.
    pub fn domain(&self, attribute: u32) -> (i64, i64) {
        match self.domains[attribute as usize] {
            (low, high) if low <= high => (low, high),
            _ => (0, 0),
        }
    }

    pub fn clamp(&self, attribute: u32, value: i64) -> i64 {
        let (low, high) = self.domain(attribute);
        value.clamp(low, high)
    }

    pub fn interval(&self, literal: &Literal) -> (i64, i64) {
        let (low, high) = literal.interval().unwrap_or((i64::MIN, i64::MAX));
        let attribute = literal.attribute;
        (self.clamp(attribute, low), self.clamp(attribute, high))
    }

    /// The p-nodes above a c-node, nearest first.
    pub fn path(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut node = node;
        std::iter::from_fn(move || {
            let bucket = self.c[node].bucket;
            if bucket == NONE {
                return None;
            }
            let partition = self.buckets[bucket].partition;
            node = self.p[partition].parent;
            Some(partition)
        })
    }

    /// The c-nodes below a partition.
    pub fn below(&self, partition: u32) -> Vec<u32> {
        let partition = &self.p[partition];
        let mut buckets = vec![partition.top];
        buckets.extend(partition.equal.values());
        let mut found = Vec::new();
        while let Some(bucket) = buckets.pop() {
            let bucket = &self.buckets[bucket];
            buckets.extend(bucket.children.iter().flat_map(|&(l, r)| [l, r]));
            found.push(bucket.node);
        }
        found
    }
}

impl Leaf {
    /// Recompute what the variant keeps beside the slots.
    pub fn lay_out(&mut self, variant: Variant, evaluation: &Evaluation, store: &Store) {
        let slots = std::mem::take(&mut self.slots);
        *self = Leaf::default();
        if variant.has_blocks() {
            let widths = slots.iter().map(|&slot| store.body(slot).len());
            self.width = widths.max().unwrap_or(0);
        }
        for slot in slots {
            self.push(slot, variant, evaluation, store);
        }
    }

    pub fn push(&mut self, slot: u32, variant: Variant, evaluation: &Evaluation, store: &Store) {
        self.slots.push(slot);
        if variant.has_signatures() {
            self.signatures.push(signature(store.literals_of(slot)));
        }
        if variant.has_blocks() {
            let body = store.body(slot);
            if body.len() > self.width {
                return self.lay_out(variant, evaluation, store);
            }
            let row = self.block.len() + self.width;
            let references = body.iter().map(|&n| evaluation.reference(n));
            self.block.extend(references);
            self.block.resize(row, 0);
        }
    }

    pub fn swap_remove(&mut self, place: usize) {
        self.slots.swap_remove(place);
        if !self.signatures.is_empty() {
            self.signatures.swap_remove(place);
        }
        if !self.block.is_empty() {
            let last = self.block.len() - self.width;
            self.block.copy_within(last.., place * self.width);
            self.block.truncate(last);
        }
    }
}

/// The Bloom signature of the attributes that must be present (equation 21; the bit is 1 << h).
pub fn signature<'l>(literals: impl Iterator<Item = &'l Literal>) -> u32 {
    literals
        .filter(|literal| literal.test != Test::Null)
        .fold(0, |bits, literal| bits | bit(literal.attribute))
}

/// The bit of an attribute, by the hash function of sdbm over its number.
pub fn bit(attribute: u32) -> u32 {
    let bytes = attribute.to_le_bytes();
    let hash = bytes.iter().fold(0u32, |hash, &byte| {
        u32::from(byte)
            .wrapping_add(hash << 6)
            .wrapping_add(hash << 16)
            .wrapping_sub(hash)
    });
    1 << (hash % 32)
}
