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
//! | 2.2.1 clusters, 2.2.3 cluster matching with its kernels and prefetching | `cluster.rs` |
//! | 2.2.1 hash tables and access predicates | `tables.rs` |
//! | 3.1 cost, 3.2 static greedy | `greedy.rs` |
//! | 4 dynamic clustering | `dynamic.rs` |
//!
//! Without an equality the schema is empty and the cluster is checked for every event. Sets, lists
//! and `is null` are never access predicates. Tables of one attribute are never dropped.

mod cluster;
mod dynamic;
mod frequencies;
pub mod greedy;
mod tables;
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
use tables::Table;

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
