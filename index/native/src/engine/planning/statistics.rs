//! Statistics of the traffic, as the nightly job writes them.
//!
//! ```json
//! {"version": 1,
//!  "attributes": {
//!    "country":  {"presence": 0.98, "values": [["US", 0.41], ["DE", 0.07]]},
//!    "age":      {"presence": 0.60, "values": [[30, 0.02]],
//!                 "histogram": [[18, 29, 0.21], [30, 44, 0.25]]},
//!    "segments": {"presence": 0.75, "empty": 0.05, "elements": [[12, 0.10], [99, 0.04]]}}}
//! ```
//!
//! All numbers are shares of all requests. `values` are the most common ones; the histogram holds
//! the rest, in ranges with both ends included; `elements` are the shares of requests whose list
//! has the element. Missing shares are estimated; repeated ones count once. Other fields are
//! ignored.

mod snapshot;

use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::{LongLiterals, Test};
use crate::engine::matching::event::{order_of_float, order_of_int};
use crate::engine::planning::selectivity::{point_of, share_of_buckets};
use crate::language::address::Network;
use crate::language::folding::fold;
use crate::language::pattern::finds;
use crate::language::{Schema, Type, version};
use rustc_hash::FxHashMap;
use serde::Deserialize;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The greatest share of a value that is not listed.
const RARE: f32 = 1e-4;

/// Why statistics cannot be read.
#[derive(Debug)]
pub struct StatisticsError(pub String);

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

fn share(share: f32) -> Result<f32, String> {
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{share} is not between 0 and 1"))
    }
}

#[derive(Deserialize)]
struct Document {
    version: u32,
    attributes: FxHashMap<String, Described>,
}

#[derive(Deserialize)]
#[serde(default)]
struct Described {
    presence: f32,
    empty: f32,
    values: Vec<(Scalar, f32)>,
    elements: Vec<(Scalar, f32)>,
    histogram: Vec<(f64, f64, f32)>,
}

impl Default for Described {
    fn default() -> Self {
        Described {
            presence: 1.0,
            empty: 0.0,
            values: Vec::new(),
            elements: Vec::new(),
            histogram: Vec::new(),
        }
    }
}

#[derive(Default)]
struct Attribute {
    presence: f32,
    empty: f32,
    numbers: FxHashMap<u64, f32>,
    sorted: Vec<(u64, f32)>,
    texts: FxHashMap<Box<str>, f32>,
    histogram: Vec<(u64, u64, f32)>,
    /// The share of requests with the attribute whose value is not a common one.
    rest: f32,
}

/// Statistics, ready for lookups.
pub struct Statistics {
    attributes: Vec<Option<Attribute>>,
}

impl Statistics {
    /// Read statistics. Undeclared attributes are left out.
    ///
    /// # Errors
    /// If this is not JSON of the format above, or a share is not between 0 and 1.
    pub fn read(json: &[u8], schema: &Schema) -> Result<Self, StatisticsError> {
        let document: Document =
            serde_json::from_slice(json).map_err(|e| StatisticsError(e.to_string()))?;
        if document.version != VERSION {
            return Err(StatisticsError(format!(
                "expected version {VERSION}, found {}",
                document.version
            )));
        }
        let mut attributes = Vec::new();
        attributes.resize_with(schema.len(), || None);
        for (name, described) in document.attributes {
            let Some(number) = schema.attr(&name) else {
                continue;
            };
            let kind = schema.ty(number);
            let known = Attribute::read(described, kind)
                .map_err(|what| StatisticsError(format!("{name}: {what}")))?;
            if kind.element() == Type::Str {
                attributes[schema.fold_of(number) as usize] = Some(known.folded());
            }
            attributes[number as usize] = Some(known);
        }
        Ok(Statistics { attributes })
    }

    /// The probability that a literal is true for a request.
    pub fn probability(&self, check: LiteralWord, kind: Type, long: &LongLiterals) -> f32 {
        let attribute = literal_word::attribute_of(check) as usize;
        let Some(Some(known)) = self.attributes.get(attribute) else {
            return if literal_word::op_of(check) == literal_word::MISSING {
                1.0
            } else {
                RARE
            };
        };
        let p = match literal_word::op_of(check) {
            literal_word::PRESENT => known.presence,
            literal_word::MISSING => 1.0 - known.presence,
            op @ (literal_word::EQ | literal_word::NE) => {
                let point = point_of(check, kind);
                let share = if kind == Type::Str {
                    known.text_share(long.strings().text(point as u32))
                } else {
                    known.range_share(point, point)
                };
                if op == literal_word::EQ {
                    share
                } else {
                    known.presence - share
                }
            }
            op @ (literal_word::RANGE | literal_word::OUTSIDE) => {
                let (low, high) = literal_word::int_bounds(check);
                let share = known.range_share(
                    low.map_or(0, order_of_int),
                    high.map_or(u64::MAX, order_of_int),
                );
                if op == literal_word::RANGE {
                    share
                } else {
                    known.presence - share
                }
            }
            op @ (literal_word::TINY | literal_word::NOT_TINY) => {
                let values = literal_word::tiny_values(check);
                let orders = values.iter().map(|&value| order_of_int(value));
                let share = orders.map(|order| known.range_share(order, order)).sum();
                if op == literal_word::TINY {
                    share
                } else {
                    known.presence - share
                }
            }
            _ => known.long_share(check, kind, long),
        };
        p.clamp(0.0, 1.0)
    }
}

impl Attribute {
    fn read(described: Described, kind: Type) -> Result<Self, String> {
        let mut known = Attribute {
            presence: share(described.presence)?,
            empty: share(described.empty)?,
            ..Default::default()
        };
        let mut listed = known.empty;
        for (value, part) in described.values.into_iter().chain(described.elements) {
            let part = share(part)?;
            listed += part;
            let order = match value {
                Scalar::Text(text) if kind == Type::Version || kind == Type::Ip => {
                    // One value may be written in several ways; what says none is left out.
                    let order = match kind {
                        Type::Version => version::parse(&text),
                        _ => Network::of_client(&text).map(Network::order),
                    };
                    if let Some(order) = order {
                        *known.numbers.entry(order).or_insert(0.0) += part;
                    }
                    continue;
                }
                Scalar::Text(text) => {
                    known.texts.insert(text.into(), part);
                    continue;
                }
                Scalar::Bool(value) => u64::from(value),
                Scalar::Int(value) if kind.element() == Type::Float => order_of_float(value as f64),
                Scalar::Int(value) => order_of_int(value),
                Scalar::Float(value) => order_of_float(value),
            };
            known.numbers.insert(order, part);
        }
        for (low, high, part) in described.histogram {
            let part = share(part)?;
            listed += part;
            let order = |value: f64| match kind {
                Type::Int => order_of_int(value as i64),
                _ => order_of_float(value),
            };
            known.histogram.push((order(low), order(high), part));
        }
        known.sorted = known
            .numbers
            .iter()
            .map(|(&order, &part)| (order, part))
            .collect();
        known.sorted.sort_unstable_by_key(|&(order, _)| order);
        known.rest = (known.presence - listed).max(0.0);
        Ok(known)
    }

    /// What is known of the folded texts.
    fn folded(&self) -> Self {
        let mut folded = Attribute {
            presence: self.presence,
            empty: self.empty,
            rest: self.rest,
            ..Default::default()
        };
        for (text, part) in &self.texts {
            *folded.texts.entry(fold(text).into()).or_insert(0.0) += part;
        }
        folded
    }

    fn text_share(&self, text: &str) -> f32 {
        self.texts.get(text).copied().unwrap_or_else(|| self.rare())
    }

    fn rare(&self) -> f32 {
        (self.rest * 0.01).min(RARE)
    }

    /// The share of numbers between two orders: exact for common ones, by the histogram for the
    /// rest.
    fn range_share(&self, low: u64, high: u64) -> f32 {
        if low == high
            && let Some(&share) = self.numbers.get(&low)
        {
            return share;
        }
        let first = self.sorted.partition_point(|&(order, _)| order < low);
        let common: f32 = self.sorted[first..]
            .iter()
            .take_while(|&&(order, _)| order <= high)
            .map(|&(_, share)| share)
            .sum();
        let rest: f32 = self
            .histogram
            .iter()
            .map(|&(from, to, share)| {
                let (a, b) = (from.max(low), to.min(high));
                if a > b {
                    0.0
                } else {
                    share * ((b - a) as f32 + 1.0) / ((to - from) as f32 + 1.0)
                }
            })
            .sum();
        common + rest + if low == high { 0.0 } else { self.rest * 0.5 } + self.rare()
    }

    /// The share of addresses or points in ranges of orders: exact for common ones; of the rest, a
    /// part as large as the ranges are among all orders.
    fn area_share(&self, ranges: &[(u64, u64)]) -> f32 {
        let share = |&(low, high): &(u64, u64)| {
            let first = self.sorted.partition_point(|&(order, _)| order < low);
            let common = self.sorted[first..].iter();
            let common = common.take_while(|&&(order, _)| order <= high);
            let common: f32 = common.map(|&(_, share)| share).sum();
            common + self.rest * ((high - low) as f32 / u64::MAX as f32).sqrt() + self.rare()
        };
        ranges.iter().map(share).sum()
    }

    fn long_share(&self, check: LiteralWord, kind: Type, long: &LongLiterals) -> f32 {
        let literal = long.get(literal_word::number_of(check));
        let texts = |test: &dyn Fn(&str) -> bool, unknown: f32| -> f32 {
            let listed = self.texts.iter().filter(|(text, _)| test(text));
            listed.map(|(_, &share)| share).sum::<f32>() + self.rest * unknown
        };
        let one = |value: &u64| {
            if kind.element() == Type::Str {
                self.text_share(long.strings().text(*value as u32))
            } else {
                self.range_share(*value, *value)
            }
        };
        let strings = long.strings();
        let share = match literal.test {
            Test::Order(low, high) => self.range_share(low, high),
            Test::Among(values) => values.iter().map(one).sum(),
            Test::AnyOf(values) => {
                1.0 - values.iter().map(|value| 1.0 - one(value)).product::<f32>()
            }
            Test::AllOf(values) => values.iter().map(one).fold(1.0, f32::min) * 0.7,
            Test::Prefix(string) => {
                let prefix = strings.text(string);
                texts(&|text| text.starts_with(prefix), 0.02)
            }
            Test::Suffix(string) => {
                let suffix = strings.text(string);
                texts(&|text| text.ends_with(suffix), 0.02)
            }
            Test::Contains(part) => texts(&|text| text.contains(part), 0.1),
            Test::Pattern(matcher) => texts(&|text| finds(matcher.program, text), 0.1),
            Test::Text(low, high) => texts(
                &|text| {
                    low.is_none_or(|(bound, _)| text >= bound)
                        && high.is_none_or(|(bound, _)| text <= bound)
                },
                0.5,
            ),
            Test::Empty => self.empty,
            Test::Area(area, words) => self.area_share(&area.ranges(words)),
            Test::Bucket(_, ranges) => self.presence * share_of_buckets(ranges),
        };
        if literal.positive {
            share
        } else {
            self.presence - share
        }
    }
}
