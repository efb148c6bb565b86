//! The schema, and the JSON form of a checked tree. It was checked by Copse's own parser; what
//! does not fit is an error in words, never a panic.

use rustc_hash::FxHashMap;
use serde_json::Value;

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    Float,
    String,
    IntList,
    StringList,
}

impl Kind {
    pub fn is_list(self) -> bool {
        matches!(self, Kind::IntList | Kind::StringList)
    }
}

/// The attributes by name; an attribute is known by its place.
#[derive(Debug)]
pub struct Schema {
    pub kinds: Vec<Kind>,
    pub names: Vec<String>,
    by_name: FxHashMap<String, usize>,
}

impl Schema {
    pub fn new(attributes: Vec<(String, String)>) -> Result<Self, String> {
        let mut schema = Schema {
            kinds: Vec::new(),
            names: Vec::new(),
            by_name: FxHashMap::default(),
        };
        for (name, kind) in attributes {
            schema.kinds.push(match kind.as_str() {
                "bool" => Kind::Bool,
                "int" => Kind::Int,
                "float" => Kind::Float,
                "string" => Kind::String,
                "int list" => Kind::IntList,
                "string list" => Kind::StringList,
                other => return Err(format!("{other} is no type")),
            });
            schema.by_name.insert(name.clone(), schema.names.len());
            schema.names.push(name);
        }
        Ok(schema)
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Between,
    In,
    NotIn,
    AnyOf,
    NoneOf,
    AllOf,
    IsEmpty,
    IsNotEmpty,
    StartsWith,
    EndsWith,
    Contains,
    IsNull,
    IsNotNull,
    Holds,
}

fn op(word: &str) -> Option<Op> {
    Some(match word {
        "=" => Op::Eq,
        "!=" => Op::Ne,
        "<" => Op::Lt,
        "<=" => Op::Le,
        ">" => Op::Gt,
        ">=" => Op::Ge,
        "between" => Op::Between,
        "in" => Op::In,
        "not in" => Op::NotIn,
        "any of" => Op::AnyOf,
        "none of" => Op::NoneOf,
        "all of" => Op::AllOf,
        "is empty" => Op::IsEmpty,
        "is not empty" => Op::IsNotEmpty,
        "starts with" => Op::StartsWith,
        "ends with" => Op::EndsWith,
        "contains" => Op::Contains,
        "is null" => Op::IsNull,
        "is not null" => Op::IsNotNull,
        "holds" => Op::Holds,
        _ => return None,
    })
}

#[derive(Clone, Debug)]
pub struct Predicate {
    pub attribute: usize,
    pub op: Op,
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
            let op = op(&word).ok_or_else(|| format!("{word} is no operator"))?;
            let name = parts.next();
            let name = name
                .as_ref()
                .and_then(Value::as_str)
                .ok_or("no attribute")?;
            let attribute = schema
                .find(name)
                .ok_or_else(|| format!("{name} is not declared"))?;
            Ok(Tree::Predicate(Predicate {
                attribute,
                op,
                values: parts.collect(),
            }))
        }
    }
}
