//! Propagation with clustering (Fabret and others: Efficient Matching Algorithms for Publish and Subscribe Systems, 2000).
//!
//! ```text
//!   event ─ phase 1 ─► bits of the satisfied predicates          (predicates.rs)
//!         └ phase 2 ─► for each hash table within the event's attributes, one lookup
//!
//!   table {a, b}:  (a = 3, b = 5) ─► cluster of 2 further predicates   columns │ p4 p9 p1 │
//!                                                                             │ p7 p2 p2 │
//!                                                                       slots │ 12 15 30 │
//! ```
//!
//! A conjunction lies in the cluster of its access predicate: the equalities on the attributes of
//! one table. Everything else of it is a column of references to bits, equalities first.
//!
//! | section of the paper | file |
//! |---|---|
//! | 2.2 clusters, 2.3 kernels and prefetching | `cluster.rs` |
//! | 3.1 cost, 3.2 static greedy | `greedy.rs` |
//! | 4 dynamic clustering | `dynamic.rs` |
//!
//! Without an equality the schema is empty and the cluster is checked for every event. Sets, lists
//! and `is null` are never access predicates. Tables of one attribute are never dropped.

mod cluster;
mod dynamic;
mod frequencies;
pub mod greedy;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::engine::Index;
use super::literal::{Event, MISSING};
use super::pool::Pool;
use super::predicates::Predicates;
use super::store::Store;
use cluster::{Cluster, Truth};
pub use dynamic::Thresholds;
use frequencies::Frequencies;
use greedy::Group;

/// Most attributes of a table.
pub const MOST: usize = 4;
type Key = [i64; MOST];

/// How the tables are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clustering {
    /// Only tables of one attribute.
    Single,
    /// The greedy of section 3.2, at each `maintain`.
    Static,
    /// Section 4, with every insert and remove.
    Dynamic(Thresholds),
}

struct Table {
    /// Ascending attributes.
    schema: Vec<u32>,
    /// The clusters of an access predicate, one for each number of further predicates.
    clusters: FxHashMap<Key, Vec<u32>>,
    count: usize,
}

pub struct Propagation {
    clustering: Clustering,
    prefetch: bool,
    predicates: Predicates,
    truth: Truth,
    tables: Pool<Table>,
    by_schema: FxHashMap<Vec<u32>, u32>,
    /// The tables of several attributes.
    multiple: Vec<u32>,
    clusters: Pool<Cluster>,
    /// The cluster of each slot and its place there.
    places: Vec<(u32, u32)>,
    frequencies: Frequencies,
    candidates: FxHashMap<Vec<u32>, dynamic::Candidate>,
}

impl Propagation {
    pub fn new(clustering: Clustering, prefetch: bool) -> Self {
        Propagation {
            clustering,
            prefetch,
            predicates: Predicates::default(),
            truth: Truth::default(),
            tables: Pool::default(),
            by_schema: FxHashMap::default(),
            multiple: Vec::new(),
            clusters: Pool::default(),
            places: Vec::new(),
            frequencies: Frequencies::default(),
            candidates: FxHashMap::default(),
        }
    }

    /// The first equality of a conjunction on each attribute, ascending: (attribute, value, literal).
    fn equalities(slot: u32, store: &Store) -> Vec<(u32, i64, u32)> {
        let mut found: Vec<(u32, i64, u32)> = Vec::new();
        for &number in store.body(slot) {
            let literal = store.literals.get(number);
            let attribute = literal.attribute;
            if let Some(value) = literal.equality()
                && !found.iter().any(|&(other, ..)| other == attribute)
            {
                found.push((attribute, value, number));
            }
        }
        found.sort_unstable();
        found
    }

    /// The probability that an event satisfies the access predicate over `schema`; None if the
    /// conjunction has no equality on one of its attributes.
    fn probability(&self, schema: &[u32], equalities: &[(u32, i64, u32)]) -> Option<f64> {
        schema.iter().try_fold(1.0, |product, attribute| {
            let found = equalities.iter().find(|(other, ..)| other == attribute);
            found.map(|&(_, value, _)| product * self.frequencies.of(*attribute, value))
        })
    }

    /// The existing table whose access predicate is checked least often. Tables of one attribute
    /// come into being here.
    fn best_table(&mut self, equalities: &[(u32, i64, u32)]) -> u32 {
        let mut best = (f64::INFINITY, u32::MAX);
        let mut single = Vec::new();
        for &(attribute, value, _) in equalities {
            let probability = self.frequencies.of(attribute, value);
            if probability < best.0 {
                best.0 = probability;
                single = vec![attribute];
            }
        }
        for &table in &self.multiple {
            let schema = &self.tables[table].schema;
            if let Some(probability) = self.probability(schema, equalities)
                && probability < best.0
            {
                best = (probability, table);
            }
        }
        match best.1 {
            u32::MAX => self.table(single),
            table => table,
        }
    }

    /// The table with this schema, which is made if there is none.
    fn table(&mut self, schema: Vec<u32>) -> u32 {
        if let Some(&table) = self.by_schema.get(&schema) {
            return table;
        }
        let table = self.tables.add(Table {
            schema: schema.clone(),
            clusters: FxHashMap::default(),
            count: 0,
        });
        if schema.len() > 1 {
            self.multiple.push(table);
        }
        self.by_schema.insert(schema, table);
        table
    }

    /// A table that holds nothing goes.
    fn forget_table(&mut self, table: u32) {
        assert_eq!(self.tables[table].count, 0);
        let schema = std::mem::take(&mut self.tables[table].schema);
        self.by_schema.remove(&schema);
        self.multiple.retain(|&other| other != table);
        self.tables.free(table);
    }

    /// Put a conjunction into a table. Returns the cluster.
    fn put(&mut self, slot: u32, table: u32, equalities: &[(u32, i64, u32)], store: &Store) -> u32 {
        let mut key: Key = [0; MOST];
        let mut access = Vec::new();
        for (place, attribute) in self.tables[table].schema.iter().enumerate() {
            let found = equalities.iter().find(|(other, ..)| other == attribute);
            let &(_, value, number) = found.expect("the table fits");
            key[place] = value;
            access.push(number);
        }
        let mut rest: Vec<u32> = store.body(slot).to_vec();
        rest.retain(|number| !access.contains(number));
        rest.sort_by_key(|&number| store.literals.get(number).equality().is_none());
        let probability = self.probability(&self.tables[table].schema, equalities);
        let held = &mut self.tables[table];
        held.count += 1;
        let same = held.clusters.entry(key).or_default();
        let of_size = same
            .iter()
            .copied()
            .find(|&c| self.clusters[c].size() == rest.len());
        let cluster = of_size.unwrap_or_else(|| {
            let new = Cluster::new(table, key, rest.len(), probability.unwrap_or(1.0));
            same.push(self.clusters.add(new));
            same[same.len() - 1]
        });
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, (u32::MAX, 0));
        }
        self.places[slot as usize] = (cluster, self.clusters[cluster].slots.len() as u32);
        self.clusters[cluster].push(slot, &rest);
        cluster
    }

    /// Take a conjunction out of its cluster. Returns the table.
    fn take(&mut self, slot: u32) -> u32 {
        let (number, place) = std::mem::replace(&mut self.places[slot as usize], (u32::MAX, 0));
        let cluster = &mut self.clusters[number];
        cluster.swap_remove(place as usize);
        if let Some(&moved) = cluster.slots.get(place as usize) {
            self.places[moved as usize].1 = place;
        }
        let (table, key) = (cluster.table, cluster.key);
        self.tables[table].count -= 1;
        if cluster.slots.is_empty() {
            let clusters = &mut self.tables[table].clusters;
            let same = clusters.get_mut(&key).expect("a cluster is in its table");
            same.retain(|&other| other != number);
            if same.is_empty() {
                clusters.remove(&key);
            }
            self.clusters.free(number);
        }
        table
    }

    /// Move a conjunction to its best table, if that is another one. Returns whether it moved.
    fn improve(&mut self, slot: u32, store: &Store) -> bool {
        let equalities = Self::equalities(slot, store);
        let best = self.best_table(&equalities);
        let now = self.clusters[self.places[slot as usize].0].table;
        if best != now {
            self.take(slot);
            self.put(slot, best, &equalities, store);
            if self.tables[now].count == 0 && self.tables[now].schema.len() < 2 {
                self.forget_table(now);
            }
        }
        best != now
    }

    /// Forget the tables of several attributes that have become empty.
    fn sweep(&mut self) {
        let is_empty = |&table: &u32| self.tables[table].count == 0;
        let empty: Vec<u32> = self.multiple.iter().copied().filter(is_empty).collect();
        empty.into_iter().for_each(|table| self.forget_table(table));
    }

    /// Tables by the greedy, and every conjunction in its best one.
    fn recluster(&mut self, store: &Store) {
        let mut groups: FxHashMap<Vec<u32>, Group> = FxHashMap::default();
        for slot in store.slots() {
            let equalities = Self::equalities(slot, store);
            let attributes: Vec<u32> = equalities.iter().map(|&(a, ..)| a).collect();
            let group = groups
                .entry(attributes.clone())
                .or_insert_with(|| Group::new(attributes));
            group.add(
                equalities
                    .iter()
                    .map(|&(a, v, _)| self.frequencies.of(a, v)),
            );
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_unstable_by(|one, other| one.attributes().cmp(other.attributes()));
        let chosen = greedy::greedy(&groups, greedy::TABLE_CHECKS);
        let old = std::mem::take(&mut self.multiple);
        for schema in chosen {
            let table = self.table(schema);
            if !self.multiple.contains(&table) {
                self.multiple.push(table);
            }
        }
        let slots: Vec<u32> = store.slots().collect();
        for slot in slots {
            self.improve(slot, store);
        }
        for table in old {
            if !self.multiple.contains(&table) {
                self.forget_table(table);
            }
        }
        self.sweep();
    }
}

impl Index for Propagation {
    fn learn(&mut self, events: &[Event]) {
        self.frequencies = Frequencies::new(events);
    }

    fn add(&mut self, slot: u32, store: &Store) {
        for &number in store.body(slot) {
            if store.literals.uses(number) == 1 {
                self.predicates.add(number, store.literals.get(number));
            }
        }
        let equalities = Self::equalities(slot, store);
        let table = self.best_table(&equalities);
        let cluster = self.put(slot, table, &equalities, store);
        if let Clustering::Dynamic(thresholds) = self.clustering {
            self.on_growth(cluster, thresholds, store);
        }
    }

    fn remove(&mut self, slot: u32, store: &Store) {
        let table = self.take(slot);
        for &number in store.body(slot) {
            if store.literals.uses(number) == 1 {
                self.predicates.remove(number, store.literals.get(number));
            }
        }
        match self.clustering {
            Clustering::Dynamic(thresholds) => self.on_loss(table, thresholds, store),
            _ if self.tables[table].count == 0 => self.forget_table(table),
            _ => {}
        }
    }

    fn maintain(&mut self, events: &[Event], store: &Store) {
        if !events.is_empty() {
            self.frequencies = Frequencies::new(events);
        }
        match self.clustering {
            Clustering::Single => {}
            Clustering::Static => self.recluster(store),
            Clustering::Dynamic(thresholds) => self.on_statistics(thresholds, store),
        }
    }

    fn search(&mut self, event: &Event, store: &Store, found: &mut Vec<u32>) {
        let Self {
            predicates, truth, ..
        } = self;
        truth.clear(store.literals.bound());
        predicates.satisfied(event, &store.literals, |number| truth.set(number));
        let look = |table: u32, key: &Key, found: &mut Vec<u32>| {
            let clusters = self.tables[table].clusters.get(key);
            for &cluster in clusters.into_iter().flatten() {
                self.clusters[cluster].check(&self.truth, self.prefetch, found);
            }
        };
        if let Some(&table) = self.by_schema.get(&[] as &[u32]) {
            look(table, &[0; MOST], found);
        }
        for &(attribute, value) in &event.pairs {
            if let Some(&table) = self.by_schema.get(&[attribute] as &[u32]) {
                look(table, &[value, 0, 0, 0], found);
            }
        }
        'tables: for &table in &self.multiple {
            let mut key = [0; MOST];
            for (value, &attribute) in key.iter_mut().zip(&self.tables[table].schema) {
                *value = event.value(attribute);
                if *value == MISSING {
                    continue 'tables;
                }
            }
            look(table, &key, found);
        }
    }

    fn check_invariants(&self, store: &Store) {
        let (mut slots, mut clusters) = (0, 0);
        for (schema, &table) in &self.by_schema {
            let table = &self.tables[table];
            assert_eq!(&table.schema, schema);
            let mut count = 0;
            for (key, same) in &table.clusters {
                clusters += same.len();
                for &number in same {
                    let cluster = &self.clusters[number];
                    assert_eq!(&cluster.key, key);
                    cluster.check_invariants();
                    count += cluster.slots.len();
                    for (place, &slot) in cluster.slots.iter().enumerate() {
                        assert_eq!(self.places[slot as usize], (number, place as u32));
                        let rest = cluster.size() + schema.len();
                        assert_eq!(rest, store.body(slot).len(), "access and columns are all");
                    }
                }
            }
            assert_eq!(count, table.count);
            slots += count;
        }
        assert_eq!((slots, clusters), (store.count(), self.clusters.len()));
        assert_eq!(self.by_schema.len(), self.tables.len());
        assert_eq!(self.predicates.is_empty(), store.literals.is_empty());
    }

    fn size(&self) -> usize {
        self.tables.len() + self.clusters.len() + usize::from(!self.predicates.is_empty())
    }
}
