//! The probability of a literal. It decides what an expression enters by, never the answer.
//!
//! With statistics: from the shares of values, the histogram and the presence of its attribute.
//! Without: from the thesis's ranking of operators, and from the events that were sampled here.

mod snapshot;

use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::{LongLiteral, LongLiterals, Test};
use crate::engine::matching::event::order_of_int;
use crate::engine::planning::statistics::Statistics;
use crate::language::Type;
use crate::language::bucket::BUCKETS;

/// The number of sampled events that are kept.
const SAMPLES: usize = 256;
/// Fewer sampled events are not used.
const ENOUGH: usize = 16;
/// The weight of the ranking of operators, in events.
const PRIOR_WEIGHT: f32 = 8.0;

/// A column of sampled values: which sample had it, and its order.
#[derive(Default, Clone)]
struct Column {
    values: Vec<(u16, u64)>,
}

/// Everything that is known about events.
pub struct Selectivity {
    statistics: Option<Statistics>,
    columns: Vec<Column>,
    samples: usize,
    /// The sample by which everything was planned last, and its size.
    planned: (Vec<Column>, usize),
    next: u16,
    counts: bool,
}

impl Default for Selectivity {
    fn default() -> Self {
        Selectivity {
            statistics: None,
            columns: Vec::new(),
            samples: 0,
            planned: (Vec::new(), 0),
            next: 0,
            counts: true,
        }
    }
}

impl Selectivity {
    /// Use these statistics, or none.
    pub fn set_statistics(&mut self, statistics: Option<Statistics>) {
        self.statistics = statistics;
    }

    /// The statistics in use.
    pub fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// Set whether sampled events are used, or only the ranking of operators.
    pub fn use_samples(&mut self, counts: bool) {
        self.counts = counts;
    }

    /// Whether all that is known about events is the ranking of operators.
    pub fn is_blind(&self) -> bool {
        self.statistics.is_none() && (!self.counts || self.samples < ENOUGH)
    }

    /// The number of sampled events.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Remember that everything is planned by the sample as it is now.
    pub fn plan_by_sample(&mut self) {
        self.planned = (self.columns.clone(), self.samples);
    }

    /// The size of the sample by which everything was planned last.
    pub fn planned(&self) -> usize {
        self.planned.1
    }

    /// How far the sample has moved since everything was planned: the greatest difference between
    /// the two distributions of an attribute's values (that of Kolmogorov and Smirnov), from 0 to 1.
    pub fn drift(&self) -> f32 {
        let (then, planned) = &self.planned;
        if *planned == 0 || self.samples == 0 {
            return 0.0;
        }
        let nothing = Column::default();
        (0..self.columns.len().max(then.len()))
            .map(|attribute| {
                let old = then.get(attribute).unwrap_or(&nothing);
                let new = self.columns.get(attribute).unwrap_or(&nothing);
                distance((old, *planned), (new, self.samples))
            })
            .fold(0.0, f32::max)
    }

    /// Add an event to the sample in place of the oldest: its scalars with their orders.
    pub fn sample(&mut self, values: &[(u32, u64)], attributes: usize) {
        if self.columns.len() < attributes {
            self.columns.resize_with(attributes, Column::default);
        }
        let number = self.next;
        if self.samples == SAMPLES {
            for column in &mut self.columns {
                column.values.retain(|&(sample, _)| sample != number);
            }
        } else {
            self.samples += 1;
        }
        for &(attribute, order) in values {
            self.columns[attribute as usize]
                .values
                .push((number, order));
        }
        self.next = (self.next + 1) % SAMPLES as u16;
    }

    /// The probability that a literal is true for an event.
    pub fn probability(&self, check: LiteralWord, types: &[Type], long: &LongLiterals) -> f32 {
        if check == literal_word::ALWAYS {
            return 1.0;
        }
        let attribute = literal_word::attribute_of(check);
        let kind = types[attribute as usize];
        if let Some(statistics) = &self.statistics {
            return statistics.probability(check, kind, long);
        }
        let prior = prior(check, long);
        if self.is_blind() || kind.is_list() {
            return prior;
        }
        let Some(column) = self.columns.get(attribute as usize) else {
            return prior;
        };
        let orders = column.values.iter().map(|&(_, order)| order);
        let Some(hits) = count(check, kind, long, orders, self.samples) else {
            let presence = column.values.len() as f32 / self.samples as f32;
            return prior * presence.max(0.01);
        };
        (hits as f32 + prior * PRIOR_WEIGHT) / (self.samples as f32 + PRIOR_WEIGHT)
    }
}

/// The greatest difference between two distributions, of columns of so many samples. A missing value
/// is less than all others.
fn distance((old, so_many): (&Column, usize), (new, now): (&Column, usize)) -> f32 {
    let orders = |column: &Column| {
        let mut orders: Vec<u64> = column.values.iter().map(|&(_, order)| order).collect();
        orders.sort_unstable();
        orders
    };
    let (old, new) = (orders(old), orders(new));
    let up_to = |orders: &[u64], samples: usize, order: u64| {
        let more = orders.len() - orders.partition_point(|&each| each <= order);
        1.0 - more as f32 / samples as f32
    };
    let presence = old.len() as f32 / so_many as f32 - new.len() as f32 / now as f32;
    let apart = |&order: &u64| (up_to(&old, so_many, order) - up_to(&new, now, order)).abs();
    let values = old.iter().chain(&new).map(apart);
    values.fold(presence.abs(), f32::max)
}

/// How many of the sampled values make a literal true; `None` if their orders do not decide that.
fn count(
    check: LiteralWord,
    kind: Type,
    long: &LongLiterals,
    orders: impl ExactSizeIterator<Item = u64> + Clone,
    samples: usize,
) -> Option<usize> {
    let present = orders.len();
    let within = |low: u64, high: u64| orders.clone().filter(|o| (low..=high).contains(o)).count();
    Some(match literal_word::op_of(check) {
        literal_word::PRESENT => present,
        literal_word::MISSING => samples - present,
        op @ (literal_word::EQ | literal_word::NE) => {
            let value = point_of(check, kind);
            let hits = within(value, value);
            if op == literal_word::EQ {
                hits
            } else {
                present - hits
            }
        }
        op @ (literal_word::RANGE | literal_word::OUTSIDE) => {
            let (low, high) = literal_word::int_bounds(check);
            let hits = within(
                low.map_or(0, order_of_int),
                high.map_or(u64::MAX, order_of_int),
            );
            if op == literal_word::RANGE {
                hits
            } else {
                present - hits
            }
        }
        op @ (literal_word::TINY | literal_word::NOT_TINY) => {
            let values = literal_word::tiny_values(check);
            let hits = values
                .iter()
                .map(|&v| within(order_of_int(v), order_of_int(v)))
                .sum();
            if op == literal_word::TINY {
                hits
            } else {
                present - hits
            }
        }
        _ => {
            let literal = long.get(literal_word::number_of(check));
            let hits = match literal.test {
                Test::Order(low, high) => within(low, high),
                Test::Among(values) => orders
                    .clone()
                    .filter(|o| values.binary_search(o).is_ok())
                    .count(),
                Test::Area(area, words) => {
                    let ranges = area.ranges(words);
                    ranges.iter().map(|&(low, high)| within(low, high)).sum()
                }
                _ => return None,
            };
            if literal.positive {
                hits
            } else {
                present - hits
            }
        }
    })
}

/// The order, or the number, that an EQ or NE names.
pub fn point_of(check: LiteralWord, kind: Type) -> u64 {
    let payload = literal_word::payload_of(check);
    if kind == Type::Int {
        order_of_int(payload as i64 - (1 << 31))
    } else {
        payload
    }
}

/// The share of all buckets that is in these ranges.
pub fn share_of_buckets(ranges: &[u64]) -> f32 {
    let buckets = ranges.chunks_exact(2).map(|range| range[1] - range[0] + 1);
    buckets.sum::<u64>() as f32 / BUCKETS as f32
}

/// The ranking of operators as probabilities.
pub fn prior(check: LiteralWord, long: &LongLiterals) -> f32 {
    match literal_word::op_of(check) {
        literal_word::TRUE => 1.0,
        literal_word::EQ => 0.02,
        literal_word::NE => 0.93,
        literal_word::RANGE => {
            let (low, high) = literal_word::int_bounds(check);
            match (low, high) {
                (Some(low), Some(high)) => 0.2 + 0.1 * narrow((high - low) as f32),
                _ => 0.5,
            }
        }
        literal_word::OUTSIDE => 0.7,
        literal_word::TINY => 0.02 * literal_word::tiny_values(check).len() as f32,
        literal_word::NOT_TINY => {
            (1.0 - 0.02 * literal_word::tiny_values(check).len() as f32) * 0.95
        }
        literal_word::PRESENT => 0.95,
        literal_word::MISSING => 0.6,
        _ => prior_of_long(&long.get(literal_word::number_of(check)), long),
    }
}

/// Grows with the width from 0 to 1.
fn narrow(width: f32) -> f32 {
    width / (width + 100.0)
}

/// The longer a text, the fewer contain it.
fn prior_of_part(part: &str) -> f32 {
    0.3 * 0.6f32.powi(part.len().clamp(1, 10) as i32 - 1)
}

fn prior_of_long(literal: &LongLiteral, long: &LongLiterals) -> f32 {
    let positive = match literal.test {
        Test::Order(low, high) if low == high => 0.02,
        Test::Order(0, _) | Test::Order(_, u64::MAX) => 0.5,
        Test::Order(..) => 0.25,
        Test::Among(values) => (0.02 * values.len() as f32).min(0.5),
        Test::Text(..) => 0.5,
        // A prefix of three letters is about as rare as a value.
        Test::Prefix(string) => {
            let length = long.strings().text(string).len().min(10);
            0.15 * 0.5f32.powi(length as i32)
        }
        Test::Suffix(_) => 0.06,
        Test::Contains(part) => prior_of_part(part),
        Test::Pattern(matcher) => prior_of_part(matcher.required),
        Test::AnyOf(values) => (0.04 * values.len() as f32).min(0.6),
        Test::AllOf(_) => 0.03,
        Test::Empty => 0.15,
        Test::Area(area, words) => area.prior(words),
        Test::Bucket(_, ranges) => share_of_buckets(ranges),
    };
    if literal.positive {
        positive
    } else {
        (1.0 - positive) * 0.95
    }
}

#[cfg(test)]
mod tests {
    use super::{SAMPLES, Selectivity};

    fn with(events: impl Iterator<Item = Option<u64>>) -> Selectivity {
        let mut known = Selectivity::default();
        add(&mut known, events);
        known
    }

    fn add(to: &mut Selectivity, events: impl Iterator<Item = Option<u64>>) {
        for event in events {
            let values: Vec<(u32, u64)> = event.into_iter().map(|order| (1, order)).collect();
            to.sample(&values, 2);
        }
    }

    fn drift_to(events: impl Iterator<Item = Option<u64>>) -> f32 {
        let mut known = with((0..SAMPLES as u64).map(|n| Some(n % 10)));
        assert_eq!(
            (known.drift(), known.planned()),
            (0.0, 0),
            "nothing is planned yet"
        );
        known.plan_by_sample();
        assert_eq!((known.drift(), known.planned()), (0.0, SAMPLES));
        add(&mut known, events);
        known.drift()
    }

    #[test]
    fn drift_is_the_share_of_events_that_differ() {
        let all = 0..SAMPLES as u64;
        let same = drift_to(all.clone().map(|n| Some((n + 3) % 10)));
        assert!(same < 0.02, "{same}");
        assert_eq!(drift_to(all.clone().map(|_| None)), 1.0);
        assert_eq!(drift_to(all.clone().map(|n| Some(n % 10 + 10))), 1.0);
        let half = drift_to(all.clone().map(|n| (n % 2 == 0).then_some(n % 10)));
        assert!((0.45..0.6).contains(&half), "{half}");
        let quarter = drift_to(all.take(SAMPLES / 4).map(|_| Some(0)));
        assert!((0.2..0.26).contains(&quarter), "{quarter}");
    }
}
