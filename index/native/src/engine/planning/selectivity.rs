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
    next: u16,
    counts: bool,
}

impl Default for Selectivity {
    fn default() -> Self {
        Selectivity {
            statistics: None,
            columns: Vec::new(),
            samples: 0,
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
            let literal = long.get(long.number(check));
            let hits = match literal.test {
                Test::Order(low, high) => within(low, high),
                Test::Among(values) => orders
                    .clone()
                    .filter(|o| values.binary_search(o).is_ok())
                    .count(),
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
        _ => prior_of_long(&long.get(long.number(check)), long),
    }
}

/// Grows with the width from 0 to 1.
fn narrow(width: f32) -> f32 {
    width / (width + 100.0)
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
        Test::Contains(_) => 0.3,
        Test::AnyOf(values) => (0.04 * values.len() as f32).min(0.6),
        Test::AllOf(_) => 0.03,
        Test::Empty => 0.15,
    };
    if literal.positive {
        positive
    } else {
        (1.0 - positive) * 0.95
    }
}
