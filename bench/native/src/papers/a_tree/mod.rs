//! The A-Tree (chapter 9 of the thesis): arbitrary expressions as one shared graph.
//!
//! ```text
//!   level 3         S1 and            S2 and         S1 = (a or b or c) and d and (e or f)
//!                  /  |   \           /     \        S2 = (e or f) and (g or h)
//!   level 2      or   |     `--- or -'       or
//!               / | \ |         /  \        /  \
//!   level 1    a  b  c d       e    f      g    h     13 nodes and 12 edges: it costs 25
//! ```
//!
//! | section of the thesis | file |
//! |---|---|
//! | 9.2.1 uniqueness (algorithm 19), insertion (22), deletion (23) | `mod.rs` |
//! | 9.2.2 reorganisation (20), 9.2.3 self-adjustment (21), levels | `shape.rs` |
//! | 9.3.1 matching (24), 9.3.3 propagation on demand | `search.rs` |
//! | 9.3.3 zero suppression | `negation.rs` |
//!
//! A node has *members*, the parts of its flattened expression, which it is known by and which it
//! keeps alive; and *children*, the nodes that it is built over after reorganisation, which
//! together have all its members. A node that goes hands its children to those that were built over
//! it. Reorganisation and self-adjustment look at no more than 256 parents of a node: a predicate
//! that half of the expressions use has as many parents.

mod negation;
mod search;
mod shape;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use _native::language::Schema;

use super::engine::Engine;
use super::literal::{Event, Literal};
use super::pool::Pool;
use super::predicates::Predicates;
use super::pst::Selectivity;
use super::store::{Ids, Literals};
use crate::flat::Names;
use crate::tree;
use negation::Built;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Leaf,
    And,
    Or,
}

struct Node {
    kind: Kind,
    /// Ascending nodes; of a leaf the number of its literal.
    members: Box<[u32]>,
    children: Vec<u32>,
    /// All nodes that have it as a child.
    parents: Vec<u32>,
    /// Those that its truth is propagated to: each `or`, and each `and` whose access child it is.
    entered: Vec<u32>,
    /// The access child of an `and`.
    access: u32,
    level: u32,
    /// Expressions and members of other nodes.
    uses: u32,
    /// The expressions that it is.
    slots: Vec<u32>,
    /// How often it is true, about.
    rank: f32,
}

/// What an expression is: a node, or a constant.
type Root = Built;

pub struct ATree {
    schema: Schema,
    names: Names,
    literals: Literals,
    predicates: Predicates,
    selectivity: Selectivity,
    nodes: Pool<Node>,
    /// The expression-to-node table of 9.2.1.
    table: FxHashMap<(Kind, Box<[u32]>), u32>,
    ids: Ids,
    roots: Vec<Root>,
    always: Vec<u32>,
    search: search::State,
    /// The node of each literal.
    leaf_of: Vec<u32>,
}

impl ATree {
    pub fn new(schema: Schema) -> Self {
        ATree {
            schema,
            names: Names::default(),
            literals: Literals::default(),
            predicates: Predicates::default(),
            selectivity: Selectivity::default(),
            nodes: Pool::default(),
            table: FxHashMap::default(),
            ids: Ids::default(),
            roots: Vec::new(),
            always: Vec::new(),
            search: search::State::default(),
            leaf_of: Vec::new(),
        }
    }

    /// The node of a literal, used once more.
    fn leaf(&mut self, literal: Literal) -> u32 {
        let number = self.literals.take(literal);
        let key = (Kind::Leaf, Box::from([number]));
        if let Some(&node) = self.table.get(&key) {
            self.literals.release(number);
            self.nodes[node].uses += 1;
            return node;
        }
        let literal = self.literals.get(number);
        self.predicates.add(number, literal);
        self.selectivity.add(number, literal);
        let rank = self.selectivity.of(number);
        let node = self.new_node(key, rank);
        let bound = self.literals.bound();
        self.leaf_of.resize(bound, NONE);
        self.leaf_of[number as usize] = node;
        node
    }

    /// Algorithm 22: the gate over nodes, each used once by the caller, which that use passes to
    /// the gate. Used once more.
    fn gate(&mut self, kind: Kind, mut members: Vec<u32>) -> u32 {
        members.sort_unstable();
        for pair in (1..members.len()).rev() {
            if members[pair] == members[pair - 1] {
                self.release(members.remove(pair));
            }
        }
        if let [one] = members[..] {
            return one;
        }
        let key = (kind, members.into_boxed_slice());
        if let Some(&node) = self.table.get(&key) {
            self.nodes[node].uses += 1;
            for &member in &key.1 {
                self.release(member);
            }
            return node;
        }
        let ranks = key.1.iter().map(|&member| self.nodes[member].rank);
        let rank = match kind {
            Kind::Or => ranks.sum::<f32>().min(1.0),
            _ => ranks.product(),
        };
        let node = self.new_node(key, rank);
        self.reorganise(node);
        self.adjust(node);
        node
    }

    fn new_node(&mut self, key: (Kind, Box<[u32]>), rank: f32) -> u32 {
        let node = self.nodes.add(Node {
            kind: key.0,
            members: key.1.clone(),
            children: Vec::new(),
            parents: Vec::new(),
            entered: Vec::new(),
            access: NONE,
            level: 1,
            uses: 1,
            slots: Vec::new(),
            rank,
        });
        self.table.insert(key, node);
        node
    }

    /// Algorithm 23: one use less.
    fn release(&mut self, node: u32) {
        self.nodes[node].uses -= 1;
        if self.nodes[node].uses > 0 {
            return;
        }
        self.depart(node);
        let members = std::mem::take(&mut self.nodes[node].members);
        let kind = self.nodes[node].kind;
        self.nodes.free(node);
        if kind == Kind::Leaf {
            let number = members[0];
            self.predicates.remove(number, self.literals.get(number));
            self.literals.release(number);
        } else {
            members.iter().for_each(|&member| self.release(member));
        }
        self.table.remove(&(kind, members));
    }
}

impl Engine for ATree {
    fn learn(&mut self, events: &[String]) -> Result<(), String> {
        for event in events {
            Event::number(event, &self.schema, &mut self.names)?;
        }
        let events: Result<Vec<Event>, String> = events.iter().map(|e| self.event(e)).collect();
        self.selectivity.learn(&events?);
        Ok(())
    }

    fn insert(&mut self, id: u64, text: &str) -> Result<(), String> {
        let tree = tree::read(text, &self.schema)?;
        self.refuse(&tree)?;
        let root = self.build(&tree, true);
        self.remove(id);
        let slot = self.ids.take(id);
        self.roots
            .resize(self.roots.len().max(slot as usize + 1), Built::False);
        self.roots[slot as usize] = root;
        match root {
            Built::Node(node) => self.nodes[node].slots.push(slot),
            Built::True => self.always.push(slot),
            Built::False => {}
        }
        Ok(())
    }

    fn remove(&mut self, id: u64) -> bool {
        let Some(slot) = self.ids.slot(id) else {
            return false;
        };
        match std::mem::replace(&mut self.roots[slot as usize], Built::False) {
            Built::Node(node) => {
                self.nodes[node].slots.retain(|&other| other != slot);
                self.release(node);
            }
            _ => self.always.retain(|&other| other != slot),
        }
        self.ids.release(slot);
        true
    }

    fn maintain(&mut self, _: &[String]) -> Result<(), String> {
        Ok(())
    }

    fn event(&self, text: &str) -> Result<Event, String> {
        Event::read(text, &self.schema, &self.names)
    }

    fn search(&mut self, event: &Event, found: &mut Vec<u64>) {
        self.find(event, found);
    }

    fn check_invariants(&self) {
        self.check();
    }

    fn check_empty(&self) {
        assert_eq!(
            (self.nodes.len(), self.table.len(), self.ids.count()),
            (0, 0, 0)
        );
        assert!(self.literals.is_empty() && self.predicates.is_empty());
        assert!(self.always.is_empty());
    }
}
