//! Which hash tables pay? The static greedy of section 3.2.3.
//!
//! ```text
//!   A0 = all single attributes
//!   repeat: the schema with the greatest benefit = checks saved an event − what a table costs
//!   candidates: all pairs, and each chosen schema with one more attribute, up to four
//! ```
//!
//! Conjunctions are grouped by the set of their equality attributes. Adding a table never raises the
//! benefit of another, so a heap of upper bounds suffices: the top is computed anew, and taken if
//! it is still the top. The paper divides benefit by space; a table over existing conjunctions needs
//! hardly any (DS is 0 or near it), so the benefit alone decides.

use std::collections::{BTreeSet, BinaryHeap};

use super::MOST;

/// What looking into a table costs, in checks.
pub const TABLE_CHECKS: f64 = 10.0;

/// Conjunctions with the same equality attributes.
pub struct Group {
    attributes: Vec<u32>,
    count: f64,
    /// The sum over the conjunctions of each equality's probability.
    sums: Vec<f64>,
}

impl Group {
    pub fn new(attributes: Vec<u32>) -> Self {
        Group {
            sums: vec![0.0; attributes.len()],
            attributes,
            count: 0.0,
        }
    }

    pub fn attributes(&self) -> &[u32] {
        &self.attributes
    }

    /// Add a conjunction with these probabilities.
    pub fn add(&mut self, probabilities: impl Iterator<Item = f64>) {
        self.count += 1.0;
        for (sum, probability) in self.sums.iter_mut().zip(probabilities) {
            *sum += probability;
        }
    }

    /// Add conjunctions that all have the same probability everywhere.
    pub fn add_many(&mut self, count: f64, probability: f64) {
        self.count += count;
        self.sums
            .iter_mut()
            .for_each(|sum| *sum += count * probability);
    }

    /// Checks an event if the group is entered by `schema`; None if it lacks an attribute.
    pub fn checks(&self, schema: &[u32]) -> Option<f64> {
        schema.iter().try_fold(self.count, |product, attribute| {
            let place = self.attributes.binary_search(attribute).ok()?;
            Some(product * self.sums[place] / self.count)
        })
    }

    /// Checks by the best single attribute; all of it without one.
    fn single(&self) -> f64 {
        let singles = self.attributes.iter().filter_map(|&a| self.checks(&[a]));
        singles.fold(self.count, f64::min)
    }
}

/// Checks an event, if every group uses its best of the single attributes and these schemas.
pub fn checks(groups: &[Group], schemas: &[Vec<u32>]) -> f64 {
    let best = |group: &Group| {
        let multiple = schemas.iter().filter_map(|schema| group.checks(schema));
        multiple.fold(group.single(), f64::min)
    };
    groups.iter().map(best).sum()
}

#[derive(PartialEq)]
struct Candidate {
    benefit: f64,
    schema: Vec<u32>,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let benefit = self.benefit.total_cmp(&other.benefit);
        benefit.then_with(|| other.schema.cmp(&self.schema))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The schemas of several attributes that are worth a table of `table` checks, best first.
pub fn greedy(groups: &[Group], table: f64) -> Vec<Vec<u32>> {
    let mut now: Vec<f64> = groups.iter().map(Group::single).collect();
    let benefit = |schema: &[u32], now: &[f64]| -> f64 {
        let saved = groups.iter().zip(now).filter_map(|(group, now)| {
            let checks = group.checks(schema)?;
            Some((now - checks).max(0.0))
        });
        saved.sum::<f64>() - table
    };
    let mut known: BTreeSet<Vec<u32>> = BTreeSet::new();
    for group in groups {
        for (place, &one) in group.attributes.iter().enumerate() {
            for &other in &group.attributes[place + 1..] {
                known.insert(vec![one, other]);
            }
        }
    }
    let all: BTreeSet<u32> = known.iter().flatten().copied().collect();
    let candidate = |schema: Vec<u32>, now: &[f64]| Candidate {
        benefit: benefit(&schema, now),
        schema,
    };
    let mut heap: BinaryHeap<Candidate> = known
        .iter()
        .map(|schema| candidate(schema.clone(), &now))
        .collect();
    let mut chosen = Vec::new();
    while let Some(top) = heap.pop() {
        let fresh = candidate(top.schema, &now);
        if fresh.benefit <= 0.0 {
            continue;
        }
        if heap.peek().is_some_and(|next| next.benefit > fresh.benefit) {
            heap.push(fresh);
            continue;
        }
        let schema = fresh.schema;
        for (group, now) in groups.iter().zip(&mut now) {
            *now = group.checks(&schema).map_or(*now, |checks| now.min(checks));
        }
        for &attribute in all
            .iter()
            .filter(|a| schema.len() < MOST && !schema.contains(a))
        {
            let mut wider = schema.clone();
            wider.push(attribute);
            wider.sort_unstable();
            if known.insert(wider.clone()) {
                heap.push(candidate(wider, &now));
            }
        }
        chosen.push(schema);
    }
    chosen
}
