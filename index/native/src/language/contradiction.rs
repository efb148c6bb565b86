//! Can several literals on one attribute all be true of one value?
//!
//! A "no" is always right; a "yes" may be wrong, since there are only a few rules:
//!
//! - `is null` contradicts every other literal, and a predicate contradicts its negation;
//! - a finite choice (`in`, up to 64 integers in a range) is tried value by value;
//! - lower bounds must not exceed upper ones, prefixes and suffixes must nest;
//! - networks and ranges of addresses must overlap;
//! - an element that a list must have must not be one that it must not have.
//!
//! The rules are part of the normal form, so they are exactly those of `contradiction.py`. The
//! caller finds a predicate and its negation, since it knows which predicates are the same.

use super::address::Network;
use super::literal::Literal;
use super::operator::Op;
use super::schema::Schema;
use super::types::{Type, Value};

/// A range with up to this many integers is tried value by value.
const FEW: u64 = 64;

/// Whether no value can make all of these literals true. There are two or more, all different,
/// all on one attribute or on what is derived from it, none the negation of another.
pub(super) fn contradict<'a>(
    literals: impl Iterator<Item = Literal<'a>> + Clone,
    schema: &Schema,
) -> bool {
    let mut nulls = literals.clone().filter(|literal| literal.op == Op::IsNull);
    if nulls.any(|literal| literal.positive) {
        return true;
    }
    let rest = literals.filter(|literal| literal.op != Op::IsNull);
    let compared = |literal: Literal<'a>| (literal.attr, literal.salt);
    let Some(first) = rest.clone().next().map(compared) else {
        return false;
    };
    if rest.clone().all(|literal| compared(literal) == first) {
        return values_contradict(rest, schema);
    }
    let mut all: Vec<_> = rest.clone().map(compared).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().any(|one| {
        values_contradict(
            rest.clone().filter(|literal| compared(*literal) == one),
            schema,
        )
    })
}

/// The same, of literals that compare one value.
fn values_contradict<'a>(rest: impl Iterator<Item = Literal<'a>> + Clone, schema: &Schema) -> bool {
    let mut two = rest.clone();
    let (Some(first), Some(_)) = (two.next(), two.next()) else {
        return false;
    };
    let kind = match first.salt {
        Some(_) => Type::Int,
        None => schema.ty(first.attr),
    };
    if kind.is_list() {
        return lists_contradict(rest);
    }
    if kind == Type::Ip {
        return addresses_contradict(rest);
    }
    let choices = rest
        .clone()
        .filter(|literal| literal.op == Op::In && literal.positive);
    if let Some(fewest) = choices.min_by_key(|literal| literal.values.len()) {
        return none_fits(fewest.values.iter(), rest);
    }
    ranges_contradict(rest.clone(), kind)
        || (kind == Type::Str && (prefixes_contradict(rest.clone()) || suffixes_contradict(rest)))
}

fn none_fits<'a>(
    mut values: impl Iterator<Item = Value<'a>>,
    literals: impl Iterator<Item = Literal<'a>> + Clone,
) -> bool {
    !values.any(|value| literals.clone().all(|literal| literal.holds(value)))
}

/// A bound, and whether it is itself excluded.
type Bound<'a> = (Value<'a>, bool);

/// The lower bounds that positive ranges set.
fn lower<'a>(literals: impl Iterator<Item = Literal<'a>>) -> impl Iterator<Item = Bound<'a>> {
    literals.filter_map(|literal| match literal.op {
        Op::Ge => Some((literal.values.get(0)?, false)),
        Op::Gt => Some((literal.values.get(0)?, true)),
        Op::Between if literal.positive => Some((literal.values.get(0)?, false)),
        _ => None,
    })
}

/// The upper bounds that positive ranges set.
fn upper<'a>(literals: impl Iterator<Item = Literal<'a>>) -> impl Iterator<Item = Bound<'a>> {
    literals.filter_map(|literal| match literal.op {
        Op::Le => Some((literal.values.get(0)?, false)),
        Op::Lt => Some((literal.values.get(0)?, true)),
        Op::Between if literal.positive => Some((literal.values.get(1)?, false)),
        _ => None,
    })
}

fn ranges_contradict<'a>(literals: impl Iterator<Item = Literal<'a>> + Clone, kind: Type) -> bool {
    // Of equal bounds the excluded one is the tighter.
    let lowest = lower(literals.clone()).max();
    let highest = upper(literals.clone()).min_by_key(|(value, open)| (*value, !open));
    let (Some((low, low_open)), Some((high, high_open))) = (lowest, highest) else {
        return false;
    };
    if low > high || (low == high && (low_open || high_open)) {
        return true;
    }
    if let (Type::Int, Value::Int(low), Value::Int(high)) = (kind, low, high) {
        // high is not below low, so their distance fits without a sign.
        if (high.wrapping_sub(low) as u64) < FEW {
            return none_fits((low..=high).map(Value::Int), literals);
        }
    }
    low == high && none_fits(std::iter::once(low), literals)
}

fn patterns<'a>(
    literals: impl Iterator<Item = Literal<'a>>,
    op: Op,
) -> impl Iterator<Item = &'a str> {
    literals.filter_map(move |literal| match literal.values.get(0) {
        Some(Value::Str(text)) if literal.op == op && literal.positive => Some(text),
        _ => None,
    })
}

fn prefixes_contradict<'a>(literals: impl Iterator<Item = Literal<'a>> + Clone) -> bool {
    let mut prefixes = patterns(literals.clone(), Op::StartsWith);
    // The longest in bytes: where Python's longest in characters is another, they do not nest.
    let Some(longest) = patterns(literals.clone(), Op::StartsWith).max_by_key(|text| text.len())
    else {
        return false;
    };
    if !prefixes.all(|prefix| longest.starts_with(prefix)) {
        return true;
    }
    // Strings with the prefix are not below the prefix itself, and all of them are on one side
    // of a bound that does not have it.
    lower(literals.clone()).any(|(low, _)| match low {
        Value::Str(low) => low > longest && !low.starts_with(longest),
        _ => false,
    }) || upper(literals).any(|(high, open)| match high {
        Value::Str(high) => high < longest || (high == longest && open),
        _ => false,
    })
}

fn suffixes_contradict<'a>(literals: impl Iterator<Item = Literal<'a>> + Clone) -> bool {
    let mut suffixes = patterns(literals.clone(), Op::EndsWith);
    let longest = patterns(literals, Op::EndsWith).max_by_key(|text| text.len());
    longest.is_some_and(|longest| !suffixes.all(|suffix| longest.ends_with(suffix)))
}

/// The first and the last address of a range, each with its version.
type Range = ((u8, u128), (u8, u128));

fn addresses_contradict<'a>(literals: impl Iterator<Item = Literal<'a>>) -> bool {
    let mut common: Option<Vec<Range>> = None;
    for literal in literals.filter(|literal| literal.positive) {
        let stored = literal.values.iter().filter_map(|value| match value {
            Value::Str(text) => Network::of_stored(text),
            _ => None,
        });
        let mut ranges: Vec<Range> = stored
            .map(|network| {
                let version = network.version;
                ((version, network.bits), (version, network.last()))
            })
            .collect();
        if let (Op::Between, &[(low, _), (_, high)]) = (literal.op, &ranges[..]) {
            ranges = vec![(low, high)];
        }
        common = Some(match common {
            Some(before) => overlaps(&before, &ranges),
            None => ranges,
        });
    }
    common.is_some_and(|ranges| ranges.is_empty())
}

/// What two lists of disjoint ranges, both ascending, have in common.
fn overlaps(some: &[Range], others: &[Range]) -> Vec<Range> {
    let mut found = Vec::new();
    let (mut place, mut other) = (0, 0);
    while place < some.len() && other < others.len() {
        let low = some[place].0.max(others[other].0);
        let high = some[place].1.min(others[other].1);
        if low <= high {
            found.push((low, high));
        }
        if some[place].1 < others[other].1 {
            place += 1;
        } else {
            other += 1;
        }
    }
    found
}

fn lists_contradict<'a>(literals: impl Iterator<Item = Literal<'a>> + Clone) -> bool {
    let of = |op, positive| {
        literals
            .clone()
            .filter(move |literal| literal.op == op && literal.positive == positive)
            .map(|literal| literal.values)
    };
    if of(Op::IsEmpty, true).next().is_some() {
        return of(Op::AnyOf, true)
            .chain(of(Op::AllOf, true))
            .next()
            .is_some();
    }
    let union = |op, positive| {
        let mut values: Vec<Value<'_>> = of(op, positive).flat_map(|set| set.iter()).collect();
        values.sort_unstable();
        values
    };
    let within = |value: &Value<'_>, set: &[Value<'_>]| set.binary_search(value).is_ok();
    let required = union(Op::AllOf, true);
    let forbidden = union(Op::AnyOf, false);
    required.iter().any(|value| within(value, &forbidden))
        || of(Op::AnyOf, true).any(|choice| choice.iter().all(|value| within(&value, &forbidden)))
        || of(Op::AllOf, false).any(|whole| whole.iter().all(|value| within(&value, &required)))
}
