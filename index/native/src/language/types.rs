//! The types of attributes, and their values.
//!
//! A value is stored in 16 bytes that own nothing ([`RawValue`]: a string is a span of the text of
//! the expression; a version is an integer that sorts like it, an address a string that does; the
//! numbers of an area are floats). The rest of the core sees it as a [`Value`], which borrows. So the front end can
//! reuse its buffers.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Type {
    Bool,
    Int,
    Float,
    Str,
    IntList,
    StrList,
    Version,
    Ip,
    Point,
}

impl Type {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Bool,
        Self::Int,
        Self::Float,
        Self::Str,
        Self::IntList,
        Self::StrList,
        Self::Version,
        Self::Ip,
        Self::Point,
    ];

    /// The name of the type in the language: `int`, `string list`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Str => "string",
            Self::IntList => "int list",
            Self::StrList => "string list",
            Self::Version => "version",
            Self::Ip => "ip",
            Self::Point => "point",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether an event has several values for the attribute.
    pub fn is_list(self) -> bool {
        matches!(self, Self::IntList | Self::StrList)
    }

    /// The type of one value: of a list's elements, or the scalar type itself.
    pub fn element(self) -> Self {
        match self {
            Self::IntList => Self::Int,
            Self::StrList => Self::Str,
            scalar => scalar,
        }
    }

    /// `an int`, `a string list`.
    pub(super) fn with_article(self) -> String {
        let article = match self {
            Self::Int | Self::IntList | Self::Ip => "an",
            _ => "a",
        };
        format!("{article} {}", self.name())
    }
}

/// One value of a scalar attribute, or one element of a list.
///
/// Floats are finite and never `-0.0`, so that equal values have equal bits. The order within a type
/// is that of the language (strings by UTF-8 bytes); between types it has no meaning.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'a str),
}

impl Value<'_> {
    fn variant(&self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Int(_) => 1,
            Self::Float(_) => 2,
            Self::Str(_) => 3,
        }
    }
}

impl Ord for Value<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Str(a), Self::Str(b)) => a.cmp(b),
            _ => self.variant().cmp(&other.variant()),
        }
    }
}

impl PartialOrd for Value<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Str(a), Self::Str(b)) => a == b,
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Value<'_> {}

impl Hash for Value<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Bool(value) => state.write_u8(u8::from(*value)),
            Self::Int(value) => state.write_i64(*value),
            Self::Float(value) => state.write_u64(value.to_bits()),
            Self::Str(value) => value.hash(state),
        }
    }
}

/// A range of a shared vector or text: `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Never saturates: the input and the graph are too small for positions beyond 32 bits.
    pub(super) fn new(start: usize, end: usize) -> Self {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: place(start),
            end: place(end),
        }
    }

    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The items of the span; none if it is out of bounds.
    pub(super) fn of<T>(self, items: &[T]) -> &[T] {
        items
            .get(self.start as usize..self.end as usize)
            .unwrap_or(&[])
    }

    pub(super) fn of_text(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}

/// A value whose string is a span of a text stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawValue {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Span),
}

impl RawValue {
    pub(super) fn get(self, text: &str) -> Value<'_> {
        match self {
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Str(at) => Value::Str(at.of_text(text)),
        }
    }
}

/// The values of a literal; those of a set are ascending.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    pub(super) raw: &'a [RawValue],
    pub(super) text: &'a str,
}

impl<'a> Values<'a> {
    pub fn len(self) -> usize {
        self.raw.len()
    }

    pub fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    pub fn get(self, place: usize) -> Option<Value<'a>> {
        self.raw.get(place).map(|raw| raw.get(self.text))
    }

    pub fn iter(self) -> impl DoubleEndedIterator<Item = Value<'a>> + ExactSizeIterator + Clone {
        self.raw.iter().map(move |raw| raw.get(self.text))
    }

    /// Whether a set holds a value, by bisection: its values are ascending.
    pub fn contains(self, value: Value<'_>) -> bool {
        self.raw
            .binary_search_by(|raw| raw.get(self.text).cmp(&value))
            .is_ok()
    }
}

impl Ord for Values<'_> {
    /// Like Python's tuples.
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for Values<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Values<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_by_their_names() {
        for kind in Type::ALL {
            assert_eq!(Type::from_name(kind.name()), Some(kind));
        }
        assert_eq!(Type::from_name("str"), None);
        assert_eq!(Type::IntList.with_article(), "an int list");
        assert_eq!(Type::StrList.with_article(), "a string list");
    }

    #[test]
    fn a_value_is_small_and_of_one_type() {
        assert_eq!(size_of::<RawValue>(), 16);
        assert_ne!(Value::Int(1), Value::Float(1.0));
        assert_ne!(Value::Int(1), Value::Bool(true));
        assert!(Value::Str("\u{ffff}") < Value::Str("\u{10000}"));
        assert!(Value::Float(-5e-324) < Value::Float(0.0));
    }
}
