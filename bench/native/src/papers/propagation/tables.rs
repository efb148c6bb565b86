//! Hash tables and which of them a conjunction is in (section 2.2.1).
//!
//! ```text
//!   s: a = 3, b = 5, c < 9      tables {a}, {b}, {a, b}
//!      P(a = 3) = 0.03, P(b = 5) = 0.2, P(a = 3, b = 5) = 0.006
//!      s lies in table {a, b} under (3, 5), with one predicate to check
//! ```

use rustc_hash::FxHashMap;

use super::cluster::Cluster;
use super::{Key, MOST, Propagation, Store};

pub struct Table {
    /// Ascending attributes.
    pub schema: Vec<u32>,
    /// The clusters of an access predicate, one for each number of further predicates.
    pub clusters: FxHashMap<Key, Vec<u32>>,
    pub count: usize,
}

impl Propagation {
    /// The first equality of a conjunction on each attribute, ascending: (attribute, value, literal).
    pub(super) fn equalities(slot: u32, store: &Store) -> Vec<(u32, i64, u32)> {
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
    pub(super) fn probability(
        &self,
        schema: &[u32],
        equalities: &[(u32, i64, u32)],
    ) -> Option<f64> {
        schema.iter().try_fold(1.0, |product, attribute| {
            let found = equalities.iter().find(|(other, ..)| other == attribute);
            found.map(|&(_, value, _)| product * self.frequencies.of(*attribute, value))
        })
    }

    /// The existing table whose access predicate is checked least often. Tables of one attribute
    /// come into being here.
    pub(super) fn best_table(&mut self, equalities: &[(u32, i64, u32)]) -> u32 {
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
    pub(super) fn table(&mut self, schema: Vec<u32>) -> u32 {
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
    pub(super) fn forget_table(&mut self, table: u32) {
        assert_eq!(self.tables[table].count, 0);
        let schema = std::mem::take(&mut self.tables[table].schema);
        self.by_schema.remove(&schema);
        self.multiple.retain(|&other| other != table);
        self.tables.free(table);
    }

    /// Put a conjunction into a table. Returns the cluster.
    pub(super) fn put(
        &mut self,
        slot: u32,
        table: u32,
        equalities: &[(u32, i64, u32)],
        store: &Store,
    ) -> u32 {
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
    pub(super) fn take(&mut self, slot: u32) -> u32 {
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
    pub(super) fn improve(&mut self, slot: u32, store: &Store) -> bool {
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
    pub(super) fn sweep(&mut self) {
        let is_empty = |&table: &u32| self.tables[table].count == 0;
        let empty: Vec<u32> = self.multiple.iter().copied().filter(is_empty).collect();
        empty.into_iter().for_each(|table| self.forget_table(table));
    }
}
