//! The part of the language that the core needs: from the JSON form of a checked tree to its normal
//! form.
//!
//! ```text
//! bytes ─ json ─► tape ─ tree, check ─► tree as written ─ literal, graph ─► shared graph
//!                                                         ─ normal_form ─► nodes in order
//! ```
//!
//! Only Python has a parser. The core gets the tree, does not trust it, and checks everything again.
//! `index/language/` is the specification: the same trees are refused, with the same codes and
//! pointers, and the normal forms are equal, node by node.
//!
//! Every insert goes through here. So one [`FrontEnd`] is reused: its vectors keep their memory,
//! strings stay in the input, and an expression of ordinary size costs no allocation.

pub mod address;
pub mod bucket;
mod check;
mod contradiction;
pub mod folding;
mod forms;
pub mod geometry;
mod graph;
mod intern;
mod json;
mod literal;
mod normal_form;
mod operator;
pub mod pattern;
mod schema;
mod tree;
mod types;
pub mod version;
mod write;

#[cfg(test)]
mod tests;

pub use forms::Forms;
pub use literal::Literal;
pub use normal_form::{Node, NormalForm};
pub use operator::{OPERATORS, Op, Operands, Operator};
pub use schema::{RepeatedName, Schema};
pub use types::{Span, Type, Value, Values};

/// How large a tree may be. Exceeding a limit is an error, never a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Predicates, counting every occurrence.
    pub predicates: usize,
    /// Nesting of parentheses and `not`; at most [`Limits::MAX_DEPTH`].
    pub depth: usize,
    /// Values in one set, repeated ones included.
    pub set_values: usize,
}

impl Limits {
    pub const MAX_DEPTH: usize = 64;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            predicates: 4096,
            depth: Self::MAX_DEPTH,
            set_values: 100_000,
        }
    }
}

/// A JSON form that is not a valid tree: a stable code, a message for people, and an RFC 6901
/// pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    pub code: &'static str,
    pub message: String,
    pub pointer: String,
}

impl std::fmt::Display for TreeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = match self.pointer.as_str() {
            "" => "the top",
            pointer => pointer,
        };
        write!(f, "{} (at {place})", self.message)
    }
}

impl std::error::Error for TreeError {}

/// Reads, checks and normalises one expression after another.
///
/// ```
/// use _native::language::{FrontEnd, Limits, Schema, Type};
///
/// let schema = Schema::new([("country", Type::Str), ("age", Type::Int)]).unwrap();
/// let json = br#"[1,["and",["in","country","US","CA"],["not",[">=","age",18]]]]"#;
/// let mut front_end = FrontEnd::default();
/// let form = front_end.normalize(json, &schema, &Limits::default()).unwrap();
/// assert!(form.is_conjunction());
/// assert_eq!(
///     form.to_json(&schema),
///     r#"[1,[["<=","age",17],["in","country","CA","US"],["and",0,1]]]"#
/// );
/// ```
#[derive(Debug, Default)]
pub struct FrontEnd {
    tape: json::Tape,
    tree: tree::Tree,
    graph: graph::Graph,
    ordering: normal_form::Ordering,
}

/// Buffers with more room than this, in bytes or entries, are not kept for the next expression.
const KEPT: usize = 1 << 20;

impl FrontEnd {
    /// The normal form of a tree in its JSON form, `[1, tree]`, checked against a schema.
    ///
    /// Linear in the size of the input, apart from sorting sets; at worst quadratic in the number of
    /// predicates, when folding merges gates. Never panics, whatever the input.
    pub fn normalize(
        &mut self,
        json: &[u8],
        schema: &Schema,
        limits: &Limits,
    ) -> Result<NormalForm<'_>, TreeError> {
        if self.kept() > KEPT && json.len() < KEPT {
            *self = Self::default();
        }
        self.tape.read(json).map_err(|bad| TreeError {
            code: "tree.json",
            message: format!("this is not JSON: {bad}"),
            pointer: String::new(),
        })?;
        self.tree.read(&self.tape, schema, limits)?;
        let text = &self.tape.text;
        let root = self.graph.build(&mut self.tree, schema, text);
        if self.graph.too_large {
            return Err(TreeError {
                code: "limit.predicates",
                message: "the normal form is too large".to_owned(),
                pointer: "/1".to_owned(),
            });
        }
        self.ordering
            .put_in_order(&self.graph, root, &self.tree, schema, text);
        Ok(self.ordering.form(&self.tree, text))
    }

    fn kept(&self) -> usize {
        let text = self.tape.text.capacity();
        let children = self.graph.children.capacity();
        text.max(children).max(self.ordering.kept())
    }
}
