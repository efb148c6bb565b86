//! Expressions and events as plain data, and what they mean, straight from the language: nothing
//! here knows how the engine does it.

use crate::language::{OPERATORS, Operands, Operator, Type};
use proptest::prelude::*;
use proptest::sample::Index as Any;

/// A value of any type.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'static str),
}

const INTS: [i64; 16] = [
    0,
    1,
    2,
    3,
    5,
    -1,
    -2,
    255,
    256,
    (1 << 21) - 1,
    1 << 21,
    -(1 << 21),
    (1 << 31) - 2,
    1 << 31,
    i64::MAX,
    i64::MIN,
];
const FLOATS: [f64; 8] = [0.0, -0.0, 0.5, 1.0, -1.5, 5e-324, 1e300, -1e300];
const TEXTS: [&str; 8] = ["a", "b", "ab", "ba", "abc", "é", "", "A"];

impl Value {
    /// One of few, so that they meet.
    fn of(kind: Type, drawn: u8) -> Value {
        let drawn = usize::from(drawn);
        match kind.element() {
            Type::Bool => Value::Bool(drawn % 2 == 1),
            Type::Int => Value::Int(INTS[drawn % INTS.len()]),
            Type::Float => Value::Float(FLOATS[drawn % FLOATS.len()]),
            _ => Value::Text(TEXTS[drawn % TEXTS.len()]),
        }
    }

    pub fn json(&self) -> String {
        match self {
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => format!("\"{text}\""),
        }
    }
}

/// The attributes of a case: `a0`, `a1` …, by their types.
pub type Kinds = Vec<Type>;

/// For each attribute its values, one for a scalar, or nothing.
#[derive(Clone, Debug)]
pub struct Event(Vec<Option<Vec<Value>>>);

/// An expression, as drawn; what it is of depends on the attributes.
#[derive(Clone, Debug)]
pub enum Tree {
    Constant(bool),
    Predicate {
        attribute: Any,
        operator: Any,
        operands: Vec<u8>,
    },
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
    /// A chain, each child but the first with whether `xnor` stands before it.
    Xor(Vec<(bool, Tree)>),
}

/// The other types have their model in Python (`tests/index/strategies.py`).
pub const MODELLED: [Type; 6] = [
    Type::Bool,
    Type::Int,
    Type::Float,
    Type::Str,
    Type::IntList,
    Type::StrList,
];

pub fn kinds() -> impl Strategy<Value = Kinds> {
    prop::collection::vec(prop::sample::select(MODELLED.to_vec()), 1..6)
}

/// As many drawn values for each attribute as there could be; half of the attributes are there.
pub fn events() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    prop::collection::vec(prop::option::of(prop::collection::vec(0u8..32, 0..4)), 5..6)
}

pub fn trees() -> impl Strategy<Value = Tree> {
    let predicate = (
        any::<Any>(),
        any::<Any>(),
        prop::collection::vec(0u8..32, 2..9),
    )
        .prop_map(|(attribute, operator, operands)| Tree::Predicate {
            attribute,
            operator,
            operands,
        });
    let leaf = prop_oneof![1 => any::<bool>().prop_map(Tree::Constant), 24 => predicate];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 2..5);
        prop_oneof![
            4 => several.clone().prop_map(Tree::And),
            3 => several.prop_map(Tree::Or),
            2 => inner.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
            1 => prop::collection::vec((any::<bool>(), inner), 2..4).prop_map(Tree::Xor),
        ]
    })
}

/// The operators of a type. Patterns have their model in Python as well.
fn operators(kind: Type) -> Vec<&'static Operator> {
    let rows = OPERATORS.iter();
    rows.filter(|row| row.types.contains(&kind) && row.operands != Operands::Pattern)
        .collect()
}

impl Event {
    pub fn new(drawn: &[Option<Vec<u8>>], kinds: &Kinds) -> Event {
        let values = kinds.iter().zip(drawn).map(|(kind, drawn)| {
            let mut values: Vec<Value> = drawn
                .as_ref()?
                .iter()
                .map(|&drawn| Value::of(*kind, drawn))
                .collect();
            if !kind.is_list() {
                values.truncate(1);
                values.first()?;
            }
            Some(values)
        });
        Event(values.collect())
    }

    pub fn json(&self, kinds: &Kinds) -> String {
        let mut fields = Vec::new();
        for (attribute, (values, kind)) in self.0.iter().zip(kinds).enumerate() {
            let Some(values) = values else { continue };
            let values: Vec<String> = values.iter().map(Value::json).collect();
            let values = values.join(",");
            fields.push(if kind.is_list() {
                format!("\"a{attribute}\":[{values}]")
            } else {
                format!("\"a{attribute}\":{values}")
            });
        }
        format!("{{{}}}", fields.join(","))
    }
}

/// The attribute, the operator and the operands of a drawn predicate.
fn predicate(
    kinds: &Kinds,
    attribute: &Any,
    operator: &Any,
    operands: &[u8],
) -> (usize, &'static str, Vec<Value>) {
    let attribute = attribute.index(kinds.len());
    let kind = kinds[attribute];
    let operators = operators(kind);
    let operator = operators[operator.index(operators.len())];
    let mut values: Vec<Value> = operands
        .iter()
        .map(|&drawn| Value::of(kind, drawn))
        .collect();
    match operator.operands {
        Operands::None => values.clear(),
        Operands::One => values.truncate(1),
        Operands::Text => {
            values.retain(|value| *value != Value::Text(""));
            values.truncate(1);
            values.resize(1, Value::Text("a"));
        }
        Operands::Bounds => {
            values.truncate(2);
            values.sort_by(|a, b| a.partial_cmp(b).expect("of one type, and no NaN"));
        }
        Operands::Set => values.truncate(values.len() - 1),
        other => unreachable!("no modelled type takes {other:?}"),
    }
    (attribute, operator.word, values)
}

impl Tree {
    pub fn json(&self, kinds: &Kinds) -> String {
        let all = |trees: &[Tree]| {
            let written: Vec<String> = trees.iter().map(|tree| tree.json(kinds)).collect();
            written.join(",")
        };
        match self {
            Tree::Constant(value) => value.to_string(),
            Tree::Predicate {
                attribute,
                operator,
                operands,
            } => {
                let (attribute, operator, values) = predicate(kinds, attribute, operator, operands);
                let values: Vec<String> = values.iter().map(|v| format!(",{}", v.json())).collect();
                format!("[\"{operator}\",\"a{attribute}\"{}]", values.concat())
            }
            Tree::And(trees) => format!("[\"and\",{}]", all(trees)),
            Tree::Or(trees) => format!("[\"or\",{}]", all(trees)),
            Tree::Not(tree) => format!("[\"not\",{}]", tree.json(kinds)),
            Tree::Xor(chain) => {
                let letters: String = chain[1..]
                    .iter()
                    .map(|&(inverted, _)| if inverted { 'n' } else { 'x' })
                    .collect();
                let trees: Vec<String> = chain.iter().map(|(_, tree)| tree.json(kinds)).collect();
                format!("[\"xor\",\"{letters}\",{}]", trees.join(","))
            }
        }
    }

    /// True, false, or unknown.
    pub fn value(&self, event: &Event, kinds: &Kinds) -> Option<bool> {
        match self {
            Tree::Constant(value) => Some(*value),
            Tree::Predicate {
                attribute,
                operator,
                operands,
            } => {
                let (attribute, operator, values) = predicate(kinds, attribute, operator, operands);
                holds(event.0[attribute].as_deref(), operator, &values)
            }
            Tree::And(trees) => {
                let values: Vec<_> = trees.iter().map(|tree| tree.value(event, kinds)).collect();
                if values.contains(&Some(false)) {
                    Some(false)
                } else {
                    (!values.contains(&None)).then_some(true)
                }
            }
            Tree::Or(trees) => {
                let values: Vec<_> = trees.iter().map(|tree| tree.value(event, kinds)).collect();
                if values.contains(&Some(true)) {
                    Some(true)
                } else {
                    (!values.contains(&None)).then_some(false)
                }
            }
            Tree::Not(tree) => tree.value(event, kinds).map(|value| !value),
            Tree::Xor(chain) => {
                let mut all = chain[0].1.value(event, kinds);
                for (inverted, tree) in &chain[1..] {
                    let next = tree.value(event, kinds);
                    all = all.zip(next).map(|(a, b)| (a != b) != *inverted);
                }
                all
            }
        }
    }
}

/// What a predicate says of an attribute's values, if the event has them.
fn holds(found: Option<&[Value]>, operator: &str, operands: &[Value]) -> Option<bool> {
    match operator {
        "is null" => return Some(found.is_none()),
        "is not null" => return Some(found.is_some()),
        _ => {}
    }
    let found = found?;
    let text = |value: &Value| match value {
        Value::Text(text) => *text,
        _ => "",
    };
    let has = |operand: &Value| found.contains(operand);
    Some(match operator {
        "=" | "in" => operands.contains(&found[0]),
        "!=" => !operands.contains(&found[0]),
        "<" => found[0] < operands[0],
        "<=" => found[0] <= operands[0],
        ">" => found[0] > operands[0],
        ">=" => found[0] >= operands[0],
        "between" => operands[0] <= found[0] && found[0] <= operands[1],
        "starts with" => text(&found[0]).starts_with(text(&operands[0])),
        "ends with" => text(&found[0]).ends_with(text(&operands[0])),
        "contains" => text(&found[0]).contains(text(&operands[0])),
        "any of" => operands.iter().any(has),
        "none of" => !operands.iter().any(has),
        "all of" => operands.iter().all(has),
        "is empty" => found.is_empty(),
        "is not empty" => !found.is_empty(),
        "holds" => found[0] == Value::Bool(true),
        _ => match operator.strip_prefix("not ") {
            Some(positive) => !holds(Some(found), positive, operands)?,
            None => unreachable!("{operator} is not an operator"),
        },
    })
}
