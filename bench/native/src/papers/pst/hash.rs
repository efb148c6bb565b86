//! PSTHash (chapter 8): two access predicates, and a table from pairs of spaces to conjunctions.
//!
//! ```text
//!   S1, S2: a1 = 1, a2 = −1, …     [1-2][2-2] ─► S1, S2      space 2 of a1, space 2 of a2
//!   S3: a1 = 1, a3 = 0, …          [1-2][3-2] ─► S3
//!   event: a space for each attribute, a lookup for each pair of them
//! ```
//!
//! A pair of wide ranges covers the product of their spaces. Beyond 256 pairs, and with fewer than
//! two literals on different attributes, a conjunction is listed under one access predicate, as in
//! PSTBloom. Lists stay out of the pairs: the method needs one space for each attribute.

use rustc_hash::FxHashMap;

use super::{Forest, Selectivity, drop_from, has_place};
use crate::papers::checks::Checks;
use crate::papers::engine::Index;
use crate::papers::literal::{Event, Literal};
use crate::papers::store::Store;

const NONE: u32 = u32::MAX;
/// Most pairs that a conjunction may begin with.
const MOST_PAIRS: usize = 256;

/// A space: attribute and number.
type Space = (u32, u32);

#[derive(Clone, Default)]
struct Leaf {
    /// Conjunctions with an access predicate that covers the space.
    slots: Vec<u32>,
    /// Those of them that have no second one.
    single: Vec<u32>,
}

#[derive(Default)]
pub struct PstHash {
    forest: Forest<Leaf>,
    selectivity: Selectivity,
    pairs: FxHashMap<(Space, Space), Vec<u32>>,
    /// The access literals of each slot, by ascending attribute; NONE where there is none.
    access: Vec<[u32; 2]>,
    always: Vec<u32>,
    /// What a slot is verified by: all but a pair of access literals, whose spaces have decided it.
    checks: Checks,
}

impl PstHash {
    /// SelectAccPreds: the two most selective literals on different attributes.
    fn choose(&self, slot: u32, store: &Store) -> [u32; 2] {
        let mut body: Vec<u32> = store.body(slot).to_vec();
        body.retain(|&number| has_place(store.literals.get(number)));
        body.sort_by(|&one, &other| {
            let rank = |number| self.selectivity.of(number);
            rank(one).total_cmp(&rank(other))
        });
        let Some(&first) = body.first() else {
            return [NONE; 2];
        };
        let attribute = |number: u32| store.literals.get(number).attribute;
        let is_scalar = |number: u32| store.literals.get(number).is_scalar();
        let mut others = body.iter().copied();
        let second = others.find(|&n| attribute(n) != attribute(first) && is_scalar(n));
        match second {
            Some(second) if is_scalar(first) && attribute(first) < attribute(second) => {
                [first, second]
            }
            Some(second) if is_scalar(first) => [second, first],
            _ => [first, NONE],
        }
    }

    /// Put the records of a split space under its new part, too.
    fn copy(&mut self, attribute: u32, splits: &[(u32, u32)], store: &Store) {
        for &(_, new) in splits {
            for slot in self.forest.leaf(attribute, new).slots.clone() {
                for key in self.keys(slot, (attribute, new), store) {
                    self.pairs.entry(key).or_default().push(slot);
                }
            }
        }
    }

    /// The keys of a conjunction with one of its spaces.
    fn keys(&self, slot: u32, space: Space, store: &Store) -> Vec<(Space, Space)> {
        let [first, second] = self.access[slot as usize];
        if second == NONE {
            return Vec::new();
        }
        let [first, second] = [first, second].map(|number| store.literals.get(number));
        let is_first = first.attribute == space.0;
        let other = if is_first { second } else { first };
        let others = self.forest.covered(other).into_iter();
        others
            .map(|number| (other.attribute, number))
            .map(|other| {
                if is_first {
                    (space, other)
                } else {
                    (other, space)
                }
            })
            .collect()
    }

    fn drop_pair(&mut self, key: (Space, Space), slot: u32) {
        let list = self.pairs.get_mut(&key).expect("the pair is there");
        drop_from(list, slot);
        if list.is_empty() {
            self.pairs.remove(&key);
        }
    }

    fn access_literals<'s>(&self, slot: u32, store: &'s Store) -> Vec<&'s Literal> {
        let numbers = self.access[slot as usize]
            .into_iter()
            .filter(|&n| n != NONE);
        numbers.map(|number| store.literals.get(number)).collect()
    }
}

impl Index for PstHash {
    fn learn(&mut self, events: &[Event]) {
        self.selectivity.learn(events);
    }

    /// Algorithm 16.
    fn add(&mut self, slot: u32, store: &Store) {
        for &number in store.body(slot) {
            if store.literals.uses(number) == 1 {
                self.selectivity.add(number, store.literals.get(number));
            }
        }
        self.access
            .resize(self.access.len().max(slot as usize + 1), [NONE; 2]);
        self.access[slot as usize] = self.choose(slot, store);
        for literal in self.access_literals(slot, store) {
            let splits = self.forest.cut(literal);
            self.copy(literal.attribute, &splits, store);
        }
        let mut covered: Vec<(u32, Vec<u32>)> = Vec::new();
        for literal in self.access_literals(slot, store) {
            covered.push((literal.attribute, self.forest.covered(literal)));
        }
        let product: usize = covered.iter().map(|(_, spaces)| spaces.len()).product();
        if covered.len() == 2 && product > MOST_PAIRS {
            let fewer = usize::from(covered[1].1.len() < covered[0].1.len());
            let [first, second] = self.access[slot as usize];
            let (kept, left) = if fewer == 1 {
                (second, first)
            } else {
                (first, second)
            };
            self.access[slot as usize] = [kept, NONE];
            let literal = store.literals.get(left);
            let merges = self.forest.release(literal);
            self.merge(literal.attribute, &merges, store);
            let literal = store.literals.get(kept);
            covered = vec![(literal.attribute, self.forest.covered(literal))];
        }
        let access = self.access[slot as usize];
        let is_decided = |n: &u32| access[1] != NONE && access.contains(n);
        let open = store.body(slot).iter().copied();
        let open = open.filter(|number| !is_decided(number));
        self.checks.fill(slot, open, &store.literals);
        for (attribute, spaces) in &covered {
            for &space in spaces {
                let leaf = self.forest.leaf_mut(*attribute, space);
                leaf.slots.push(slot);
                if covered.len() == 1 {
                    leaf.single.push(slot);
                }
            }
        }
        match &covered[..] {
            [] => self.always.push(slot),
            [(one, spaces), (other, others)] => {
                for &space in spaces {
                    for &partner in others {
                        let key = ((*one, space), (*other, partner));
                        self.pairs.entry(key).or_default().push(slot);
                    }
                }
            }
            _ => {}
        }
    }

    /// Algorithm 18.
    fn remove(&mut self, slot: u32, store: &Store) {
        let literals = self.access_literals(slot, store);
        if literals.is_empty() {
            drop_from(&mut self.always, slot);
        }
        if let [one, _] = literals[..] {
            for space in self.forest.covered(one) {
                for key in self.keys(slot, (one.attribute, space), store) {
                    self.drop_pair(key, slot);
                }
            }
        }
        for literal in &literals {
            for space in self.forest.covered(literal) {
                let leaf = self.forest.leaf_mut(literal.attribute, space);
                drop_from(&mut leaf.slots, slot);
                if literals.len() == 1 {
                    drop_from(&mut leaf.single, slot);
                }
            }
        }
        self.access[slot as usize] = [NONE; 2];
        self.checks.empty(slot);
        for literal in literals {
            let merges = self.forest.release(literal);
            self.merge(literal.attribute, &merges, store);
        }
    }

    /// Algorithm 17.
    fn search(&mut self, event: &Event, store: &Store, found: &mut Vec<u32>) {
        let holds = |slot: u32| self.checks.hold(slot, event, &store.literals);
        found.extend(self.always.iter().filter(|&&slot| holds(slot)));
        let mut spaces: Vec<Space> = self.forest.located(event).collect();
        spaces.sort_unstable();
        for (place, &one) in spaces.iter().enumerate() {
            let single = &self.forest.leaf(one.0, one.1).single;
            found.extend(single.iter().filter(|&&slot| holds(slot)));
            for &other in &spaces[place + 1..] {
                if let Some(slots) = self.pairs.get(&(one, other)) {
                    found.extend(slots.iter().filter(|&&slot| holds(slot)));
                }
            }
        }
    }

    fn check_invariants(&self, store: &Store) {
        let mut records = 0;
        let mut always = 0;
        for slot in store.slots() {
            let literals = self.access_literals(slot, store);
            always += usize::from(literals.is_empty());
            for literal in &literals {
                for space in self.forest.covered(literal) {
                    let leaf = self.forest.leaf(literal.attribute, space);
                    assert!(leaf.slots.contains(&slot));
                    assert_eq!(leaf.single.contains(&slot), literals.len() == 1);
                }
            }
            if let [one, other] = literals[..] {
                assert!(one.attribute < other.attribute);
                for space in self.forest.covered(one) {
                    for key in self.keys(slot, (one.attribute, space), store) {
                        assert!(self.pairs[&key].contains(&slot));
                        records += 1;
                    }
                }
            }
        }
        let held: usize = self.pairs.values().map(Vec::len).sum();
        assert_eq!(
            (records, always),
            (held, self.always.len()),
            "no record is lost"
        );
    }

    fn size(&self) -> usize {
        self.forest.trees.len() + self.pairs.len() + self.always.len()
    }
}

impl PstHash {
    /// Take the records of spaces that are gone out of the table.
    fn merge(&mut self, attribute: u32, merges: &[(u32, u32)], store: &Store) {
        for &(_, gone) in merges {
            for slot in self.forest.leaf(attribute, gone).slots.clone() {
                for key in self.keys(slot, (attribute, gone), store) {
                    self.drop_pair(key, slot);
                }
            }
        }
        self.forest
            .forget(attribute, merges.iter().map(|&(_, gone)| gone));
    }
}

#[cfg(test)]
impl PstHash {
    /// How many conjunctions each pair of spaces has, ascending.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.pairs.values().map(Vec::len).collect();
        sizes.sort_unstable();
        sizes
    }
}
