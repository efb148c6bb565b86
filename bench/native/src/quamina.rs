//! The crate `quamina`, a port of the Go library of that name, with the same trees and events.
//!
//! ```text
//!   a0 = 5 and a1 > 3     {"a0": [5], "a1": [{"numeric": [">", 3]}]}
//! ```
//!
//! A pattern has one list of alternatives for each attribute, so it holds conjunctions of equalities,
//! sets and comparisons of integers, one for each attribute; anything else is an error here. It reads
//! the event as JSON text, which is part of its time. Its compiled form panics when a state has more
//! than 255 successors; that, too, is an error here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use _native::language::{Op, Schema, Type};
use quamina::Quamina;
use serde_json::{Map, Value, json};

use crate::tree::{self, Predicate, Tree};

pub struct Peer {
    schema: Schema,
    patterns: Quamina<u64>,
}

impl Peer {
    pub fn new(schema: Schema) -> Self {
        Peer {
            schema,
            patterns: Quamina::new(),
        }
    }

    /// The pattern of an expression, or the reason why there is none.
    pub fn translate(&self, text: &str) -> Result<String, String> {
        let tree = tree::read(text, &self.schema)?;
        let children = match &tree {
            Tree::And(children) => children.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut pattern = Map::new();
        for child in children {
            let Tree::Predicate(predicate) = child else {
                return Err("quamina holds conjunctions only".to_owned());
            };
            let name = self.schema.name(predicate.attribute).to_owned();
            if pattern
                .insert(name, self.alternatives(predicate)?)
                .is_some()
            {
                return Err("quamina has one predicate for each attribute".to_owned());
            }
        }
        Ok(Value::Object(pattern).to_string())
    }

    fn alternatives(&self, predicate: &Predicate) -> Result<Value, String> {
        let Predicate { op, values, .. } = predicate;
        if self.schema.ty(predicate.attribute) != Type::Int || predicate.negated {
            return Err("quamina compares integers only, and has no negation of them".to_owned());
        }
        Ok(match op {
            Op::In => json!(values),
            Op::Lt | Op::Le | Op::Gt | Op::Ge => json!([{ "numeric": [op.word(), values[0]] }]),
            Op::Between => json!([{ "numeric": [">=", values[0], "<=", values[1]] }]),
            op => return Err(format!("quamina has no {}", op.word())),
        })
    }

    pub fn insert(&mut self, id: u64, text: &str) -> Result<(), String> {
        let pattern = self.translate(text)?;
        self.patterns
            .add_pattern(id, &pattern)
            .map_err(|e| format!("{e:?} in {pattern}"))
    }

    /// Write the ids that match to `found`, ascending.
    pub fn search(&self, event: &str, found: &mut Vec<u64>) -> Result<(), String> {
        let matches = catch_unwind(AssertUnwindSafe(|| {
            self.patterns.matches_for_event(event.as_bytes())
        }));
        let matches = matches.map_err(|_| "quamina panics: too many successors of a state")?;
        *found = matches.map_err(|e| format!("{e:?}"))?;
        found.sort_unstable();
        Ok(())
    }
}
