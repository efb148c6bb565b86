//! The operators: a table with a row for each one that can be written, and the canonical ones that
//! literals are made of.
//!
//! Everything that depends on an operator reads its row. `index/language/operators.py` is the same
//! table for Python. An operator that negates another one is a row here and nothing else; one with
//! a meaning of its own is also an [`Op`], which `engine/expression/encode.rs` gives a test.

use std::cmp::Ordering;

use super::pattern::{Pattern, finds};
use super::types::{Type, Value, Values};

/// The operator of a canonical predicate. The order is the order of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    In,
    Lt,
    Le,
    Gt,
    Ge,
    Between,
    StartsWith,
    EndsWith,
    Contains,
    Like,
    Matches,
    InNetwork,
    Within,
    WithinBox,
    WithinPolygon,
    AnyOf,
    AllOf,
    IsEmpty,
    IsNull,
}

/// What follows an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    None,
    One,
    /// One string that is not empty.
    Text,
    /// One string, a pattern.
    Pattern,
    /// Low and high, both inclusive, not reversed.
    Bounds,
    /// At least one value.
    Set,
    /// At least one network.
    Networks,
    /// Metres, latitude, longitude.
    Circle,
    /// South, west, north, east.
    Box,
    /// Latitudes and longitudes of at least three corners.
    Polygon,
}

/// An operator as it can be written: its word in the JSON form, the types and operands it takes,
/// and the canonical operator and sign of its literals.
#[derive(Debug)]
pub struct Operator {
    pub word: &'static str,
    pub types: &'static [Type],
    pub operands: Operands,
    pub op: Op,
    pub positive: bool,
}

const ALL: &[Type] = &Type::ALL;
const SCALARS: &[Type] = &[
    Type::Bool,
    Type::Int,
    Type::Float,
    Type::Str,
    Type::Version,
    Type::Ip,
];
const ORDERED: &[Type] = &[Type::Int, Type::Float, Type::Str, Type::Version];
const RANGED: &[Type] = &[Type::Int, Type::Float, Type::Str, Type::Version, Type::Ip];
const ADDRESSES: &[Type] = &[Type::Ip];
const POINTS: &[Type] = &[Type::Point];
const STRINGS: &[Type] = &[Type::Str];
const LISTS: &[Type] = &[Type::IntList, Type::StrList];
const BOOLS: &[Type] = &[Type::Bool];

/// All operators. Of those with the same literals the one that prints them is first.
pub static OPERATORS: &[Operator] = &[
    row("in", SCALARS, Operands::Set, Op::In, true),
    row("not in", SCALARS, Operands::Set, Op::In, false),
    row("=", SCALARS, Operands::One, Op::In, true),
    row("!=", SCALARS, Operands::One, Op::In, false),
    row("<", ORDERED, Operands::One, Op::Lt, true),
    row("<=", ORDERED, Operands::One, Op::Le, true),
    row(">", ORDERED, Operands::One, Op::Gt, true),
    row(">=", ORDERED, Operands::One, Op::Ge, true),
    row("between", RANGED, Operands::Bounds, Op::Between, true),
    row("not between", RANGED, Operands::Bounds, Op::Between, false),
    row("starts with", STRINGS, Operands::Text, Op::StartsWith, true),
    row("ends with", STRINGS, Operands::Text, Op::EndsWith, true),
    row("contains", STRINGS, Operands::Text, Op::Contains, true),
    row("like", STRINGS, Operands::Pattern, Op::Like, true),
    row("matches", STRINGS, Operands::Pattern, Op::Matches, true),
    row(
        "in network",
        ADDRESSES,
        Operands::Networks,
        Op::InNetwork,
        true,
    ),
    row(
        "not in network",
        ADDRESSES,
        Operands::Networks,
        Op::InNetwork,
        false,
    ),
    row("within", POINTS, Operands::Circle, Op::Within, true),
    row("within box", POINTS, Operands::Box, Op::WithinBox, true),
    row(
        "within polygon",
        POINTS,
        Operands::Polygon,
        Op::WithinPolygon,
        true,
    ),
    row("any of", LISTS, Operands::Set, Op::AnyOf, true),
    row("none of", LISTS, Operands::Set, Op::AnyOf, false),
    row("all of", LISTS, Operands::Set, Op::AllOf, true),
    row("is empty", LISTS, Operands::None, Op::IsEmpty, true),
    row("is not empty", LISTS, Operands::None, Op::IsEmpty, false),
    row("is null", ALL, Operands::None, Op::IsNull, true),
    row("is not null", ALL, Operands::None, Op::IsNull, false),
    // A bare bool attribute.
    row("holds", BOOLS, Operands::None, Op::In, true),
];

const fn row(
    word: &'static str,
    types: &'static [Type],
    operands: Operands,
    op: Op,
    positive: bool,
) -> Operator {
    Operator {
        word,
        types,
        operands,
        op,
        positive,
    }
}

impl Operator {
    /// The operator with this word.
    pub fn find(word: &str) -> Option<&'static Self> {
        OPERATORS.iter().find(|row| row.word == word)
    }
}

impl Op {
    /// Its word in the language and in the JSON form.
    pub fn word(self) -> &'static str {
        self.signed_word(true).unwrap_or("")
    }

    /// The word of a literal with this operator and sign, if the language has one.
    pub fn signed_word(self, positive: bool) -> Option<&'static str> {
        let mut rows = OPERATORS.iter();
        let row = rows.find(|row| row.op == self && row.positive == positive)?;
        Some(row.word)
    }

    /// Whether its operand is a set of values.
    pub fn takes_set(self) -> bool {
        matches!(self, Self::In | Self::AnyOf | Self::AllOf)
    }

    /// The canonical operator that is its negation; where there is one, no literal is negative.
    pub(super) fn negation(self) -> Option<Self> {
        match self {
            Self::Lt => Some(Self::Ge),
            Self::Le => Some(Self::Gt),
            Self::Gt => Some(Self::Le),
            Self::Ge => Some(Self::Lt),
            _ => None,
        }
    }

    /// Whether it is true of the value of a scalar attribute; never of a list or a missing one, nor
    /// of an address or a point. `folds` says that the value is a folded text.
    pub(super) fn holds(self, value: Value<'_>, operands: Values<'_>, folds: bool) -> bool {
        let compares = |place, with: fn(Ordering) -> bool| {
            let operand = operands.get(place);
            operand.is_some_and(|operand| with(value.cmp(&operand)))
        };
        let text = |test: fn(&str, &str) -> bool| match (value, operands.get(0)) {
            (Value::Str(value), Some(Value::Str(pattern))) => test(value, pattern),
            _ => false,
        };
        match self {
            Self::In => operands.contains(value),
            Self::Lt => compares(0, Ordering::is_lt),
            Self::Le => compares(0, Ordering::is_le),
            Self::Gt => compares(0, Ordering::is_gt),
            Self::Ge => compares(0, Ordering::is_ge),
            Self::Between => compares(0, Ordering::is_ge) && compares(1, Ordering::is_le),
            Self::StartsWith => text(|value, pattern| value.starts_with(pattern)),
            Self::EndsWith => text(|value, pattern| value.ends_with(pattern)),
            Self::Contains => text(|value, pattern| value.contains(pattern)),
            Self::Like | Self::Matches => match (value, operands.get(0)) {
                (Value::Str(value), Some(Value::Str(pattern))) => {
                    let read = Pattern::read(pattern, self == Self::Like, folds);
                    read.is_ok_and(|pattern| finds(&pattern.program, value))
                }
                _ => false,
            },
            Self::InNetwork | Self::Within | Self::WithinBox | Self::WithinPolygon => false,
            Self::AnyOf | Self::AllOf | Self::IsEmpty | Self::IsNull => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_there_and_back() {
        for row in OPERATORS {
            assert!(std::ptr::eq(Operator::find(row.word).unwrap(), row));
        }
        assert!(Operator::find("IN").is_none());
        assert_eq!(Op::In.word(), "in");
        assert_eq!(Op::AnyOf.signed_word(false), Some("none of"));
        assert_eq!(Op::AllOf.signed_word(false), None);
    }

    #[test]
    fn a_canonical_operator_has_its_word_and_takes_sets_as_its_row_does() {
        for row in OPERATORS {
            let canonical = Operator::find(row.op.word()).unwrap();
            assert_eq!(canonical.op, row.op);
            assert_eq!(row.op.takes_set(), canonical.operands == Operands::Set);
        }
    }
}
