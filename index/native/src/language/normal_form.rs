//! The normal form: the nodes that the root of a graph needs, in canonical order.
//!
//! ```text
//! not (a = 1 and (b = 2 xor c))       first the literals in order, then the gates by height,
//!                                     by kind, by children; the root is last
//! ```
//!
//! Literals are ordered by the *name* of the attribute, operator, values, positive first. The order
//! depends on structure alone, so expressions that differ only in how they were written have equal
//! normal forms, node by node, the same as in `normal_form.py`.

use super::graph::{Gate, GateKind, Graph, Place};
use super::literal::{Literal, RawLiteral};
use super::schema::Schema;
use super::tree::Tree;
use super::types::{RawValue, Span, Type, Value, Values};
use super::version;
use super::write;

/// One node of a normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The only node, if there is one.
    Const(bool),
    /// Its position among the literals, which is also its position among the nodes.
    Literal(u32),
    /// Children: see [`NormalForm::children`]. At least two, ascending, none of them an `and`.
    And(Span),
    /// Likewise, none of them an `or`.
    Or(Span),
}

/// The nodes, children before parents, the root last. It borrows from the front end that made it.
#[derive(Clone, Copy, Debug)]
pub struct NormalForm<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) children: &'a [u32],
    pub(super) literals: &'a [RawLiteral],
    pub(super) values: &'a [RawValue],
    pub(super) text: &'a str,
    pub(super) is_pending: bool,
}

impl<'a> NormalForm<'a> {
    /// Whether this is only the outer cover of an expression with calls: where it is true, their
    /// results decide.
    pub fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// All nodes: a constant, or the literals and then the gates.
    pub fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// The node of the whole expression.
    pub fn root(&self) -> Node {
        self.nodes.last().copied().unwrap_or(Node::Const(false))
    }

    /// The positions of a gate's children among the nodes.
    pub fn children(&self, of: Span) -> &'a [u32] {
        of.of(self.children)
    }

    /// The number of distinct literals.
    pub fn literal_count(&self) -> usize {
        self.literals.len()
    }

    /// A literal by its position.
    ///
    /// # Panics
    ///
    /// If there is no literal at that position.
    pub fn literal(&self, place: u32) -> Literal<'a> {
        self.literals[place as usize].get(self.values, self.text)
    }

    /// All literals, in order.
    pub fn literals(&self) -> impl ExactSizeIterator<Item = Literal<'a>> + Clone {
        let Self { values, text, .. } = *self;
        self.literals
            .iter()
            .map(move |literal| literal.get(values, text))
    }

    /// Whether the expression is a single `and` of literals, or a single literal.
    pub fn is_conjunction(&self) -> bool {
        match self.root() {
            Node::Literal(_) => true,
            Node::And(_) => self.nodes.len() == self.literals.len() + 1,
            _ => false,
        }
    }

    /// `[1, [node, …]]`: a literal in its JSON form, a gate as its kind and the positions of its
    /// children. Byte for byte the same as Python's `NormalForm.to_json`.
    pub fn to_json(&self, schema: &Schema) -> String {
        let mut out = String::from("[1,[");
        for (place, node) in self.nodes.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            match *node {
                Node::Const(value) => out.push_str(if value { "true" } else { "false" }),
                Node::Literal(literal) => self.write_literal(literal, schema, &mut out),
                Node::And(children) => self.write_gate("and", children, &mut out),
                Node::Or(children) => self.write_gate("or", children, &mut out),
            }
        }
        out.push_str("]]");
        out
    }

    fn write_literal(&self, literal: u32, schema: &Schema, out: &mut String) {
        let literal = self.literal(literal);
        out.push_str(if literal.positive { "[" } else { "[\"not\",[" });
        write::json_string(literal.op.word(), out);
        out.push(',');
        match literal.salt {
            Some(salt) => {
                out.push_str("[\"bucket\",");
                write::json_string(schema.name(literal.attr), out);
                out.push(',');
                write::json_string(salt, out);
                out.push(']');
            }
            None if schema.is_fold(literal.attr) => {
                out.push_str("[\"fold\",");
                write::json_string(schema.name(literal.attr), out);
                out.push(']');
            }
            None => write::json_string(schema.name(literal.attr), out),
        }
        for value in literal.values.iter() {
            out.push(',');
            match (schema.ty(literal.attr), value) {
                (Type::Version, Value::Int(int)) => {
                    write::json_string(&version::print(version::of_int(int)), out);
                }
                _ => write::json_value(value, out),
            }
        }
        out.push_str(if literal.positive { "]" } else { "]]" });
    }

    fn write_gate(&self, word: &str, children: Span, out: &mut String) {
        out.push('[');
        write::json_string(word, out);
        for child in self.children(children) {
            out.push(',');
            write::integer(child, out);
        }
        out.push(']');
    }
}

/// The buffers of a normal form and of ordering a graph.
#[derive(Debug, Default)]
pub(super) struct Ordering {
    nodes: Vec<Node>,
    children: Vec<u32>,
    literals: Vec<RawLiteral>,
    /// For each literal of the graph, whether the root needs it, then its position; then gates.
    literal_places: Vec<u32>,
    gate_places: Vec<u32>,
    /// Literals that are needed: rank of the attribute, operator and number in one word.
    leaves: Vec<u64>,
    heights: Vec<u32>,
    /// Gates by height.
    levels: Vec<(u32, usize)>,
    level: Vec<(Gate, usize)>,
}

const NOT_NEEDED: u32 = u32::MAX;
const NEEDED: u32 = u32::MAX - 1;

impl Ordering {
    /// Orders the nodes that the root needs.
    pub(super) fn put_in_order(
        &mut self,
        graph: &Graph,
        root: Place,
        tree: &Tree,
        schema: &Schema,
        text: &str,
    ) {
        self.nodes.clear();
        self.children.clear();
        self.literals.clear();
        self.leaves.clear();
        if root == Place::FALSE || root == Place::TRUE {
            self.nodes.push(Node::Const(root == Place::TRUE));
            return;
        }
        self.mark(graph, root);
        self.place_literals(graph, tree, schema, text);
        if root.as_gate().is_some() {
            self.place_gates(graph);
        }
    }

    /// The result of `put_in_order`.
    pub(super) fn form<'a>(&'a self, tree: &'a Tree, text: &'a str) -> NormalForm<'a> {
        NormalForm {
            nodes: &self.nodes,
            children: &self.children,
            literals: &self.literals,
            values: &tree.values,
            text,
            is_pending: tree.has_calls,
        }
    }

    /// Memory kept for the next expression, roughly.
    pub(super) fn kept(&self) -> usize {
        self.children.capacity().max(self.literal_places.capacity())
    }

    /// Marks the nodes that the root reaches. Children come before parents, so no recursion is
    /// needed: a chain of `xor` may have thousands of levels.
    fn mark(&mut self, graph: &Graph, root: Place) {
        self.literal_places.clear();
        self.literal_places
            .resize(graph.predicates.len() * 2, NOT_NEEDED);
        self.gate_places.clear();
        self.gate_places.resize(graph.gates.len(), NOT_NEEDED);
        self.need(root);
        for place in (0..graph.gates.len()).rev() {
            if self.gate_places[place] == NEEDED {
                for &child in graph.gates[place].children.of(&graph.children) {
                    self.need(child);
                }
            }
        }
    }

    fn need(&mut self, place: Place) {
        if let Some(gate) = place.as_gate() {
            self.gate_places[gate] = NEEDED;
        } else if let Some(literal) = place.as_literal() {
            self.literal_places[literal] = NEEDED;
        }
    }

    fn place_literals(&mut self, graph: &Graph, tree: &Tree, schema: &Schema, text: &str) {
        let number = |leaf: u64| (leaf & u64::from(u32::MAX)) as usize;
        for (literal, place) in self.literal_places.iter().enumerate() {
            if *place == NEEDED {
                let predicate = &graph.predicates[literal / 2];
                let rank = u64::from(schema.rank(predicate.attr));
                let leaf = (rank << 8 | predicate.op as u64) << 32 | literal as u64;
                self.leaves.push(leaf);
            }
        }
        // Words sort fast, and values need to be looked at only where all the rest is equal.
        self.leaves.sort_unstable();
        let values = |leaf: u64| Values {
            raw: graph.predicates[number(leaf) / 2].values.of(&tree.values),
            text,
        };
        for same in self.leaves.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if same.len() > 1 {
                same.sort_by(|a, b| values(*a).cmp(&values(*b))); // stable: positive first
            }
        }
        let salt = |leaf: u64| graph.predicates[number(leaf) / 2].salt;
        if self.leaves.iter().any(|&leaf| salt(leaf).is_some()) {
            let salt = |leaf: u64| salt(leaf).map(|salt| salt.of_text(text));
            for same in self.leaves.chunk_by_mut(|a, b| a >> 40 == b >> 40) {
                same.sort_by(|a, b| salt(*a).cmp(&salt(*b)));
            }
        }
        for (place, &leaf) in (0..).zip(&self.leaves) {
            let literal = number(leaf);
            self.literal_places[literal] = place;
            self.nodes.push(Node::Literal(place));
            self.literals.push(RawLiteral {
                positive: literal % 2 == 0,
                ..graph.predicates[literal / 2]
            });
        }
    }

    fn place_gates(&mut self, graph: &Graph) {
        self.find_heights(graph);
        let levels = std::mem::take(&mut self.levels);
        for level in levels.chunk_by(|a, b| a.0 == b.0) {
            self.place_level(graph, level);
        }
        self.levels = levels;
    }

    /// Fills `levels`: the height of a literal is 0, of a gate one more than its highest child.
    fn find_heights(&mut self, graph: &Graph) {
        self.heights.clear();
        self.levels.clear();
        for (place, gate) in graph.gates.iter().enumerate() {
            let below = gate.children.of(&graph.children).iter();
            let highest = below
                .filter_map(|child| child.as_gate())
                .map(|gate| self.heights[gate])
                .max();
            let height = highest.unwrap_or(0) + 1;
            self.heights.push(height);
            if self.gate_places[place] == NEEDED {
                self.levels.push((height, place));
            }
        }
        self.levels.sort_unstable();
    }

    /// Appends the gates of one height, by kind and children.
    fn place_level(&mut self, graph: &Graph, level: &[(u32, usize)]) {
        self.level.clear();
        for &(_, place) in level {
            let gate = graph.gates[place];
            let first = self.children.len();
            for &child in gate.children.of(&graph.children) {
                let place = match (child.as_gate(), child.as_literal()) {
                    (Some(gate), _) => self.gate_places[gate],
                    (_, Some(literal)) => self.literal_places[literal],
                    _ => continue, // no gate has a constant for a child
                };
                self.children.push(place);
            }
            self.children[first..].sort_unstable();
            let children = Span::new(first, self.children.len());
            let kind = gate.kind;
            self.level.push((Gate { kind, children }, place));
        }
        let children = &self.children;
        self.level.sort_unstable_by(|(a, _), (b, _)| {
            let by_children = || a.children.of(children).cmp(b.children.of(children));
            a.kind.cmp(&b.kind).then_with(by_children)
        });
        for (gate, place) in &self.level {
            self.gate_places[*place] = self.nodes.len() as u32;
            self.nodes.push(match gate.kind {
                GateKind::And => Node::And(gate.children),
                GateKind::Or => Node::Or(gate.children),
            });
        }
    }
}
