//! Correlated values: the joint shares of pairs of attributes, from the statistics.
//!
//! ```text
//!   country language   share        by first    US ─▶ en 0.35, es 0.05    DE ─▶ de 0.06
//!   'US'    'en'       0.35         by second   en ─▶ 0.35   es ─▶ 0.05   de ─▶ 0.06
//!   'US'    'es'       0.05
//!   'DE'    'de'       0.06         country = 'US' and language = 'en':  0.35, not 0.41 × 0.4
//! ```
//!
//! The probability that two literals are both true: listed pairs count as they are, and the rest of
//! one is spread over the rest of the other. Without a table two literals are assumed to be
//! independent, which misjudges a guard that follows from its access.

mod snapshot;

use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::long_literals::{LongLiterals, Test};
use crate::engine::matching::event::order_of_int;
use crate::engine::planning::selectivity::point_of;
use crate::language::Type;
use rustc_hash::FxHashMap;

/// A value in the statistics: the order of a number, or a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KnownValue {
    Number(u64),
    Text(Box<str>),
}

/// One of the two attributes of a table.
#[derive(Clone, Copy)]
pub struct Side {
    pub attribute: u32,
    pub kind: Type,
    pub presence: f32,
}

/// The pairs of two attributes.
struct Table {
    /// The share of requests that have both, if known.
    presence: Option<f32>,
    total: f32,
    sides: [Side; 2],
    /// By the value of the first, then of the second; and the shares of the values of the second.
    first: Vec<(KnownValue, Vec<(KnownValue, f32)>)>,
    second: Vec<(KnownValue, f32)>,
}

/// A literal and its probability.
#[derive(Clone, Copy)]
pub struct WeightedLiteral {
    pub check: LiteralWord,
    pub chance: f32,
}

/// The tables, by the numbers of their attributes, the lower first.
#[derive(Default)]
pub struct Pairs {
    tables: FxHashMap<(u32, u32), Table>,
}

impl Pairs {
    /// Whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Add a table; it replaces one of the same attributes.
    pub fn add(
        &mut self,
        sides: [Side; 2],
        presence: Option<f32>,
        listed: Vec<(KnownValue, KnownValue, f32)>,
    ) {
        let turned = sides[0].attribute > sides[1].attribute;
        let [a, b] = sides;
        let sides = if turned { [b, a] } else { [a, b] };
        let mut first: FxHashMap<KnownValue, FxHashMap<KnownValue, f32>> = FxHashMap::default();
        for (a, b, share) in listed {
            let (a, b) = if turned { (b, a) } else { (a, b) };
            first.entry(a).or_default().insert(b, share);
        }
        let mut second: FxHashMap<KnownValue, f32> = FxHashMap::default();
        for (value, share) in first.values().flatten() {
            *second.entry(value.clone()).or_insert(0.0) += share;
        }
        let table = Table {
            presence,
            total: second.values().sum(),
            sides,
            first: first
                .into_iter()
                .map(|(value, others)| (value, others.into_iter().collect()))
                .collect(),
            second: second.into_iter().collect(),
        };
        self.tables
            .insert((sides[0].attribute, sides[1].attribute), table);
    }

    /// How many times more likely two literals are to be true together than if they were
    /// independent; `None` if that is not known for their attributes, or for such literals.
    pub fn lift(&self, a: WeightedLiteral, b: WeightedLiteral, long: &LongLiterals) -> Option<f32> {
        let turned = literal_word::attribute_of(a.check) > literal_word::attribute_of(b.check);
        let (a, b) = if turned { (b, a) } else { (a, b) };
        let key = (
            literal_word::attribute_of(a.check),
            literal_word::attribute_of(b.check),
        );
        let table = self.tables.get(&key)?;
        let together = table.joint(a, b, long)?;
        let apart = a.chance * b.chance;
        (apart > 0.0).then(|| together / apart)
    }
}

impl Table {
    fn joint(&self, a: WeightedLiteral, b: WeightedLiteral, long: &LongLiterals) -> Option<f32> {
        let joint = if is_missing(a.check) {
            b.chance - self.joint(present(a), b, long)?
        } else if is_missing(b.check) {
            a.chance - self.joint(a, present(b), long)?
        } else {
            self.joint_of_present(a, b, long)?
        };
        let least = (a.chance + b.chance - 1.0).max(0.0);
        Some(joint.clamp(least, a.chance.min(b.chance).max(least)))
    }

    fn joint_of_present(
        &self,
        a: WeightedLiteral,
        b: WeightedLiteral,
        long: &LongLiterals,
    ) -> Option<f32> {
        let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
        for (value, others) in &self.first {
            if !meets(a.check, self.sides[0].kind, value, long)? {
                continue;
            }
            for (other, share) in others {
                of_a += share;
                if meets(b.check, self.sides[1].kind, other, long)? {
                    both += share;
                }
            }
        }
        for (value, share) in &self.second {
            if meets(b.check, self.sides[1].kind, value, long)? {
                of_b += share;
            }
        }
        let left = |all: f32, listed: f32| (all - listed).max(0.0);
        let (rest_a, rest_b) = (left(a.chance, of_a), left(b.chance, of_b));
        let spread = match self.presence {
            Some(presence) => {
                let [of_first, of_second] = self.sides.map(|side| left(side.presence, self.total));
                left(presence, self.total) / (of_first * of_second).max(f32::MIN_POSITIVE)
            }
            None => 1.0 / left(1.0, self.total).max(f32::MIN_POSITIVE),
        };
        Some(both + rest_a * rest_b * spread)
    }
}

fn is_missing(check: LiteralWord) -> bool {
    literal_word::op_of(check) == literal_word::MISSING
}

fn present(missing: WeightedLiteral) -> WeightedLiteral {
    WeightedLiteral {
        check: literal_word::pack(
            literal_word::PRESENT,
            literal_word::attribute_of(missing.check),
            0,
        ),
        chance: 1.0 - missing.chance,
    }
}

/// Whether a value, or an element of a list, makes a literal true; `None` if it does not decide
/// that.
fn meets(check: LiteralWord, kind: Type, value: &KnownValue, long: &LongLiterals) -> Option<bool> {
    let op = literal_word::op_of(check);
    if op == literal_word::PRESENT {
        return Some(true);
    }
    if kind.is_list() && op != literal_word::LITERAL {
        return None;
    }
    let positive = matches!(
        op,
        literal_word::EQ | literal_word::RANGE | literal_word::TINY
    );
    let met = match (op, value) {
        (literal_word::EQ | literal_word::NE, KnownValue::Text(text)) => {
            kind == Type::Str && long.strings().text(point_of(check, kind) as u32) == &**text
        }
        (literal_word::EQ | literal_word::NE, KnownValue::Number(order)) => {
            point_of(check, kind) == *order
        }
        (literal_word::RANGE | literal_word::OUTSIDE, KnownValue::Number(order)) => {
            let (low, high) = literal_word::int_bounds(check);
            low.is_none_or(|low| order_of_int(low) <= *order)
                && high.is_none_or(|high| *order <= order_of_int(high))
        }
        (literal_word::TINY | literal_word::NOT_TINY, KnownValue::Number(order)) => {
            literal_word::tiny_values(check)
                .iter()
                .any(|&value| order_of_int(value) == *order)
        }
        (literal_word::LITERAL, value) => return long_meets(check, kind, value, long),
        _ => return None,
    };
    Some(met == positive)
}

fn long_meets(
    check: LiteralWord,
    kind: Type,
    value: &KnownValue,
    long: &LongLiterals,
) -> Option<bool> {
    let literal = long.get(long.number(check));
    let strings = long.strings();
    let among = |values: &[u64]| match value {
        KnownValue::Number(order) => values.binary_search(order).is_ok(),
        KnownValue::Text(text) => {
            kind.element() == Type::Str
                && strings
                    .find(text)
                    .is_some_and(|number| values.binary_search(&u64::from(number)).is_ok())
        }
    };
    let met = match (literal.test, value) {
        // An element says nothing about the other elements.
        (Test::AnyOf(values), _) if literal.positive => return Some(among(values)),
        (Test::AnyOf(_) | Test::AllOf(_) | Test::Empty, _) => return None,
        (Test::Among(values), _) => among(values),
        (Test::Order(low, high), KnownValue::Number(order)) => (low..=high).contains(order),
        (Test::Prefix(string), KnownValue::Text(text)) => text.starts_with(strings.text(string)),
        (Test::Suffix(string), KnownValue::Text(text)) => text.ends_with(strings.text(string)),
        (Test::Contains(part), KnownValue::Text(text)) => text.contains(part),
        (Test::Text(low, high), KnownValue::Text(text)) => {
            low.is_none_or(|(bound, open)| **text > *bound || (!open && **text == *bound))
                && high.is_none_or(|(bound, open)| **text < *bound || (!open && **text == *bound))
        }
        _ => return None,
    };
    Some(met == literal.positive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ids::slots::Properties;
    use crate::engine::index::Index;
    use crate::engine::report::plan;
    use crate::language::{Limits, Schema};

    fn side(attribute: u32, presence: f32) -> Side {
        Side {
            attribute,
            kind: Type::Int,
            presence,
        }
    }

    fn number(value: i64) -> KnownValue {
        KnownValue::Number(order_of_int(value))
    }

    fn is(attribute: u32, value: i64, chance: f32) -> WeightedLiteral {
        let key = u64::from(literal_word::int_key(value).unwrap());
        let check = literal_word::pack(literal_word::EQ, attribute, key);
        WeightedLiteral { check, chance }
    }

    fn close(got: Option<f32>, expected: f32) {
        let got = got.expect("a table");
        assert!((got - expected).abs() < 1e-3 * expected, "{got} {expected}");
    }

    #[test]
    fn what_is_told_counts_and_the_rest_is_spread() {
        let long = LongLiterals::default();
        let mut pairs = Pairs::default();
        // All pairs of 1 are listed, half of them with 5; none of 2.
        let listed = vec![(number(5), number(1), 0.1), (number(6), number(1), 0.1)];
        pairs.add([side(7, 1.0), side(3, 1.0)], None, listed);
        let lift = |a, b| pairs.lift(a, b, &long);
        close(lift(is(3, 1, 0.2), is(7, 5, 0.1)), 0.1 / 0.02);
        close(lift(is(7, 5, 0.1), is(3, 1, 0.2)), 0.1 / 0.02);
        close(lift(is(3, 1, 0.2), is(7, 5, 0.5)), 0.1 / 0.1);
        assert_eq!(lift(is(3, 1, 0.2), is(7, 9, 0.3)), Some(0.0));
        // 0.4 of 2 and 0.3 of 9 are in the 0.8 without listed pairs.
        close(lift(is(3, 2, 0.4), is(7, 9, 0.3)), 1.0 / 0.8);
        assert_eq!(lift(is(3, 1, 0.2), is(4, 5, 0.1)), None);
    }

    #[test]
    fn what_is_present_together_counts_where_no_values_are_told() {
        let long = LongLiterals::default();
        let mut pairs = Pairs::default();
        pairs.add([side(1, 0.5), side(2, 0.4)], Some(0.4), Vec::new());
        let there = |attribute, chance| WeightedLiteral {
            check: literal_word::pack(literal_word::PRESENT, attribute, 0),
            chance,
        };
        let gone = |attribute, chance| WeightedLiteral {
            check: literal_word::pack(literal_word::MISSING, attribute, 0),
            chance,
        };
        let lift = |a, b| pairs.lift(a, b, &long);
        close(lift(there(1, 0.5), there(2, 0.4)), 2.0);
        close(lift(is(1, 3, 0.1), is(2, 3, 0.1)), 2.0);
        // Where the first is missing, so is the second.
        assert_eq!(lift(gone(1, 0.5), there(2, 0.4)), Some(0.0));
        close(lift(gone(1, 0.5), gone(2, 0.6)), 0.5 / 0.3);
    }

    fn guards(index: &Index) -> Vec<String> {
        let plan = index.read(|core| plan(core, 1)).expect("it is there");
        let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
        let entry = &plan["entries"][0];
        assert_eq!(entry["access"], "a = 1");
        let guards = entry["guards"].as_array().expect("a list").iter();
        guards.map(|guard| guard.to_string()).collect()
    }

    #[test]
    fn a_guard_that_follows_from_the_access_is_none() {
        let attributes = [
            ("a", Type::Int),
            ("b", Type::Int),
            ("c", Type::Int),
            ("s", Type::Str),
        ];
        let schema = Schema::new(attributes).expect("names differ");
        let index = Index::new(schema, Limits::default(), false);
        let tree = br#"[1,["and",["=","a",1],["=","b",2],["=","c",3],["=","s","x"]]]"#;
        index
            .insert(1, tree, Properties::default())
            .expect("a tree");
        let use_pairs = |pairs: &str| {
            let statistics = format!(
                r#"{{"version": 1, "attributes": {{
                    "a": {{"values": [[1, 0.01]]}}, "b": {{"values": [[2, 0.3]]}},
                    "c": {{"values": [[3, 0.4]]}}, "s": {{"values": [["x", 0.05]]}}}}{pairs}}}"#
            );
            index.use_statistics(Some(statistics.as_bytes()))
        };
        use_pairs("").expect("statistics");
        assert_eq!(guards(&index), [r#""s = 'x'""#, r#""b = 2""#]);
        // Wherever a is 1, s is 'x'.
        let pair = r#", "pairs": [{"attributes": ["s", "a"], "values": [["x", 1, 0.01]]}]"#;
        use_pairs(pair).expect("statistics");
        assert_eq!(guards(&index), [r#""b = 2""#, r#""c = 3""#]);
        // Wherever a is 1, s is never 'x', and c is always 3.
        let pairs = r#", "pairs": [{"attributes": ["a", "s"], "values": [[1, "y", 0.01]]},
            {"attributes": ["a", "c"], "values": [[1, 3, 0.01]]},
            {"attributes": ["gone", "c"], "values": [[1, 3, 0.01]]}]"#;
        use_pairs(pairs).expect("statistics");
        assert_eq!(guards(&index), [r#""s = 'x'""#, r#""b = 2""#]);
        // Wherever b is 2, s is 'x': the second guard brings nothing.
        let pair = r#", "pairs": [{"attributes": ["b", "s"], "values": [[2, "x", 0.05], [2, "y", 0.0], [7, "y", 0.0]]}]"#;
        use_pairs(pair).expect("statistics");
        assert_eq!(guards(&index), [r#""s = 'x'""#, r#""c = 3""#]);
        for wrong in [
            r#", "pairs": [{"attributes": ["a", "a"]}]"#,
            r#", "pairs": [{"attributes": ["a", "b"], "presence": 1.5}]"#,
            r#", "pairs": [{"attributes": ["a", "b"], "values": [[1, 2, -0.1]]}]"#,
            r#", "pairs": [{"attributes": ["a"]}]"#,
        ] {
            assert!(use_pairs(wrong).is_err(), "{wrong}");
        }
    }
}
