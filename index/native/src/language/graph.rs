//! The shared graph that a tree becomes: negations pushed down, every node made once, folded.
//!
//! A node represents when it is *true*, nothing else. The two signs of a subtree are two nodes,
//! folded separately, since with three values neither follows from the other (`normal_form.py`
//! explains why). A walk visits each node of the tree once and builds one sign or, below an `xor`,
//! both, so nested `xor`s stay linear.
//!
//! A [`Place`] is a node's identity: 0 false, 1 true, then a number for each sign of each
//! distinct predicate, and with the high bit set the number of a gate. Gates are made after
//! their children, so their numbers are in topological order.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::contradiction::contradict;
use super::intern::Table;
use super::literal::{RawLiteral, literal_of};
use super::operator::Op;
use super::schema::Schema;
use super::tree::{Kind, Tree};
use super::types::{Span, Values};

/// The most entries in child lists, 1 GiB; a larger graph is refused.
const MAX_CHILDREN: usize = 1 << 28;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u32);

impl Place {
    pub(super) const FALSE: Self = Self(0);
    pub(super) const TRUE: Self = Self(1);
    const GATE: u32 = 1 << 31;

    fn constant(value: bool) -> Self {
        Self(u32::from(value))
    }

    /// The positive sign of a predicate is even, the negative one follows it.
    fn literal(predicate: u32, positive: bool) -> Self {
        Self(2 + predicate * 2 + u32::from(!positive))
    }

    /// The number of a literal: twice its predicate's, one more if it is negative.
    pub(super) fn as_literal(self) -> Option<usize> {
        (self.0 >= 2 && self.0 < Self::GATE).then(|| self.0 as usize - 2)
    }

    pub(super) fn as_gate(self) -> Option<usize> {
        (self.0 & Self::GATE != 0).then_some((self.0 & !Self::GATE) as usize)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GateKind {
    And,
    Or,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    pub kind: GateKind,
    pub children: Span,
}

/// The signs of a node that are needed.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    yes: bool,
    no: bool,
}

/// A node that is true when the tree is true, and one that is true when it is false; meaningless
/// if it was not wanted.
type Signs = (Place, Place);

#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Distinct canonical predicates, as positive literals.
    pub predicates: Vec<RawLiteral>,
    pub gates: Vec<Gate>,
    /// Of each gate, ascending.
    pub children: Vec<Place>,
    /// The graph is too large, and what was built is invalid.
    pub too_large: bool,
    predicate_table: Table,
    gate_table: Table,
    /// The signs of children whose gate does not exist yet, as two stacks.
    yes: Vec<Place>,
    no: Vec<Place>,
    flat: Vec<Place>,
    /// For each attribute, the last gate (by `stamp`) that had a literal on it.
    seen: Vec<u32>,
    stamp: u32,
    /// Attributes and numbers of literals.
    grouped: Vec<(u32, usize)>,
}

impl Graph {
    /// Builds the graph of a tree and returns its root. Appends to the tree's values.
    pub(super) fn build(&mut self, tree: &mut Tree, schema: &Schema, text: &str) -> Place {
        self.predicates.clear();
        self.gates.clear();
        self.children.clear();
        self.predicate_table.clear();
        self.gate_table.clear();
        self.yes.clear();
        self.no.clear();
        self.too_large = false;
        if self.seen.len() < schema.len() {
            self.seen.resize(schema.len(), 0);
        }
        let mut builder = Builder {
            graph: self,
            tree,
            schema,
            text,
        };
        builder
            .node(
                0,
                Wanted {
                    yes: true,
                    no: false,
                },
            )
            .0
    }
}

struct Builder<'a> {
    graph: &'a mut Graph,
    tree: &'a mut Tree,
    schema: &'a Schema,
    text: &'a str,
}

impl Builder<'_> {
    /// Recurses once a level of the tree; the reader limits the levels.
    fn node(&mut self, at: usize, wanted: Wanted) -> Signs {
        let node = self.tree.nodes[at];
        match node.kind {
            Kind::Const(value) => (Place::constant(value), Place::constant(!value)),
            Kind::Predicate(place) => {
                let place = place as usize;
                let sign = |this: &mut Self, wanted, positive| {
                    if wanted {
                        this.literal(place, positive)
                    } else {
                        Place::FALSE
                    }
                };
                (sign(self, wanted.yes, true), sign(self, wanted.no, false))
            }
            Kind::Not => {
                let Wanted { yes, no } = wanted;
                let (is, is_not) = self.node(at + 1, Wanted { yes: no, no: yes });
                (is_not, is)
            }
            Kind::And => self.gates(at, wanted, GateKind::And, GateKind::Or),
            Kind::Or => self.gates(at, wanted, GateKind::Or, GateKind::And),
            Kind::Xor(letters) => self.chain(at, letters),
            Kind::Call => {
                // Either result may make it true.
                const YES: Wanted = Wanted {
                    yes: true,
                    no: false,
                };
                let (present, _) = self.gates(at, YES, GateKind::And, GateKind::Or);
                (present, present)
            }
        }
    }

    fn literal(&mut self, place: usize, positive: bool) -> Place {
        let predicate = self.tree.predicates[place];
        let found = literal_of(&predicate, positive, &mut self.tree.values, self.text);
        let Some(literal) = found else {
            return Place::FALSE;
        };
        let values = Values {
            raw: literal.values.of(&self.tree.values),
            text: self.text,
        };
        let mut hasher = FxHasher::default();
        hasher.write_u64(u64::from(literal.attr) << 8 | literal.op as u64);
        let salt = |literal: &RawLiteral| literal.salt.map(|salt| salt.of_text(self.text));
        let own_salt = salt(&literal);
        own_salt.hash(&mut hasher);
        values.iter().for_each(|value| value.hash(&mut hasher));
        let Graph {
            predicates,
            predicate_table,
            ..
        } = &mut *self.graph;
        let next = predicates.len() as u32;
        let predicate = predicate_table.find_or_insert(hasher.finish(), next, |other| {
            let other = &predicates[other as usize];
            (other.attr, other.op, salt(other)) == (literal.attr, literal.op, own_salt)
                && other.get(&self.tree.values, self.text).values == values
        });
        if predicate == next {
            predicates.push(literal);
        }
        Place::literal(predicate, literal.positive)
    }

    fn gates(&mut self, at: usize, wanted: Wanted, yes: GateKind, no: GateKind) -> Signs {
        let first = (self.graph.yes.len(), self.graph.no.len());
        let end = self.tree.nodes[at].end as usize;
        let mut child = at + 1;
        while child < end {
            let (is, is_not) = self.node(child, wanted);
            if wanted.yes {
                self.graph.yes.push(is);
            }
            if wanted.no {
                self.graph.no.push(is_not);
            }
            child = self.tree.nodes[child].end as usize;
        }
        let mut signs = (Place::FALSE, Place::FALSE);
        if wanted.yes {
            let mut stack = std::mem::take(&mut self.graph.yes);
            signs.0 = self.gate(yes, &stack[first.0..]);
            stack.truncate(first.0);
            self.graph.yes = stack;
        }
        if wanted.no {
            let mut stack = std::mem::take(&mut self.graph.no);
            signs.1 = self.gate(no, &stack[first.1..]);
            stack.truncate(first.1);
            self.graph.no = stack;
        }
        signs
    }

    /// Both signs of a chain, step by step from the left: two gates a step for each, which
    /// share the step before.
    fn chain(&mut self, at: usize, letters: Span) -> Signs {
        const BOTH: Wanted = Wanted {
            yes: true,
            no: true,
        };
        use GateKind::{And, Or};
        let (mut yes, mut no) = self.node(at + 1, BOTH);
        let mut child = self.tree.nodes[at + 1].end as usize;
        for letter in letters.of_text(self.text).bytes() {
            let (more, less) = self.node(child, BOTH);
            let either = [self.gate(And, &[yes, less]), self.gate(And, &[no, more])];
            let differ = self.gate(Or, &either);
            let either = [self.gate(And, &[yes, more]), self.gate(And, &[no, less])];
            let agree = self.gate(Or, &either);
            (yes, no) = if letter == b'n' {
                (agree, differ)
            } else {
                (differ, agree)
            };
            child = self.tree.nodes[child].end as usize;
        }
        (yes, no)
    }

    /// The gate over these nodes, flattened and folded.
    fn gate(&mut self, kind: GateKind, children: &[Place]) -> Place {
        let (neutral, dominant) = match kind {
            GateKind::And => (Place::TRUE, Place::FALSE),
            GateKind::Or => (Place::FALSE, Place::TRUE),
        };
        let graph = &mut *self.graph;
        if graph.too_large {
            return Place::FALSE;
        }
        graph.flat.clear();
        for &child in children {
            if child == dominant {
                return dominant;
            }
            if child == neutral {
                continue;
            }
            match child.as_gate().map(|gate| graph.gates[gate]) {
                Some(below) if below.kind == kind => {
                    graph
                        .flat
                        .extend_from_slice(below.children.of(&graph.children));
                }
                _ => graph.flat.push(child),
            }
        }
        if !graph.flat.is_sorted_by(|a, b| a < b) {
            graph.flat.sort_unstable();
            graph.flat.dedup();
        }
        match graph.flat[..] {
            [] => return neutral,
            [only] => return only,
            _ => {}
        }
        if self.folds(kind) {
            return dominant;
        }
        self.graph.place_of_gate(kind)
    }

    /// Whether the literals in `flat` decide their gate by themselves.
    fn folds(&mut self, kind: GateKind) -> bool {
        let graph = &mut *self.graph;
        graph.stamp = graph.stamp.wrapping_add(1);
        if graph.stamp == 0 {
            graph.seen.fill(0);
            graph.stamp = 1;
        }
        let mut repeated = false;
        for literal in graph.flat.iter().filter_map(|place| place.as_literal()) {
            let predicate = &graph.predicates[literal / 2];
            // An `or` is decided only by `is null` and `is not null`.
            if kind == GateKind::And || predicate.op == Op::IsNull {
                let seen = &mut graph.seen[self.schema.base(predicate.attr) as usize];
                repeated |= *seen == graph.stamp;
                *seen = graph.stamp;
            }
        }
        repeated && (kind == GateKind::Or || self.contradicts())
    }

    /// Whether the literals in `flat` on some attribute cannot be true together.
    fn contradicts(&mut self) -> bool {
        let Graph {
            predicates,
            flat,
            grouped,
            ..
        } = &mut *self.graph;
        grouped.clear();
        let literals = flat.iter().filter_map(|place| place.as_literal());
        let base = |literal: usize| self.schema.base(predicates[literal / 2].attr);
        grouped.extend(literals.map(|literal| (base(literal), literal)));
        grouped.sort_unstable();
        for group in grouped.chunk_by(|a, b| a.0 == b.0) {
            if group.len() < 2 {
                continue;
            }
            // The two signs of a predicate are neighbours.
            if group.windows(2).any(|pair| pair[0].1 / 2 == pair[1].1 / 2) {
                return true;
            }
            let literals = group.iter().map(|(_, literal)| {
                let mut view = predicates[literal / 2].get(&self.tree.values, self.text);
                view.positive = literal % 2 == 0;
                view
            });
            if contradict(literals, self.schema) {
                return true;
            }
        }
        false
    }
}

impl Graph {
    /// The place of the gate over `flat`.
    fn place_of_gate(&mut self, kind: GateKind) -> Place {
        let mut hasher = FxHasher::default();
        hasher.write_u32(kind as u32);
        self.flat.iter().for_each(|place| hasher.write_u32(place.0));
        let next = self.gates.len() as u32;
        let gate = self
            .gate_table
            .find_or_insert(hasher.finish(), next, |other| {
                let other = &self.gates[other as usize];
                other.kind == kind && other.children.of(&self.children) == self.flat
            });
        if gate == next {
            if self.children.len() + self.flat.len() > MAX_CHILDREN {
                self.too_large = true;
                return Place::FALSE;
            }
            let first = self.children.len();
            self.children.extend_from_slice(&self.flat);
            let children = Span::new(first, self.children.len());
            self.gates.push(Gate { kind, children });
        }
        Place(Place::GATE | gate)
    }
}
