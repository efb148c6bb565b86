//! The JSON form of a checked tree. It was checked by Copse's own parser; what does not fit is an
//! error in words, never a panic.

use _native::language::{Op, Operands, Operator, Schema};
use serde_json::Value;

/// A condition on an attribute, by the operator of its literal: `!=` is a negated `in`.
#[derive(Clone, Debug)]
pub struct Predicate {
    pub attribute: u32,
    pub op: Op,
    pub negated: bool,
    pub values: Vec<Value>,
}

#[derive(Clone, Debug)]
pub enum Tree {
    Constant(bool),
    Predicate(Predicate),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    /// The children, and whether an odd number of the operators between them is `xnor`.
    Xor(Vec<Tree>, bool),
}

/// The tree of `[1, tree]`.
pub fn read(text: &str, schema: &Schema) -> Result<Tree, String> {
    match serde_json::from_str(text) {
        Ok(Value::Array(mut parts)) if parts.len() == 2 && parts[0] == 1 => {
            build(parts.swap_remove(1), schema)
        }
        Ok(_) => Err("expected [1, tree]".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

fn build(value: Value, schema: &Schema) -> Result<Tree, String> {
    let parts = match value {
        Value::Bool(constant) => return Ok(Tree::Constant(constant)),
        Value::Array(parts) => parts,
        other => return Err(format!("expected a node, found {other}")),
    };
    let mut parts = parts.into_iter();
    let word = match parts.next() {
        Some(Value::String(word)) => word,
        other => return Err(format!("expected a word, found {other:?}")),
    };
    let children = |parts: std::vec::IntoIter<Value>| -> Result<Vec<Tree>, String> {
        parts.map(|part| build(part, schema)).collect()
    };
    match word.as_str() {
        "and" => Ok(Tree::And(children(parts)?)),
        "or" => Ok(Tree::Or(children(parts)?)),
        "not" => {
            let child = parts.next().ok_or("not takes a child")?;
            Ok(Tree::Not(Box::new(build(child, schema)?)))
        }
        "xor" => {
            let letters = parts.next();
            let letters = letters
                .as_ref()
                .and_then(Value::as_str)
                .ok_or("no letters")?;
            let inverted = letters.bytes().filter(|&letter| letter == b'n').count() % 2 == 1;
            Ok(Tree::Xor(children(parts)?, inverted))
        }
        _ => {
            let row = Operator::find(&word).ok_or_else(|| format!("{word} is not an operator"))?;
            let name = parts.next();
            let name = name
                .as_ref()
                .and_then(Value::as_str)
                .ok_or("no attribute")?;
            let attribute = schema
                .attr(name)
                .ok_or_else(|| format!("{name} is not declared"))?;
            let mut values: Vec<Value> = parts.collect();
            if row.op == Op::In && row.operands == Operands::None {
                values.push(Value::Bool(true)); // a bare bool
            }
            Ok(Tree::Predicate(Predicate {
                attribute,
                op: row.op,
                negated: !row.positive,
                values,
            }))
        }
    }
}
