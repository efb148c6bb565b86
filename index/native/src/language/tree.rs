//! The checked tree, exactly as it was written, and its reader.
//!
//! ```text
//! ["or", ["holds","vip"], ["not", ["=","age",1]]]
//!
//!     nodes   0 Or (end 4)   1 Predicate 0 (end 2)   2 Not (end 4)   3 Predicate 1 (end 4)
//! ```
//!
//! The nodes are in preorder and each knows where its subtree ends, so the first child of n is
//! n + 1 and the next sibling of c is its end: no child lists, one vector. The reader
//! makes the same checks in the same order as `json_form.py`. It recurses once a level, and levels
//! are limited.

use super::check::{Derived, describe, make_predicate};
use super::json::{Flaw, Tape, Token};
use super::operator::{Op, Operands, Operator};
use super::schema::Schema;
use super::types::{RawValue, Span, Type};
use super::write;
use super::{Limits, TreeError};

/// What the name of a call begins with: `call brand_safety(site.page)`.
const CALL: &str = "call ";

/// One level of parentheses can hold an `or` of an `xor` of an `and`.
const LEVELS_PER_DEPTH: usize = 3;

/// One condition on one attribute, as written; sets are ascending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicate {
    pub attr: u32,
    /// The attribute itself where `attr` is its folded text.
    pub base: u32,
    /// The salt of a bucket.
    pub salt: Option<Span>,
    pub kind: Type,
    pub op: &'static Operator,
    pub values: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Const(bool),
    /// A place in `predicates`.
    Predicate(u32),
    Not,
    And,
    Or,
    /// The letters of the chain, as a span of the text; one fewer than children.
    Xor(Span),
    /// A predicate on the result of a call. The children say that the arguments are present: its
    /// outer cover.
    Call,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    /// The place after the last node below this one.
    pub end: u32,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    pub predicates: Vec<Predicate>,
    pub values: Vec<RawValue>,
    pub has_calls: bool,
}

/// An error and its path, from the bottom up; boxed, since it is rare.
#[derive(Debug)]
pub(super) struct Failure {
    code: &'static str,
    message: String,
    path: Vec<usize>,
}

impl Failure {
    #[cold]
    pub(super) fn new(code: &'static str, message: String) -> Box<Self> {
        let path = Vec::new();
        Box::new(Self {
            code,
            message,
            path,
        })
    }

    /// The same error, one level up: in the element `place` of a list.
    pub(super) fn below(mut self: Box<Self>, place: usize) -> Box<Self> {
        self.path.push(place);
        self
    }
}

impl From<Box<Failure>> for TreeError {
    fn from(failure: Box<Failure>) -> Self {
        let steps = failure.path.iter().rev();
        Self {
            code: failure.code,
            message: failure.message,
            pointer: steps.map(|step| format!("/{step}")).collect(),
        }
    }
}

type Checked = Result<(), Box<Failure>>;

impl Tree {
    /// Replaces the tree by the one on the tape, checked against a schema.
    pub(super) fn read(&mut self, tape: &Tape, schema: &Schema, limits: &Limits) -> Checked {
        self.nodes.clear();
        self.predicates.clear();
        self.values.clear();
        self.has_calls = false;
        let Some(Token::List { len: 2, .. }) = tape.tokens.first() else {
            let message = "expected [version, tree]".to_owned();
            return Err(Failure::new("tree.shape", message));
        };
        let version = tape.tokens[1];
        match version {
            Token::Int(1) => {}
            Token::Float(1.0) => {} // as Python compares
            _ => {
                let found = print(version, &tape.text);
                let message = format!("expected version 1, found {found}");
                return Err(Failure::new("tree.version", message).below(0));
            }
        }
        let mut reader = Reader {
            tape,
            schema,
            limits,
            max_level: (limits.depth.min(Limits::MAX_DEPTH) + 1) * LEVELS_PER_DEPTH,
            predicates: 0,
            tree: self,
        };
        let root = tape.next(1);
        reader.node(root, 0).map_err(|failure| failure.below(1))
    }
}

/// What is written in place of an attribute: what is derived from it.
#[derive(Clone, Copy)]
enum Written {
    Nothing,
    Fold,
    Bucket(Token),
}

/// What is derived, if that is possible.
fn check_derived(written: Written) -> Result<Derived, Box<Failure>> {
    let (code, message) = match written {
        Written::Nothing => return Ok(Derived::Nothing),
        Written::Fold => return Ok(Derived::Fold),
        Written::Bucket(Token::Str(salt, Flaw::None)) => return Ok(Derived::Bucket(salt)),
        Written::Bucket(Token::Str(_, Flaw::Nul)) => (
            "value.nul",
            "a string must not contain the NUL character".to_owned(),
        ),
        Written::Bucket(Token::Str(..)) => (
            "value.surrogate",
            "a string must not contain a lone surrogate".to_owned(),
        ),
        Written::Bucket(token) => (
            "type.mismatch",
            format!("a salt is text, not {}", describe(token)),
        ),
    };
    Err(Failure::new(code, message).below(1))
}

struct Reader<'a> {
    tape: &'a Tape,
    schema: &'a Schema,
    limits: &'a Limits,
    max_level: usize,
    /// As written: a call is one, however many arguments it has.
    predicates: usize,
    tree: &'a mut Tree,
}

impl Reader<'_> {
    fn node(&mut self, at: usize, level: usize) -> Checked {
        if level > self.max_level {
            return fail("limit.depth", "the tree is too deep");
        }
        let (end, word) = match (self.tape.tokens[at], self.tape.tokens.get(at + 1)) {
            (Token::Bool(value), _) => {
                self.push(Kind::Const(value));
                return Ok(());
            }
            (Token::List { len: 1.., end }, Some(Token::Str(word, _))) => (end, word),
            _ => {
                let message = "expected true, false, or a list that starts with a word";
                return fail("tree.shape", message);
            }
        };
        let word = word.of_text(&self.tape.text);
        let kind = match word {
            "and" => Kind::And,
            "or" => Kind::Or,
            "not" => Kind::Not,
            "xor" => return self.chain(at, level),
            _ => match Operator::find(word) {
                Some(op) => return self.predicate(op, at, end as usize),
                None => {
                    let message = format!("{} is not an operator", write::python_string(word));
                    return Err(Failure::new("tree.shape", message).below(0));
                }
            },
        };
        match (kind, self.len(at)) {
            (Kind::Not, 2) | (Kind::And | Kind::Or, 3..) => self.children(kind, at, 1, level),
            (Kind::Not, _) => fail("tree.shape", "not takes one child"),
            _ => fail("tree.shape", &format!("{word} takes at least two children")),
        }
    }

    fn chain(&mut self, at: usize, level: usize) -> Checked {
        let text = &self.tape.text;
        let letters = match self.tape.tokens.get(at + 2) {
            Some(Token::Str(letters, _)) if self.len(at) > 1 => Some(*letters),
            _ => None,
        };
        let only = |letters: &Span| {
            letters
                .of_text(text)
                .bytes()
                .all(|c| c == b'x' || c == b'n')
        };
        let Some(letters) = letters.filter(only) else {
            let message = "xor takes a letter x or n for each operator";
            return fail("tree.shape", message);
        };
        if letters.len() + 3 != self.len(at) {
            let message = "xor takes one child more than it has letters";
            return fail("tree.shape", message);
        }
        if letters.is_empty() {
            return fail("tree.shape", "xor takes at least two children");
        }
        self.children(Kind::Xor(letters), at, 2, level)
    }

    /// A node and what is below it: the elements of the list at `at` from place `first` on.
    fn children(&mut self, kind: Kind, at: usize, first: usize, level: usize) -> Checked {
        let node = self.tree.nodes.len();
        self.push(kind);
        let end = self.tape.next(at);
        let mut child = at + 1 + first;
        let mut place = first;
        while child < end {
            self.node(child, level + 1)
                .map_err(|failure| failure.below(place))?;
            child = self.tape.next(child);
            place += 1;
        }
        self.tree.nodes[node].end = self.end();
        Ok(())
    }

    fn predicate(&mut self, op: &'static Operator, at: usize, end: usize) -> Checked {
        let Self {
            tape,
            schema,
            limits,
            ..
        } = *self;
        self.predicates += 1;
        if self.predicates > limits.predicates {
            let message = format!("more than {} predicates", limits.predicates);
            return Err(Failure::new("limit.predicates", message));
        }
        let Some((name, derived)) = self.subject(at + 2, end) else {
            let message = format!("{} takes an attribute", op.word);
            return Err(Failure::new("tree.shape", message));
        };
        let name = name.of_text(&tape.text);
        if let Some(call) = name.strip_prefix(CALL) {
            return self.call(op, call);
        }
        let Some((attr, kind)) = schema.find(name) else {
            let message = format!("there is no attribute {name}");
            return Err(Failure::new("attribute.unknown", message).below(1));
        };
        // All tokens below are operands, unless one is a list, which is a fault by itself.
        let count = self.len(at) - 2;
        let operands = tape.tokens.get(tape.next(at + 2)..end).unwrap_or(&[]);
        let expected = match op.operands {
            Operands::Set | Operands::Networks => {
                if count > limits.set_values {
                    let message = format!("more than {} values", limits.set_values);
                    return Err(Failure::new("limit.set_values", message));
                }
                count
            }
            Operands::None => 0,
            Operands::One | Operands::Text | Operands::Pattern => 1,
            Operands::Bounds => 2,
            Operands::Circle => 3,
            Operands::Box => 4,
            Operands::Polygon => {
                if count % 2 == 1 {
                    let message = format!("{} takes pairs of numbers", op.word);
                    return Err(Failure::new("tree.shape", message));
                }
                count
            }
        };
        if count != expected {
            let message = format!("{} takes {expected} operands", op.word);
            return Err(Failure::new("tree.shape", message));
        }
        let attribute = (attr, name, kind);
        let values = &mut self.tree.values;
        let derived = check_derived(derived)?;
        let predicate = make_predicate(attribute, derived, op, operands, &tape.text, values)?;
        let place = u32::try_from(self.tree.predicates.len()).unwrap_or(u32::MAX);
        self.tree.predicates.push(predicate);
        self.push(Kind::Predicate(place));
        Ok(())
    }

    /// The name of an attribute, and what is derived from it: `"a"`, `["fold","a"]` or
    /// `["bucket","a","salt"]`.
    fn subject(&self, at: usize, end: usize) -> Option<(Span, Written)> {
        let tokens = &self.tape.tokens;
        let token = tokens.get(at).filter(|_| at < end)?;
        if let Token::Str(name, _) = token {
            return Some((*name, Written::Nothing));
        }
        let Token::List { len, end } = *token else {
            return None;
        };
        match (len, tokens.get(at + 1..end as usize)?) {
            (2, [Token::Str(kind, _), Token::Str(name, _)]) if self.is(*kind, "fold") => {
                Some((*name, Written::Fold))
            }
            (3, [Token::Str(kind, _), Token::Str(name, _), salt, ..])
                if self.is(*kind, "bucket") =>
            {
                Some((*name, Written::Bucket(*salt)))
            }
            _ => None,
        }
    }

    fn is(&self, at: Span, word: &str) -> bool {
        at.of_text(&self.tape.text) == word
    }

    /// A predicate on the result of a call. Which operators there are and what they answer is known
    /// in Python, which has checked the operands; the core needs the arguments.
    fn call(&mut self, op: &'static Operator, call: &str) -> Checked {
        let arguments = call
            .strip_suffix(')')
            .and_then(|call| call.split_once('('))
            .map(|(_, arguments)| arguments);
        let (Some(arguments), Some(is_present)) = (arguments, Operator::find("is not null")) else {
            let message = format!("{CALL}{call} is not a call");
            return Err(Failure::new("tree.shape", message).below(1));
        };
        if op.op == Op::IsNull {
            let message = format!("{} does not work on the result of a call", op.word);
            return Err(Failure::new("type.operator", message));
        }
        let node = self.tree.nodes.len();
        self.push(Kind::Call);
        for name in arguments.split(", ") {
            let Some((attr, kind)) = self.schema.find(name) else {
                let message = format!("there is no attribute {name}");
                return Err(Failure::new("attribute.unknown", message).below(1));
            };
            let place = u32::try_from(self.tree.predicates.len()).unwrap_or(u32::MAX);
            self.tree.predicates.push(Predicate {
                attr,
                base: attr,
                salt: None,
                kind,
                op: is_present,
                values: Span::new(0, 0),
            });
            self.push(Kind::Predicate(place));
        }
        self.tree.nodes[node].end = self.end();
        self.tree.has_calls = true;
        Ok(())
    }

    /// How many elements the list at a place has.
    fn len(&self, at: usize) -> usize {
        match self.tape.tokens[at] {
            Token::List { len, .. } => len as usize,
            _ => 0,
        }
    }

    /// Appends a node that has nothing below it yet.
    fn push(&mut self, kind: Kind) {
        let end = self.end() + 1;
        self.tree.nodes.push(Node { kind, end });
    }

    fn end(&self) -> u32 {
        u32::try_from(self.tree.nodes.len()).unwrap_or(u32::MAX)
    }
}

#[cold]
fn fail(code: &'static str, message: &str) -> Checked {
    Err(Failure::new(code, message.to_owned()))
}

/// A value in a message, as Python prints it; what is not a scalar by its type.
fn print(token: Token, text: &str) -> String {
    match token {
        Token::Null => "None".to_owned(),
        Token::Bool(value) => if value { "True" } else { "False" }.to_owned(),
        Token::Int(value) => value.to_string(),
        Token::BigInt(at) => at.of_text(text).to_owned(),
        Token::Float(value) => write::python_float(value),
        Token::Str(at, _) => write::python_string(at.of_text(text)),
        other => describe(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FrontEnd, Limits, Schema, Type};

    fn normalized(json: &str) -> Result<(String, bool), &'static str> {
        let schema = Schema::new([("page", Type::Str), ("n", Type::Int)]).unwrap();
        let mut front = FrontEnd::default();
        let form = front.normalize(json.as_bytes(), &schema, &Limits::default());
        form.map(|form| (form.to_json(&schema), form.is_pending()))
            .map_err(|error| error.code)
    }

    #[test]
    fn a_call_becomes_that_its_arguments_are_present_whatever_its_sign() {
        let cover = r#"[1,[["not",["is null","n"]],["not",["is null","page"]],["and",0,1]]]"#;
        let call = r#"[">=","call f(page, n)",0.8]"#;
        for json in [format!("[1,{call}]"), format!(r#"[1,["not",{call}]]"#)] {
            assert_eq!(normalized(&json), Ok((cover.to_owned(), true)));
        }
        let (_, is_pending) = normalized(r#"[1,["=","page","call f(n)"]]"#).unwrap();
        assert!(!is_pending);
    }

    #[test]
    fn a_call_counts_once() {
        let call = r#"["holds","call f(page, n)"]"#;
        let most = Limits::default().predicates;
        let calls = |count: usize| format!(r#"[1,["or",{}]]"#, vec![call; count].join(","));
        assert!(normalized(&calls(most)).is_ok());
        assert_eq!(normalized(&calls(most + 1)), Err("limit.predicates"));
    }

    #[test]
    fn a_wrong_call_is_refused() {
        let code = |json: &str| normalized(json).unwrap_err();
        assert_eq!(code(r#"[1,["=","call f(x)",1]]"#), "attribute.unknown");
        assert_eq!(code(r#"[1,["=","call f",1]]"#), "tree.shape");
        assert_eq!(code(r#"[1,["is not null","call f(n)"]]"#), "type.operator");
    }
}
