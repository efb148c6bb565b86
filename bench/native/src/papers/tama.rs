//! TAMA (Zhao and Wu, INFOCOM 2011): approximate matching by hierarchical discretisation.
//!
//! ```text
//!   level 0 │                0                │      a value is in one cell of each level
//!   level 1 │       0        │       1        │
//!   level 2 │   0   │   1    │   2    │   3   │
//!              [─────────────]                      a range takes the widest cells inside it, and
//!   level 3 │ 0 │ 1 │ 2 │ 3  │ 4  │ …               at the last level those that cover the rest
//! ```
//!
//! attribute → level → cell → conjunctions; an event counts, for each conjunction, the constraints
//! that it satisfies, and compares with the number that it has. There are no false negatives. False
//! positives come from the last level alone: at most 1 / (2^(m − start − 1) + 1) of a constraint's
//! matches (theorem 1).
//!
//! | algorithm | function |
//! |---|---|
//! | 1 range discretisation | `cells` |
//! | 2 event matching | `search` |
//! | III-B.1 equalities, exact | `equal` |
//!
//! Errata: the first loop of algorithm 1 ends at the first level that has a cell inside the range; a
//! range that contains no cell of the last level takes the cells that it touches there.

use rustc_hash::FxHashMap;

use super::engine::Index;
use super::literal::{Event, Literal, Test};
use super::store::Store;

/// The last level, and the number of levels below the whole domain.
pub const LEVELS: u32 = 20;

type Cell = (u32, u64);

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
    pub fn new(last: u32, floats: Vec<bool>) -> Self {
        Tama {
            last,
            attributes: floats.iter().map(|_| Attribute::default()).collect(),
            scales: floats.into_iter().map(Scale::new).collect(),
            constraints: Vec::new(),
            counts: Vec::new(),
            counted: Vec::new(),
            always: Vec::new(),
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

/// The domain of an attribute, as far as events have shown it.
struct Scale {
    is_float: bool,
    low: f64,
    high: f64,
}

impl Scale {
    fn new(is_float: bool) -> Self {
        Scale {
            is_float,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }

    fn real(&self, value: i64) -> f64 {
        if !self.is_float {
            return value as f64;
        }
        let bits = if value < 0 { i64::MIN - value } else { value };
        f64::from_bits(bits as u64).clamp(f64::MIN, f64::MAX)
    }

    fn widen(&mut self, value: i64) {
        let value = self.real(value);
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
    }

    /// A value in the domain, normalised to [0, 1).
    fn normal(&self, value: i64) -> f64 {
        let (low, high) = match self.low < self.high {
            true => (self.low, self.high),
            false => (0.0, 1.0),
        };
        ((self.real(value) - low) / (high - low)).clamp(0.0, 1.0 - f64::EPSILON)
    }
}

/// Algorithm 1 for a range of normalised values: (level, cell).
pub fn cells([low, high]: [f64; 2], last: u32) -> Vec<Cell> {
    let mut found = Vec::new();
    // The part that is covered so far, in cells of the current level: [from, to).
    let mut covered: Option<(u64, u64)> = None;
    for level in 0..last {
        let count = (1u64 << level) as f64;
        let first = (low * count).ceil() as u64;
        let end = ((high * count).floor() as u64).max(first);
        let (from, to) = match covered {
            None if first < end => {
                found.extend((first..end).map(|cell| (level, cell)));
                (first, end)
            }
            None => continue,
            Some((from, to)) => {
                let (from, to) = (2 * from, 2 * to);
                found.extend((first..from).map(|cell| (level, cell)));
                found.extend((to..end).map(|cell| (level, cell)));
                (first.min(from), end.max(to))
            }
        };
        covered = Some((from, to));
    }
    let count = (1u64 << last) as f64;
    let first = (low * count) as u64;
    let end = (high * count) as u64 + 1;
    match covered {
        None => found.extend((first..end).map(|cell| (last, cell))),
        Some((from, to)) => {
            found.extend((first..2 * from).map(|cell| (last, cell)));
            found.extend((2 * to..end).map(|cell| (last, cell)));
        }
    }
    found
}

/// Theorem 1: the largest share of false matches of a constraint that begins at level `start`.
pub fn bound(last: u32, start: u32) -> f64 {
    1.0 / (2f64.powi(last as i32 - start as i32 - 1) + 1.0)
}

impl Index for Tama {
    /// Domains are what the events show; what lies outside counts as the nearest value inside.
    fn learn(&mut self, events: &[Event]) {
        for &(attribute, value) in events.iter().flat_map(|event| &event.pairs) {
            self.scales[attribute as usize].widen(value);
        }
    }

    fn refuse(&self, literals: &[Literal]) -> Result<(), String> {
        let is_list = |l: &&Literal| matches!(l.test, Test::Any(_) | Test::All(_) | Test::Null);
        match literals.iter().find(is_list) {
            Some(_) => Err("TAMA has no cells for lists and is null".to_owned()),
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
        let Self {
            counts, counted, ..
        } = self;
        let mut count = |slots: Option<&Vec<u32>>| {
            for &slot in slots.into_iter().flatten() {
                counts[slot as usize] += 1;
                if counts[slot as usize] == 1 {
                    counted.push(slot);
                }
            }
        };
        for &(number, value) in &event.pairs {
            let attribute = &self.attributes[number as usize];
            count(attribute.equal.get(&value));
            if attribute.cells.is_empty() {
                continue;
            }
            let normal = self.scales[number as usize].normal(value);
            let last = (normal * (1u64 << self.last) as f64) as u64;
            for level in 0..=self.last {
                count(attribute.cells.get(&(level, last >> (self.last - level))));
            }
        }
        for slot in self.counted.drain(..) {
            if std::mem::take(&mut self.counts[slot as usize]) >= self.constraints[slot as usize] {
                found.push(slot);
            }
        }
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

#[cfg(test)]
mod tests {
    use _native::language::{Schema, Type};

    use super::*;
    use crate::papers::engine::{Conjunctive, Engine};

    fn engine(names: &[&str], last: u32) -> Conjunctive<Tama> {
        let schema = Schema::new(names.iter().map(|name| (*name, Type::Float))).unwrap();
        let tama = Tama::new(last, vec![true; names.len()]);
        let mut engine = Conjunctive::new(Store::new(schema), tama);
        let end = |value: &str| {
            let pairs: Vec<_> = names.iter().map(|n| format!("\"{n}\":{value}")).collect();
            format!("{{{}}}", pairs.join(","))
        };
        engine.learn(&[end("0.0"), end("1.0")]).unwrap();
        engine
    }

    #[test]
    fn the_example_matches_the_first_subscription_only() {
        let mut tama = engine(&["temperature", "distance", "height"], 4);
        let between =
            |name: &str, low: f64, high: f64| format!("[\"between\",\"{name}\",{low:?},{high:?}]");
        let first = [
            between("temperature", 0.1, 0.7),
            between("distance", 0.1, 0.6),
        ];
        let second = [
            between("temperature", 0.0, 0.05),
            between("height", 0.05, 1.0),
        ];
        for (id, parts) in [(1, first), (2, second)] {
            tama.insert(id, &format!("[1,[\"and\",{}]]", parts.join(",")))
                .unwrap();
        }
        let event = tama
            .event(r#"{"temperature":0.4,"distance":0.2,"height":0.7}"#)
            .unwrap();
        let mut found = Vec::new();
        tama.search(&event, &mut found);
        assert_eq!(found, [1]);
    }

    #[test]
    fn a_value_is_in_one_cell_of_each_level() {
        let of = |value: f64| {
            (0..=4)
                .map(|level| (value * f64::from(1 << level)) as u64)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(0.4), [0, 0, 1, 3, 6]);
        assert_eq!(of(0.2), [0, 0, 0, 1, 3]);
        assert_eq!(of(0.7), [0, 1, 2, 5, 11]);
    }

    #[test]
    fn a_range_takes_at_most_two_cells_a_level_and_four_at_the_last() {
        for (low, high) in [
            (0.1, 0.7),
            (0.05, 1.0),
            (0.3, 0.30001),
            (0.24, 0.26),
            (0.0, 1.0),
        ] {
            let all = cells([low, high], 6);
            for level in 0..=6 {
                let count = all.iter().filter(|cell| cell.0 == level).count();
                assert!(
                    count <= if level == 6 { 4 } else { 2 },
                    "{low} {high} {all:?}"
                );
            }
        }
    }

    #[test]
    fn false_positives_stay_below_the_bound_and_one_more_level_halves_them() {
        assert!((bound(10, 3) - 1.0 / 65.0).abs() < 1e-9);
        for last in 5..10 {
            let (low, high) = (0.103, 0.617);
            let all = cells([low, high], last);
            let width = |cell: &Cell| 1.0 / (1u64 << cell.0) as f64;
            let covered: f64 = all.iter().map(width).sum();
            let start = all.iter().map(|cell| cell.0).min().unwrap();
            assert!(covered >= high - low);
            let share = (covered - (high - low)) / covered;
            assert!(share <= bound(last, start), "{last}: {share}");
        }
    }
}
