//! TAMA (Zhao and Wu, INFOCOM 2011): approximate matching by hierarchical discretisation.
//!
//! ```text
//!   attribute ─ level 0 ─ cell ─► conjunctions      temperature in [0.1, 0.7]:
//!             ├ level 1 ─ cell ─► conjunctions        level 2: cell 1;  3: 1 4;  4: 1 10 11
//!             ├ …                                   an event counts, for each conjunction, the
//!             └ equal ─ value ─► conjunctions       constraints that it satisfies
//! ```
//!
//! A conjunction matches when the count is the number of its constraints. There are no false
//! negatives. False positives come from the last level alone: at most 1 / (2^(m − start − 1) + 1) of a
//! constraint's matches (theorem 1), and 1 − ∏(1 − σ) of a conjunction's (theorem 2).
//!
//! | algorithm or section of the paper | where |
//! |---|---|
//! | 1 range discretisation, theorem 1 | `cells.rs` |
//! | 2 event matching | `search` |
//! | 3 optimal separation | `scale.rs` |
//! | III-B.1 equalities, exact | `equal` |

mod cells;
mod scale;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::engine::Index;
use super::literal::{Event, Literal};
use super::store::Store;
use cells::{Cell, cells, located};
use scale::Scale;
pub use scale::Separation;

/// The last level, and the number of levels below the whole domain.
pub const LEVELS: u32 = 20;

#[derive(Default)]
struct Attribute {
    /// (level, cell) to conjunctions, each with the part of its range that it is there for.
    cells: FxHashMap<Cell, Vec<u32>>,
    equal: FxHashMap<i64, Vec<u32>>,
}

pub struct Tama {
    last: u32,
    scales: Vec<Scale>,
    attributes: Vec<Attribute>,
    /// The number of constraints of each slot.
    constraints: Vec<u32>,
    counts: Vec<u32>,
    counted: Vec<u32>,
    always: Vec<u32>,
}

impl Tama {
    /// `floats` says which attributes have doubles, whose numbers stand for their bits.
    pub fn new(last: u32, separation: Separation, floats: Vec<bool>) -> Self {
        let scales = floats
            .iter()
            .map(|&is_float| Scale::new(separation, is_float));
        Tama {
            last,
            scales: scales.collect(),
            attributes: floats.iter().map(|_| Attribute::default()).collect(),
            constraints: Vec::new(),
            counts: Vec::new(),
            counted: Vec::new(),
            always: Vec::new(),
        }
    }

    /// Lines 6 to 13 of algorithm 2: call `found` with the conjunctions of each of the event's cells
    /// and values.
    fn retrieve(&self, event: &Event, mut found: impl FnMut(&[u32])) {
        for &(number, value) in &event.pairs {
            let attribute = &self.attributes[number as usize];
            if let Some(slots) = attribute.equal.get(&value) {
                found(slots);
            }
            if attribute.cells.is_empty() {
                continue;
            }
            let normal = self.scales[number as usize].normal(value);
            for cell in located(normal, self.last) {
                if let Some(slots) = attribute.cells.get(&cell) {
                    found(slots);
                }
            }
        }
    }

    /// The cells or values of a constraint.
    fn entries(&self, literal: &Literal) -> (Vec<Cell>, Vec<i64>) {
        let (mut found, mut equal) = (Vec::new(), Vec::new());
        for (low, high) in literal.ranges().unwrap_or_default() {
            if low == high {
                equal.push(low);
            } else {
                let attribute = literal.attribute;
                let bounds = [low, high].map(|bound| self.scales[attribute as usize].normal(bound));
                found.extend(cells(bounds, self.last));
            }
        }
        // Two ranges of one constraint may touch the same cell.
        found.sort_unstable();
        found.dedup();
        let covered = |cell: &Cell| {
            let mut wider = (0..cell.0).map(|level| (level, cell.1 >> (cell.0 - level)));
            wider.any(|wider| found.binary_search(&wider).is_ok())
        };
        (
            found
                .iter()
                .copied()
                .filter(|cell| !covered(cell))
                .collect(),
            equal,
        )
    }
}

impl Index for Tama {
    /// Domains and distributions are what the events show.
    fn learn(&mut self, events: &[Event]) {
        let mut samples = vec![Vec::new(); self.scales.len()];
        for &(attribute, value) in events.iter().flat_map(|event| &event.pairs) {
            samples[attribute as usize].push(value);
        }
        for (scale, sample) in self.scales.iter_mut().zip(samples) {
            scale.learn(sample.into_iter());
        }
    }

    fn refuse(&self, literals: &[Literal]) -> Result<(), String> {
        match literals.iter().find(|literal| !literal.is_scalar()) {
            Some(_) => Err("TAMA has no cells for lists, parts of strings and is null".to_owned()),
            None => Ok(()),
        }
    }

    fn add(&mut self, slot: u32, store: &Store) {
        let place = slot as usize;
        let length = self.constraints.len().max(place + 1);
        self.constraints.resize(length, 0);
        self.counts.resize(length, 0);
        self.constraints[place] = store.body(slot).len() as u32;
        if store.body(slot).is_empty() {
            self.always.push(slot);
        }
        for literal in store.literals_of(slot) {
            let (cells, equal) = self.entries(literal);
            let attribute = &mut self.attributes[literal.attribute as usize];
            for cell in cells {
                attribute.cells.entry(cell).or_default().push(slot);
            }
            for value in equal {
                attribute.equal.entry(value).or_default().push(slot);
            }
        }
    }

    fn remove(&mut self, slot: u32, store: &Store) {
        self.constraints[slot as usize] = 0;
        self.always.retain(|&other| other != slot);
        for literal in store.literals_of(slot) {
            let (cells, equal) = self.entries(literal);
            let attribute = &mut self.attributes[literal.attribute as usize];
            cells
                .iter()
                .for_each(|cell| drop_from(&mut attribute.cells, cell, slot));
            equal
                .iter()
                .for_each(|value| drop_from(&mut attribute.equal, value, slot));
        }
    }

    /// Algorithm 2. A constraint of ranges and values is counted once, since its cells are disjoint;
    /// a value and a cell of the same constraint may both have the event's value, which only adds
    /// false positives that comparing with at least the number keeps.
    fn search(&mut self, event: &Event, _: &Store, found: &mut Vec<u32>) {
        found.extend(&self.always);
        let mut counts = std::mem::take(&mut self.counts);
        let mut counted = std::mem::take(&mut self.counted);
        self.retrieve(event, |slots| {
            for &slot in slots {
                counts[slot as usize] += 1;
                if counts[slot as usize] == 1 {
                    counted.push(slot);
                }
            }
        });
        for slot in counted.drain(..) {
            if std::mem::take(&mut counts[slot as usize]) >= self.constraints[slot as usize] {
                found.push(slot);
            }
        }
        (self.counts, self.counted) = (counts, counted);
    }

    fn check_invariants(&self, store: &Store) {
        assert!(self.counts.iter().all(|&count| count == 0));
        let mut held = 0;
        for slot in store.slots() {
            assert_eq!(
                self.constraints[slot as usize] as usize,
                store.body(slot).len()
            );
            for literal in store.literals_of(slot) {
                let (cells, equal) = self.entries(literal);
                let attribute = &self.attributes[literal.attribute as usize];
                held += cells.len() + equal.len();
                assert!(
                    cells
                        .iter()
                        .all(|cell| attribute.cells[cell].contains(&slot))
                );
                assert!(
                    equal
                        .iter()
                        .all(|value| attribute.equal[value].contains(&slot))
                );
            }
        }
        let lists = self.attributes.iter().map(|a| {
            let cells: usize = a.cells.values().map(Vec::len).sum();
            cells + a.equal.values().map(Vec::len).sum::<usize>()
        });
        assert_eq!(held, lists.sum::<usize>(), "no entry is lost");
    }

    fn size(&self) -> usize {
        let lists = self
            .attributes
            .iter()
            .map(|a| a.cells.len() + a.equal.len());
        lists.sum::<usize>() + self.always.len()
    }
}

fn drop_from<K: std::hash::Hash + Eq>(lists: &mut FxHashMap<K, Vec<u32>>, key: &K, slot: u32) {
    let list = lists.get_mut(key).expect("the entry is there");
    let place = list.iter().position(|&other| other == slot);
    list.swap_remove(place.expect("the slot is listed"));
    if list.is_empty() {
        lists.remove(key);
    }
}
