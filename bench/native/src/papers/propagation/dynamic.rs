//! Clustering that follows the conjunctions and the events: the maintenance algorithm of section 4.1.
//!
//! ```text
//!   a cluster with more than BMmax checks an event   (situation 1)
//!     phase 1: each conjunction to its best existing table
//!     phase 2: what stays adds to the power of candidate tables, one attribute wider;
//!              a candidate with RPmin becomes a table and takes who gains (situation 3)
//!   a table with fewer than Bmin conjunctions goes   (situation 2)
//! ```
//!
//! The power of a candidate is the checks an event that it would save, so that RPmin is what a table
//! costs. A cluster is looked at again when it has doubled.

use super::{MOST, Propagation, Store};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// BMmax: checks an event.
    pub margin: f64,
    /// RPmin: checks an event.
    pub power: f64,
    /// Bmin: conjunctions.
    pub fewest: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds {
            margin: 0.05,
            power: super::greedy::TABLE_CHECKS,
            fewest: 100,
        }
    }
}

#[derive(Default)]
pub struct Candidate {
    power: f64,
    clusters: Vec<u32>,
}

impl Propagation {
    /// A cluster has got one more conjunction.
    pub(super) fn on_growth(&mut self, cluster: u32, thresholds: Thresholds, store: &Store) {
        let held = &self.clusters[cluster];
        if held.margin() <= thresholds.margin || held.slots.len() < 2 * held.considered {
            return;
        }
        let first = held.considered;
        let new = held.slots[first..].to_vec();
        let stay: Vec<u32> = new
            .into_iter()
            .filter(|&slot| !self.improve(slot, store))
            .collect();
        self.sweep();
        let Some(&any) = stay.first() else {
            return; // all have moved, and perhaps the cluster is gone
        };
        let cluster = self.places[any as usize].0;
        self.clusters[cluster].considered = self.clusters[cluster].slots.len();
        if self.clusters[cluster].margin() > thresholds.margin {
            self.repair(cluster, &stay, thresholds, store);
        }
    }

    /// Phase 2 for the conjunctions of a cluster.
    fn repair(&mut self, cluster: u32, slots: &[u32], thresholds: Thresholds, store: &Store) {
        let schema = self.tables[self.clusters[cluster].table].schema.clone();
        let now = self.clusters[cluster].probability;
        let mut touched = Vec::new();
        for &slot in slots.iter().filter(|_| schema.len() < MOST) {
            let equalities = Self::equalities(slot, store);
            for &(attribute, value, _) in &equalities {
                if schema.is_empty() || schema.contains(&attribute) {
                    continue;
                }
                let mut wider = schema.clone();
                wider.push(attribute);
                wider.sort_unstable();
                let gain = now * (1.0 - self.frequencies.of(attribute, value));
                let candidate = self.candidates.entry(wider.clone()).or_default();
                candidate.power += gain;
                if candidate.clusters.last() != Some(&cluster) {
                    candidate.clusters.push(cluster);
                }
                if candidate.power >= thresholds.power && !touched.contains(&wider) {
                    touched.push(wider);
                }
            }
        }
        // Several may have the power; the first takes conjunctions from the others, which then
        // gather again.
        let strongest = touched.into_iter().max_by(|one, other| {
            let power = |schema| self.candidates[schema].power;
            power(one).total_cmp(&power(other)).then(other.cmp(one))
        });
        if let Some(schema) = strongest
            && !self.by_schema.contains_key(&schema)
        {
            self.create(schema, thresholds, store);
        }
    }

    /// Situation 3: make a table and move the subscriptions that gain to it.
    fn create(&mut self, schema: Vec<u32>, thresholds: Thresholds, store: &Store) {
        let candidate = self.candidates.remove(&schema).unwrap_or_default();
        let table = self.table(schema.clone());
        for cluster in candidate.clusters {
            let slots = self.clusters[cluster].slots.clone();
            for slot in slots {
                if self.places[slot as usize].0 == cluster {
                    self.improve(slot, store);
                }
            }
        }
        // What the others have gathered was from conjunctions that may have moved.
        let overlaps = |other: &Vec<u32>| other.iter().any(|a| schema.contains(a));
        self.candidates.retain(|other, _| !overlaps(other));
        if self.tables[table].count < thresholds.fewest {
            self.dissolve(table, store);
        }
        self.sweep();
    }

    /// A table has lost a conjunction.
    pub(super) fn on_loss(&mut self, table: u32, thresholds: Thresholds, store: &Store) {
        let held = &self.tables[table];
        if held.schema.len() > 1 && held.count < thresholds.fewest {
            self.dissolve(table, store);
        } else if held.count == 0 {
            self.forget_table(table);
        }
    }

    /// Situation 2: a table goes, and its conjunctions move to the next best.
    fn dissolve(&mut self, table: u32, store: &Store) {
        self.multiple.retain(|&other| other != table);
        let clusters = self.tables[table].clusters.values().flatten();
        let slots: Vec<u32> = clusters
            .flat_map(|&c| self.clusters[c].slots.clone())
            .collect();
        for slot in slots {
            self.improve(slot, store);
        }
        self.forget_table(table);
    }

    /// The probabilities have changed: every cluster anew.
    pub(super) fn on_statistics(&mut self, thresholds: Thresholds, store: &Store) {
        self.candidates.clear();
        let mut slots: Vec<u32> = store.slots().collect();
        slots.sort_unstable();
        for slot in slots {
            self.improve(slot, store);
            let (cluster, _) = self.places[slot as usize];
            let equalities = Self::equalities(slot, store);
            let schema = self.tables[self.clusters[cluster].table].schema.clone();
            let probability = self.probability(&schema, &equalities).unwrap_or(1.0);
            if self.clusters[cluster].probability != probability {
                self.clusters[cluster].probability = probability;
                self.clusters[cluster].considered = 0;
            }
            self.on_growth(cluster, thresholds, store);
        }
        self.sweep();
    }
}
