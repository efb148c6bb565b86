//! From a predicate to its canonical literal, or to false.
//!
//! Predicates with the same meaning become one literal:
//!
//! ```text
//! age < 18, not (age >= 18)         age <= 17
//! vip, vip = true, vip != false     vip in (true)
//! tags all of (3)                   tags any of (3)
//! age between 5 and 5               age in (5)
//! ip = '10.0.0.1'                   ip in network ('10.0.0.1')
//! ```
//!
//! Only the *truth* of a literal matters, so it must never be negated: negate the predicate and make
//! a literal of that. `literals.py` does the same.

use super::bucket::BUCKETS;
use super::operator::Op;
use super::tree::Predicate;
use super::types::{RawValue, Span, Type, Value, Values};

/// A canonical predicate with a sign.
///
/// A positive literal is true when its predicate is true; a negative one when the attribute is
/// present and the predicate is false. Neither is true of a missing attribute, except `is null`.
/// Sets are ascending; one-sided ranges are always positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal<'a> {
    pub attr: u32,
    /// The salt, if the bucket of the attribute is compared.
    pub salt: Option<&'a str>,
    /// Whether the attribute is the folded text of another one.
    pub folds: bool,
    pub op: Op,
    pub positive: bool,
    pub values: Values<'a>,
}

impl Literal<'_> {
    /// Whether it is true of a present value of a scalar attribute.
    pub(super) fn holds(&self, value: Value<'_>) -> bool {
        self.op.holds(value, self.values, self.folds) == self.positive
    }
}

/// A literal whose values are stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawLiteral {
    pub attr: u32,
    pub salt: Option<Span>,
    pub folds: bool,
    pub op: Op,
    pub positive: bool,
    pub values: Span,
}

impl RawLiteral {
    pub(super) fn get<'a>(&self, values: &'a [RawValue], text: &'a str) -> Literal<'a> {
        Literal {
            attr: self.attr,
            salt: self.salt.map(|salt| salt.of_text(text)),
            folds: self.folds,
            op: self.op,
            positive: self.positive,
            values: Values {
                raw: self.values.of(values),
                text,
            },
        }
    }
}

/// The canonical literal that is true exactly when the predicate (or, if not `positive`, its
/// negation) is; None when it never is. May append to `values`.
pub(super) fn literal_of(
    predicate: &Predicate,
    positive: bool,
    values: &mut Vec<RawValue>,
    text: &str,
) -> Option<RawLiteral> {
    let mut span = predicate.values;
    let mut op = predicate.op.op;
    let mut positive = predicate.op.positive == positive;
    if let (false, Some(negation)) = (positive, op.negation()) {
        (op, positive) = (negation, true);
    }
    match (op, span.len()) {
        (Op::In, 0) => span = append(values, [RawValue::Bool(true)]), // a bare bool
        (Op::AllOf, 1) => op = Op::AnyOf,
        _ => {}
    }
    let one_value =
        |bounds: &[RawValue]| matches!(bounds, [low, high] if low.get(text) == high.get(text));
    if op == Op::Between && one_value(span.of(values)) {
        op = Op::In;
        span.end = span.start + 1;
    }
    if predicate.kind == Type::Ip && op == Op::In {
        op = Op::InNetwork;
    }
    match (predicate.kind, span.of(values)) {
        // There are two values: not one is the other.
        (Type::Bool, &[RawValue::Bool(value)]) if !positive => {
            span = append(values, [RawValue::Bool(!value)]);
            positive = true;
        }
        (Type::Bool, [_, _]) => (op, positive, span) = present_if(positive)?,
        (Type::Int, _) if op != Op::In && op != Op::IsNull => {
            let bounds = match predicate.salt {
                Some(_) => (0, BUCKETS - 1),
                None => (i64::MIN, i64::MAX),
            };
            (op, positive, span) = int_range(op, positive, span, values, bounds)?;
        }
        (Type::Int, _) if predicate.salt.is_some() && op == Op::In => {
            let is_bucket = |value: &RawValue| matches!(value, RawValue::Int(0..BUCKETS));
            // The values are ascending.
            let before = span
                .of(values)
                .iter()
                .take_while(|value| !is_bucket(value))
                .count();
            let buckets = span
                .of(values)
                .iter()
                .filter(|value| is_bucket(value))
                .count();
            if buckets == 0 {
                (op, positive, span) = present_if(!positive)?;
            } else {
                span.start += before as u32;
                span.end = span.start + buckets as u32;
            }
        }
        (Type::Str, &[RawValue::Str(text)]) if text.is_empty() => match op {
            Op::Lt => return None,
            Op::Ge => (op, positive, span) = present_if(true)?,
            _ => {}
        },
        (Type::Version, &[RawValue::Int(i64::MIN)]) => match op {
            Op::Lt => return None,
            Op::Ge => (op, positive, span) = present_if(true)?,
            _ => {}
        },
        _ => {}
    }
    // What is derived is missing where its attribute is.
    let (attr, salt) = match op {
        Op::IsNull => (predicate.base, None),
        _ => (predicate.attr, predicate.salt),
    };
    Some(RawLiteral {
        attr,
        salt,
        folds: attr != predicate.base,
        op,
        positive,
        values: span,
    })
}

type Parts = (Op, bool, Span);

fn append<const N: usize>(values: &mut Vec<RawValue>, more: [RawValue; N]) -> Span {
    let first = values.len();
    values.extend(more);
    Span::new(first, values.len())
}

/// True of every value, or of none.
fn present_if(positive: bool) -> Option<Parts> {
    positive.then_some((Op::IsNull, false, Span::default()))
}

/// Ranges of integers have closed bounds, and no bound at the limits of the type.
fn int_range(
    op: Op,
    positive: bool,
    span: Span,
    values: &mut Vec<RawValue>,
    (least, most): (i64, i64),
) -> Option<Parts> {
    let (low, high) = match (op, span.of(values)) {
        (Op::Between, &[RawValue::Int(low), RawValue::Int(high)]) => (low, high),
        (Op::Ge, &[RawValue::Int(low)]) => (low, most),
        (Op::Gt, &[RawValue::Int(below)]) => (below.checked_add(1)?, most),
        (Op::Le, &[RawValue::Int(high)]) => (least, high),
        (Op::Lt, &[RawValue::Int(above)]) => (least, above.checked_sub(1)?),
        _ => return Some((op, positive, span)),
    };
    let (mut low, mut high) = (low.max(least), high.min(most));
    let mut positive = positive;
    if low > high {
        return present_if(!positive);
    }
    if (low, high) == (least, most) {
        return present_if(positive);
    }
    if !positive && low == least {
        (low, high, positive) = (high.checked_add(1)?, most, true);
    } else if !positive && high == most {
        (low, high, positive) = (least, low.checked_sub(1)?, true);
    }
    let (op, span) = if low == high {
        (Op::In, append(values, [RawValue::Int(low)]))
    } else if low == least {
        (Op::Le, append(values, [RawValue::Int(high)]))
    } else if high == most {
        (Op::Ge, append(values, [RawValue::Int(low)]))
    } else {
        (Op::Between, append(values, [low, high].map(RawValue::Int)))
    };
    Some((op, positive, span))
}
