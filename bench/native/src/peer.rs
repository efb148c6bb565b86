//! The crate `a-tree`, with the same trees and events.
//!
//! Its language is smaller than ours, so trees are rewritten into it, to expressions with the same
//! meaning under its three-valued rules:
//!
//! * `between` is two comparisons, `all of` one `one of` for each element (its own `all of` asks
//!   the opposite: whether the *event's* list is within the operand);
//! * `xor` and `xnor` are an `or` of two `and`s;
//! * `a = true` is `a`; names become `a0`, `a1`, … since its names cannot have dots.
//!
//! Impossible, and an error here: constants; `starts with`, `ends with`, `contains` and order on
//! strings; `is null` on lists; strings with a quote or a backslash (it drops quotes at the ends and
//! keeps escapes as they are written); doubles that need an exponent.

use _native::language::{Op, Schema, Type};
use a_tree::{ATree, AttributeDefinition, Event};
use serde_json::Value;

use crate::tree::{Predicate, Tree};
use crate::{event, tree};

pub struct Peer {
    schema: Schema,
    tree: ATree<u64>,
}

impl Peer {
    pub fn new(schema: Schema) -> Result<Self, String> {
        let definitions: Result<Vec<_>, String> = (0..schema.len() as u32)
            .map(|number| {
                let name = format!("a{number}");
                Ok(match schema.ty(number) {
                    Type::Bool => AttributeDefinition::boolean(&name),
                    Type::Int => AttributeDefinition::integer(&name),
                    Type::Float => AttributeDefinition::float(&name),
                    Type::Str => AttributeDefinition::string(&name),
                    Type::IntList => AttributeDefinition::integer_list(&name),
                    Type::StrList => AttributeDefinition::string_list(&name),
                    kind => return Err(format!("a-tree has no type {kind:?}")),
                })
            })
            .collect();
        let tree = ATree::new(&definitions?).map_err(|e| e.to_string())?;
        Ok(Peer { schema, tree })
    }

    /// An expression in the crate's language, or the reason why it cannot be expressed.
    pub fn translate(&self, text: &str) -> Result<String, String> {
        self.written(&tree::read(text, &self.schema)?)
    }

    pub fn insert(&mut self, id: u64, text: &str) -> Result<(), String> {
        let written = self.translate(text)?;
        self.tree
            .insert(&id, &written)
            .map_err(|e| format!("{e} in {written}"))
    }

    pub fn event(&self, text: &str) -> Result<Event, String> {
        let mut builder = self.tree.make_event();
        for (attribute, value) in event::read(text, &self.schema)? {
            let name = format!("a{attribute}");
            let set = match (self.schema.ty(attribute), &value) {
                (Type::Bool, Value::Bool(value)) => builder.with_boolean(&name, *value),
                (Type::Int, value) => builder.with_integer(&name, integer(value)?),
                (Type::Float, value) => {
                    let (digits, scale) = decimal(value)?;
                    builder.with_float(&name, digits, scale)
                }
                (Type::Str, Value::String(text)) => builder.with_string(&name, text),
                (Type::IntList, Value::Array(elements)) => {
                    let elements: Vec<i64> =
                        elements.iter().map(integer).collect::<Result<_, _>>()?;
                    builder.with_integer_list(&name, &elements)
                }
                (Type::StrList, Value::Array(elements)) => {
                    let elements: Vec<&str> = elements.iter().filter_map(Value::as_str).collect();
                    builder.with_string_list(&name, &elements)
                }
                (kind, value) => return Err(format!("{value} is not a value for {kind:?}")),
            };
            set.map_err(|e| e.to_string())?;
        }
        builder.build().map_err(|e| e.to_string())
    }

    /// Write the matching ids to `found`, ascending.
    pub fn search(&self, event: &Event, found: &mut Vec<u64>) -> Result<(), String> {
        let report = self.tree.search(event).map_err(|e| e.to_string())?;
        found.clear();
        found.extend(report.matches().iter().copied());
        found.sort_unstable();
        Ok(())
    }

    fn written(&self, tree: &Tree) -> Result<String, String> {
        match tree {
            Tree::Constant(_) => Err("a-tree has no constants".to_owned()),
            Tree::Predicate(predicate) => self.predicate(predicate),
            Tree::Not(child) => Ok(format!("not ({})", self.written(child)?)),
            Tree::And(children) => self.joined(children, " and "),
            Tree::Or(children) => self.joined(children, " or "),
            Tree::Xor(children, inverted) => {
                let (last, rest) = children.split_last().ok_or("a node without children")?;
                let rest = match rest {
                    [one] => one.clone(),
                    _ => Tree::Xor(rest.to_vec(), false),
                };
                let not = |tree: &Tree| Tree::Not(Box::new(tree.clone()));
                let (same, other) = if *inverted {
                    (last.clone(), not(last))
                } else {
                    (not(last), last.clone())
                };
                let either = Tree::And(vec![not(&rest), other]);
                self.joined(&[Tree::And(vec![rest, same]), either], " or ")
            }
        }
    }

    fn joined(&self, children: &[Tree], word: &str) -> Result<String, String> {
        let written: Result<Vec<_>, _> = children.iter().map(|child| self.written(child)).collect();
        Ok(format!("({})", written?.join(word)))
    }

    fn predicate(&self, predicate: &Predicate) -> Result<String, String> {
        let Predicate {
            attribute,
            op,
            negated,
            values,
        } = predicate;
        let kind = self.schema.ty(*attribute);
        let name = format!("a{attribute}");
        let written: Vec<String> = values
            .iter()
            .map(|value| literal(value, kind))
            .collect::<Result<_, _>>()?;
        let set = || format!("[{}]", written.join(", "));
        let compare = |word: &str| format!("{name} {word} {}", written[0]);
        Ok(match (op, *negated) {
            (Op::In, negated) if kind == Type::Bool && written.len() == 1 => {
                if (values[0] == Value::Bool(true)) == negated {
                    format!("not ({name})")
                } else {
                    name
                }
            }
            (Op::In, false) if written.len() == 1 => compare("="),
            (Op::In, true) if written.len() == 1 => compare("<>"),
            (Op::In, _) if matches!(kind, Type::Float | Type::Bool) => {
                return Err(format!("a-tree has no sets of {kind:?}"));
            }
            (Op::In, false) => format!("{name} in {}", set()),
            (Op::In, true) => format!("{name} not in {}", set()),
            (Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Between, _) if kind == Type::Str => {
                return Err("a-tree has no order on strings".to_owned());
            }
            (Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => compare(op.word()),
            (Op::Between, negated) => format!(
                "{}({name} >= {} and {name} <= {})",
                if negated { "not " } else { "" },
                written[0],
                written[1]
            ),
            (Op::AnyOf, false) => format!("{name} one of {}", set()),
            (Op::AnyOf, true) => format!("{name} none of {}", set()),
            (Op::AllOf, _) => {
                let each: Vec<_> = written
                    .iter()
                    .map(|w| format!("{name} one of [{w}]"))
                    .collect();
                format!("({})", each.join(" and "))
            }
            (Op::IsNull, _) if kind.is_list() => {
                return Err("a-tree has no is null on lists".to_owned());
            }
            (Op::IsEmpty, false) => format!("{name} is empty"),
            (Op::IsEmpty, true) => format!("{name} is not empty"),
            (Op::IsNull, false) => format!("{name} is null"),
            (Op::IsNull, true) => format!("{name} is not null"),
            (Op::StartsWith | Op::EndsWith | Op::Contains, _) => {
                return Err("a-tree has no starts with, ends with, contains".to_owned());
            }
            (op, _) => return Err(format!("a-tree has no {}", op.word())),
        })
    }
}

fn integer(value: &Value) -> Result<i64, String> {
    value
        .as_i64()
        .ok_or_else(|| format!("{value} is no integer"))
}

fn literal(value: &Value, kind: Type) -> Result<String, String> {
    match value {
        Value::String(text) if text.contains(['\'', '"', '\\']) => {
            Err(format!("a-tree cannot read the string {text:?}"))
        }
        Value::String(text) => Ok(format!("\"{text}\"")),
        _ if kind == Type::Float => {
            let (digits, scale) = decimal(value)?;
            let sign = if digits < 0 { "-" } else { "" };
            let (digits, scale) = (digits.unsigned_abs().to_string(), scale as usize);
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            Ok(format!(
                "{sign}{whole}.{}",
                if fraction.is_empty() { "0" } else { fraction }
            ))
        }
        _ => Ok(value.to_string()),
    }
}

/// A double as digits, and the number of digits after the decimal point.
fn decimal(value: &Value) -> Result<(i64, u32), String> {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}").parse();
    digits
        .map(|digits| (digits, fraction.len() as u32))
        .map_err(|_| format!("{text} has no decimal form that a-tree takes"))
}
