//! Literals and events as the papers have them: an attribute, an operator, values that are numbers.
//!
//! ```text
//!   country in ('US', 'CA')    in {3, 8}          strings are numbered by attribute
//!   age < 18                   [LOW, 17]
//!   price between 0.5 and 2.0  [4602678…, 461168…]   doubles by bits, in their order
//!   tags is empty              [0, 0]             the value of a list is its length …
//!   tags any of (7, 9)         any {4, 5}         … and its elements lie beside it
//!   domain ends with '.org'    text               strings lie beside their numbers, too
//! ```
//!
//! The papers have no operators on parts of strings; here they are predicates that are evaluated one
//! by one, so that expressions of ads fit into the engines that do not care what a predicate is.
//!
//! An event is a value for each present attribute. Neither a literal nor its negation holds when the
//! attribute is missing, except `is null`.

use _native::language::{Op, Schema, Type};
use serde_json::Value;

use crate::event;
use crate::flat::Names;
use crate::program::{bounds, wide};
use crate::tree::Predicate;

/// The value of a missing attribute. No literal has it as a bound.
pub const MISSING: i64 = i64::MIN;
pub const LOW: i64 = i64::MIN + 1;
pub const HIGH: i64 = i64::MAX;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Range(i64, i64),
    /// At least two values, ascending.
    In(Box<[i64]>),
    /// The event's list has one of these elements.
    Any(Box<[i64]>),
    /// It has all of them.
    All(Box<[i64]>),
    /// The event's string starts with, ends with or contains this one.
    Text(Op, Box<str>),
    /// There is a value.
    Present,
    /// There is none. Never negated.
    Null,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    pub attribute: u32,
    pub test: Test,
    pub negated: bool,
}

impl Literal {
    /// The literal of a predicate, or why the papers' engines cannot hold it.
    pub fn new(
        predicate: &Predicate,
        schema: &Schema,
        names: &mut Names,
        negate: bool,
    ) -> Result<Self, String> {
        let Predicate {
            attribute,
            op,
            negated,
            ref values,
        } = *predicate;
        let kind = schema.ty(attribute);
        let scalars = [Type::Bool, Type::Int, Type::Float, Type::Str];
        if !kind.is_list() && !scalars.contains(&kind) {
            return Err(format!("the papers have no type {kind:?}"));
        }
        let mut negated = negated != negate;
        let mut ids = || -> Result<Box<[i64]>, String> {
            let ids: Result<Vec<i64>, String> = values
                .iter()
                .map(|value| match kind {
                    Type::Int | Type::Float => wide(value, kind),
                    Type::Bool => Ok(i64::from(*value == Value::Bool(true))),
                    _ => names.id(attribute, value).map(i64::from),
                })
                .collect();
            let mut ids = ids?;
            ids.sort_unstable();
            ids.dedup();
            Ok(ids.into())
        };
        let test = match op {
            Op::IsNull => {
                let test = if negated { Test::Present } else { Test::Null };
                negated = false;
                test
            }
            Op::IsEmpty => Test::Range(0, 0),
            Op::AnyOf => Test::Any(ids()?),
            Op::AllOf => Test::All(ids()?),
            Op::In => match *ids()? {
                [one] => Test::Range(one, one),
                ref all => Test::In(all.into()),
            },
            Op::StartsWith | Op::EndsWith | Op::Contains => match &values[..] {
                [Value::String(part)] => Test::Text(op, part.as_str().into()),
                _ => return Err(format!("{} takes a string", op.word())),
            },
            _ if kind == Type::Str => {
                return Err(format!("the papers have no {} on strings", op.word()));
            }
            op => {
                let (low, high) = bounds(op, values, kind)?;
                Test::Range(low.max(LOW), high)
            }
        };
        Ok(Literal {
            attribute,
            test,
            negated,
        })
    }

    #[inline]
    pub fn holds(&self, event: &Event) -> bool {
        let value = event.value(self.attribute);
        if value == MISSING {
            return self.test == Test::Null;
        }
        let holds = match &self.test {
            Test::Range(low, high) => (*low..=*high).contains(&value),
            Test::In(values) => values.binary_search(&value).is_ok(),
            Test::Any(values) => {
                let elements = event.elements(self.attribute);
                values.iter().any(|id| elements.binary_search(id).is_ok())
            }
            Test::All(values) => {
                let elements = event.elements(self.attribute);
                values.iter().all(|id| elements.binary_search(id).is_ok())
            }
            Test::Text(op, part) => {
                let text = event.text(self.attribute);
                match op {
                    Op::StartsWith => text.starts_with(&**part),
                    Op::EndsWith => text.ends_with(&**part),
                    _ => text.contains(&**part),
                }
            }
            Test::Present => true,
            Test::Null => false,
        };
        holds != self.negated
    }

    /// The value of an equality.
    pub fn equality(&self) -> Option<i64> {
        match self.test {
            Test::Range(low, high) if low == high && !self.negated => Some(low),
            _ => None,
        }
    }

    /// Whether its truth is a question of the attribute's number alone: not for lists, parts of
    /// strings and `is null`.
    pub fn is_scalar(&self) -> bool {
        let test = &self.test;
        !matches!(
            test,
            Test::Any(_) | Test::All(_) | Test::Text(..) | Test::Null
        )
    }

    /// The smallest interval of values where it can hold (table I of the BE-Tree paper); None for
    /// `is null`.
    pub fn interval(&self) -> Option<(i64, i64)> {
        match &self.test {
            Test::Null => None,
            Test::Range(low, high) if !self.negated => Some((*low, *high)),
            Test::In(values) if !self.negated => Some((values[0], values[values.len() - 1])),
            _ => Some((LOW, HIGH)),
        }
    }

    /// The disjoint ranges of values where it holds, ascending; None if it is not scalar.
    pub fn ranges(&self) -> Option<Vec<(i64, i64)>> {
        let ranges: Vec<(i64, i64)> = match &self.test {
            Test::Null | Test::Any(_) | Test::All(_) | Test::Text(..) => return None,
            Test::Present => vec![(LOW, HIGH)],
            Test::Range(low, high) => vec![(*low, *high)],
            Test::In(values) => values.iter().map(|&value| (value, value)).collect(),
        };
        if !self.negated {
            return Some(ranges.into_iter().filter(|(l, h)| l <= h).collect());
        }
        let mut from = Some(LOW);
        let mut gaps = Vec::new();
        for (low, high) in ranges {
            gaps.extend(from.filter(|&from| from < low).map(|from| (from, low - 1)));
            from = high.checked_add(1);
        }
        gaps.extend(from.map(|from| (from, HIGH)));
        Some(gaps)
    }
}

/// An event: the value of each attribute, the elements of lists, and the strings.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// The present attributes with their values.
    pub pairs: Vec<(u32, i64)>,
    values: Vec<i64>,
    lists: Vec<(u32, Vec<i64>)>,
    texts: Vec<(u32, String)>,
}

impl Event {
    /// Number the strings and elements of an event, so that statistics can tell them apart before
    /// an expression mentions them.
    pub fn number(text: &str, schema: &Schema, names: &mut Names) -> Result<(), String> {
        for (attribute, value) in event::read(text, schema)? {
            match &value {
                Value::String(_) => _ = names.id(attribute, &value)?,
                Value::Array(elements) => {
                    for element in elements {
                        names.id(attribute, element)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub fn read(text: &str, schema: &Schema, names: &Names) -> Result<Self, String> {
        let mut made = Event {
            values: vec![MISSING; schema.len()],
            ..Event::default()
        };
        for (attribute, value) in event::read(text, schema)? {
            let number = match (schema.ty(attribute), &value) {
                (Type::Bool, Value::Bool(value)) => i64::from(*value),
                (Type::Str, Value::String(text)) => {
                    made.texts.push((attribute, text.clone()));
                    names.known(attribute, &value).map_or(-1, i64::from)
                }
                (kind @ (Type::Int | Type::Float), Value::Number(_)) => wide(&value, kind)?,
                (kind, Value::Array(elements)) if kind.is_list() => {
                    let mut known: Vec<i64> = elements
                        .iter()
                        .filter_map(|element| names.known(attribute, element))
                        .map(i64::from)
                        .collect();
                    known.sort_unstable();
                    made.lists.push((attribute, known));
                    elements.len() as i64
                }
                (kind, value) => return Err(format!("{value} is not a value for {kind:?}")),
            };
            if number == MISSING {
                return Err(format!("{number} stands for a missing value"));
            }
            made.values[attribute as usize] = number;
            made.pairs.push((attribute, number));
        }
        Ok(made)
    }

    #[inline]
    pub fn value(&self, attribute: u32) -> i64 {
        self.values[attribute as usize]
    }

    fn text(&self, attribute: u32) -> &str {
        let found = self.texts.iter().find(|(string, _)| *string == attribute);
        found.map_or("", |(_, text)| text)
    }

    fn elements(&self, attribute: u32) -> &[i64] {
        let found = self.lists.iter().find(|(list, _)| *list == attribute);
        found.map_or(&[], |(_, elements)| elements)
    }
}
