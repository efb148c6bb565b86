//! The crate `quamina`, a port of the Go library of that name, with the same trees and events.
//!
//! ```text
//!   a0 = 5 and a1 in (3, 4)     {"a0": [5], "a1": [3, 4]}
//! ```
//!
//! A pattern has one list of alternatives for each attribute, so it holds conjunctions of equalities
//! and sets of integers, one for each attribute; anything else is an error here. So are comparisons:
//! it has them (`{"numeric": [">=", 13]}`), but beside a pattern with `"a": [{"numeric": [">=", 13]}]`
//! one with `"a": [42]` matches 38, too. It reads the event as JSON text, which is part of its time. Patterns are compiled before the first match,
//! which panics when a state has more than 255 successors; that, too, is an error here.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

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
        match op {
            Op::In => Ok(json!(values)),
            Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Between => {
                Err("quamina 0.7.0 takes a comparison for an equality beside it".to_owned())
            }
            op => Err(format!("quamina has no {}", op.word())),
        }
    }

    pub fn insert(&mut self, id: u64, text: &str) -> Result<(), String> {
        let pattern = self.translate(text)?;
        self.patterns
            .add_pattern(id, &pattern)
            .map_err(|e| format!("{e:?} in {pattern}"))
    }

    /// Compile the patterns, which the first match would do.
    pub fn compile(&self) -> Result<(), String> {
        let hook = take_hook();
        set_hook(Box::new(|_| {})); // the error says it
        let first = catch_unwind(AssertUnwindSafe(|| self.patterns.has_matches(b"{}")));
        set_hook(hook);
        match first {
            Ok(matched) => matched.map(|_| ()).map_err(|e| format!("{e:?}")),
            Err(_) => Err("quamina panics: a state has more than 255 successors".to_owned()),
        }
    }

    /// Write the ids that match to `found`, ascending.
    pub fn search(&self, event: &str, found: &mut Vec<u64>) -> Result<(), String> {
        let matches = self.patterns.matches_for_event(event.as_bytes());
        *found = matches.map_err(|e| format!("{e:?}"))?;
        found.sort_unstable();
        Ok(())
    }
}
