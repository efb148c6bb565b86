//! PSTBloom (chapter 7): one access predicate, and a signature that prunes by all others.
//!
//! ```text
//!   S1: {a < −5, b in [1, 5]}, entered by b
//!   tree of b, leaf [1, 5]      slots │ S1 │
//!   tree of a, leaf [LOW, −6]   signature ∋ S1
//! ```
//!
//! A plain Bloom filter cannot forget, so a byte for each of its bits counts, beside the bits, which
//! alone are read by a match; it stays at 255 once it is there. Algorithm 14 does not say so, but a
//! conjunction is rejected when the event lacks one of its attributes.

use super::{Forest, Selectivity, drop_from, has_place};
use crate::papers::checks::Checks;
use crate::papers::engine::Index;
use crate::papers::literal::{Event, Literal};
use crate::papers::store::Store;

const NONE: u32 = u32::MAX;

#[derive(Clone, Default)]
struct Leaf {
    /// Conjunctions whose access predicate covers the space.
    slots: Vec<u32>,
    /// The Bloom filter of those with another predicate that covers it: one bit for each.
    signature: Vec<u64>,
    /// How many have set each bit.
    counts: Vec<u8>,
}

impl Leaf {
    fn sign(&mut self, bit: usize, width: usize) {
        self.signature.resize(width / 64, 0);
        self.counts.resize(width, 0);
        self.counts[bit] = self.counts[bit].saturating_add(1);
        self.signature[bit / 64] |= 1 << (bit % 64);
    }

    fn unsign(&mut self, bit: usize) {
        if self.counts[bit] < u8::MAX {
            self.counts[bit] -= 1;
        }
        if self.counts[bit] == 0 {
            self.signature[bit / 64] &= !(1 << (bit % 64));
        }
    }
}

#[inline]
fn is_signed(signature: &[u64], bit: usize) -> bool {
    let word = signature.get(bit / 64);
    word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

pub struct PstBloom {
    forest: Forest<Leaf>,
    selectivity: Selectivity,
    /// The access literal of each slot; NONE for those in `always`.
    access: Vec<u32>,
    /// Conjunctions without a predicate that has a place: only `is null`, or nothing.
    always: Vec<u32>,
    /// What a slot is verified by: all but an access literal whose leaf has decided it.
    checks: Checks,
    /// Bits of a signature, a power of two.
    width: usize,
    /// By attribute: its place among the leaves of the current event, or NONE.
    located: Vec<u32>,
}

impl PstBloom {
    /// Wide signatures where there are few attributes, and so few leaves.
    pub fn new(attributes: usize) -> Self {
        let width = ((1 << 20) / attributes.max(1)).next_power_of_two();
        PstBloom {
            forest: Forest::default(),
            selectivity: Selectivity::default(),
            access: Vec::new(),
            always: Vec::new(),
            checks: Checks::default(),
            width: width.clamp(64, 8192),
            located: vec![NONE; attributes],
        }
    }

    fn bit(&self, slot: u32) -> usize {
        (slot.wrapping_mul(0x9E37_79B1) >> 7) as usize & (self.width - 1)
    }

    /// SelectAccPred: the most selective literal that has a place.
    fn choose(&self, slot: u32, store: &Store) -> u32 {
        let body = store.body(slot).iter().copied();
        let placed = body.filter(|&number| has_place(store.literals.get(number)));
        let rank = |&number: &u32| self.selectivity.of(number);
        placed
            .min_by(|one, other| rank(one).total_cmp(&rank(other)))
            .unwrap_or(NONE)
    }

    /// The literals of a conjunction that are in the trees, with their numbers.
    fn placed(slot: u32, store: &Store) -> impl Iterator<Item = (u32, &Literal)> {
        let body = store.body(slot).iter();
        body.map(|&number| (number, store.literals.get(number)))
            .filter(|(_, literal)| has_place(literal))
    }
}

impl Index for PstBloom {
    fn learn(&mut self, events: &[Event]) {
        self.selectivity.learn(events);
    }

    /// Algorithm 13.
    fn add(&mut self, slot: u32, store: &Store) {
        for &number in store.body(slot) {
            if store.literals.uses(number) == 1 {
                self.selectivity.add(number, store.literals.get(number));
            }
        }
        let access = self.choose(slot, store);
        self.access
            .resize(self.access.len().max(slot as usize + 1), NONE);
        self.access[slot as usize] = access;
        if access == NONE {
            self.always.push(slot);
        }
        let is_decided = |&n: &u32| n == access && store.literals.get(n).is_scalar();
        let open = store.body(slot).iter().copied();
        let open = open.filter(|number| !is_decided(number));
        self.checks.fill(slot, open, &store.literals);
        let (width, bit) = (self.width, self.bit(slot));
        for (number, literal) in Self::placed(slot, store) {
            self.forest.cut(literal);
            for space in self.forest.covered(literal) {
                let leaf = self.forest.leaf_mut(literal.attribute, space);
                if number == access {
                    leaf.slots.push(slot);
                }
                if !is_decided(&number) {
                    leaf.sign(bit, width);
                }
            }
        }
    }

    /// Algorithm 15.
    fn remove(&mut self, slot: u32, store: &Store) {
        let access = std::mem::replace(&mut self.access[slot as usize], NONE);
        if access == NONE {
            drop_from(&mut self.always, slot);
        }
        self.checks.empty(slot);
        let bit = self.bit(slot);
        for (number, literal) in Self::placed(slot, store) {
            for space in self.forest.covered(literal) {
                let leaf = self.forest.leaf_mut(literal.attribute, space);
                if number == access {
                    drop_from(&mut leaf.slots, slot);
                }
                if number != access || !literal.is_scalar() {
                    leaf.unsign(bit);
                }
            }
            let merges = self.forest.release(literal);
            let gone = merges.into_iter().map(|(_, gone)| gone);
            self.forest.forget(literal.attribute, gone);
        }
    }

    /// Algorithm 14.
    fn search(&mut self, event: &Event, store: &Store, found: &mut Vec<u32>) {
        let holds = |slot: u32| self.checks.hold(slot, event, &store.literals);
        found.extend(self.always.iter().filter(|&&slot| holds(slot)));
        let located = self.forest.located(event);
        let leaves: Vec<(u32, &Leaf)> = located
            .map(|(attribute, space)| (attribute, self.forest.leaf(attribute, space)))
            .collect();
        for (place, &(attribute, _)) in (0..).zip(&leaves) {
            self.located[attribute as usize] = place;
        }
        for (_, leaf) in &leaves {
            for &slot in &leaf.slots {
                let bit = self.bit(slot);
                let mut open = self.checks.of(slot).iter().filter(|c| !c.is_null());
                let is_signed = open.all(|check| {
                    let place = self.located[check.attribute as usize];
                    place != NONE && is_signed(&leaves[place as usize].1.signature, bit)
                });
                if is_signed && holds(slot) {
                    found.push(slot);
                }
            }
        }
        for (attribute, _) in leaves {
            self.located[attribute as usize] = NONE;
        }
    }

    fn check_invariants(&self, store: &Store) {
        let mut always = 0;
        for slot in store.slots() {
            let access = self.access[slot as usize];
            always += usize::from(access == NONE);
            for (number, literal) in Self::placed(slot, store) {
                for space in self.forest.covered(literal) {
                    let leaf = self.forest.leaf(literal.attribute, space);
                    assert!(number != access || leaf.slots.contains(&slot));
                    let is_decided = number == access && literal.is_scalar();
                    assert!(is_decided || is_signed(&leaf.signature, self.bit(slot)));
                }
            }
        }
        assert_eq!(always, self.always.len());
    }

    fn size(&self) -> usize {
        self.forest.trees.len() + self.always.len()
    }
}
