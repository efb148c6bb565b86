//! BE-Tree (Sadoghi and Jacobsen, TODS 2013): the space is cut twice, by attribute and by value.
//!
//! ```text
//!   c-node ─ l-node  S2 S9                     conjunctions that no partition took
//!      └─ p-directory ─ p-node country ─ = 'US' ──► c-node ─ l-node …
//!                     └ p-node age ─ [0, 99] ─────► c-node ─ l-node S1    wider than a half
//!                                   ├ [0, 49] ────► c-node …
//!                                   └ [50, 99] ───► c-node …
//! ```
//!
//! | section of the paper | file |
//! |---|---|
//! | 4.2 partitioning, 4.3 clustering, 4.4 hybrid directory; 7.2 algorithms 3 to 6 | `insert.rs` |
//! | 8.5 equality ranking (Hy-R), which the paper has on in all its experiments | `choose.rs` |
//! | 4.2 and 4.3 removal, merge rule | `remove.rs` |
//! | 5 ranking, recycling, reinsertion, exploration | `rank.rs` |
//! | 6.1 lazy and bitmap evaluation | `evaluation.rs` |
//! | 6.1 cache-conscious leaves, 6.2 Bloom filter | `nodes.rs` |
//! | 7.1 algorithms 1 and 2 | `search.rs` |
//!
//! Invariant: every conjunction lies in the smallest bucket that encloses it, and the c-node of a
//! non-atomic leaf bucket is never partitioned.

mod choose;
mod evaluation;
mod insert;
mod invariants;
mod nodes;
mod rank;
mod remove;
mod search;
#[cfg(test)]
mod tests;

use super::checks::Checks;
use super::engine::Index;
use super::literal::{Event, Literal};
use super::pool::Chance;
use super::store::Store;
use evaluation::Evaluation;
use nodes::{NONE, Nodes, ROOT};
pub use rank::beta;

/// How the predicates of candidates are evaluated (section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    Plain,
    Lazy,
    Bitmap,
    /// Bitmap, with leaves as two-dimensional arrays of bit references.
    BitmapCc,
    /// Lazy, behind a Bloom filter of attributes.
    LazyBloom,
    /// Bitmap-CC, behind a Bloom filter of attributes.
    BitmapBloom,
}

impl Variant {
    fn has_rows(self) -> bool {
        matches!(
            self,
            Variant::Bitmap | Variant::BitmapCc | Variant::BitmapBloom
        )
    }

    fn has_blocks(self) -> bool {
        matches!(self, Variant::BitmapCc | Variant::BitmapBloom)
    }

    fn has_signatures(self) -> bool {
        matches!(self, Variant::LazyBloom | Variant::BitmapBloom)
    }
}

/// Section 8.5 has the values that the paper found best.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Capacity of an l-node: 5, 20 or 160 for a match probability below 1 %, 10 %, above.
    pub max_cap: usize,
    pub min_size: usize,
    /// Share of an overflowing l-node that is inserted again.
    pub reinsert: f64,
    /// How often an insert takes a random partition instead of the best.
    pub explore: f64,
    /// Whether partitions with a rank below θ are recycled at the end of a window.
    pub recycle: bool,
    /// Equalities by hash, the rest by halving.
    pub hybrid: bool,
    /// Whether all equalities of a conjunction are used before its other predicates.
    pub equalities_first: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            max_cap: 20,
            min_size: 3,
            reinsert: 0.0,
            explore: 0.0,
            recycle: false,
            hybrid: true,
            equalities_first: true,
        }
    }
}

impl Parameters {
    /// With the policies of section 5.2, which the paper has on in its dynamic experiments alone.
    pub fn adaptive() -> Self {
        Parameters {
            reinsert: 0.05,
            explore: 0.01,
            recycle: true,
            ..Parameters::default()
        }
    }
}

pub struct BeTree {
    parameters: Parameters,
    variant: Variant,
    nodes: Nodes,
    /// The c-node of each slot.
    homes: Vec<u32>,
    /// What the plain variant verifies a slot by; the others go by bits.
    checks: Checks,
    evaluation: Evaluation,
    beta: f64,
    chance: Chance,
    stack: Vec<u32>,
}

impl BeTree {
    pub fn new(variant: Variant, parameters: Parameters, attributes: usize) -> Self {
        BeTree {
            parameters,
            variant,
            nodes: Nodes::new(parameters.max_cap, attributes),
            homes: Vec::new(),
            checks: Checks::default(),
            evaluation: Evaluation::default(),
            beta: 0.5,
            chance: Chance::new(1),
            stack: Vec::new(),
        }
    }

    /// The literal that decides where a conjunction goes below a partition by `attribute`. Where
    /// an attribute repeats it is the first; `is null` never partitions.
    fn literal(store: &Store, slot: u32, attribute: u32) -> Option<&Literal> {
        let mut literals = store.literals_of(slot);
        literals.find(|literal| literal.attribute == attribute && literal.interval().is_some())
    }
}

impl Index for BeTree {
    /// The domain of an attribute is what the events show of it; what lies outside counts as the
    /// nearest value inside.
    fn learn(&mut self, events: &[Event]) {
        for event in events {
            for &(attribute, value) in &event.pairs {
                self.nodes.widen(attribute, value);
            }
        }
    }

    fn add(&mut self, slot: u32, store: &Store) {
        for &number in store.body(slot) {
            if store.literals.uses(number) == 1 {
                self.evaluation.forget(number);
            }
        }
        if self.variant == Variant::Plain {
            let body = store.body(slot).iter().copied();
            self.checks.fill(slot, body, &store.literals);
        }
        let node = self.insert(slot, store);
        self.reinsert(node, store);
    }

    fn remove(&mut self, slot: u32, store: &Store) {
        let node = self.homes[slot as usize];
        self.take(slot, store);
        if self.variant == Variant::Plain {
            self.checks.empty(slot);
        }
        self.shrink(node, store);
    }

    fn maintain(&mut self, events: &[Event], store: &Store) {
        if self.parameters.recycle {
            self.recycle(events, store);
        }
        if self.variant.has_rows() {
            self.evaluation.build(store);
            self.lay_out_leaves(store);
        }
    }

    fn search(&mut self, event: &Event, store: &Store, found: &mut Vec<u32>) {
        self.find(event, store, found);
    }

    fn check_invariants(&self, store: &Store) {
        self.check(store);
    }

    fn size(&self) -> usize {
        self.nodes.c.len() - 1 + self.nodes.p.len() + self.nodes.buckets.len()
    }
}
