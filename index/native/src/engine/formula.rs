//! An expression on its way into the index: its normal form with packed literals, and its program.
//!
//! ```text
//!   nodes   literal words and gates over earlier nodes, the root last      (a shared graph)
//!   code    AND 5 │ a │ OR 2 │ b │ c │ d                                   (a tree in one run)
//! ```
//!
//! The code of a tree is in prefix form: a gate says how many words it spans, so an evaluation
//! skips what is decided. Where sharing would make the tree much larger than the graph (long
//! chains of `xor`), the code is the graph itself, and all of it is evaluated, bottom-up.

use super::check::{AND, Check, OR, holds, payload_of};
use super::event::Event;
use super::long_literals::LongLiterals;

/// A node of an expression: a literal, or a gate over `children[start..end]`.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    Literal(Check),
    And(u32, u32),
    Or(u32, u32),
}

/// An expression as a graph, children before parents, the root last. Reused between inserts.
#[derive(Default, Debug)]
pub struct Formula {
    pub nodes: Vec<Node>,
    pub children: Vec<u32>,
}

/// How the code of a program is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Literals that must all be true.
    Conjunction = 0,
    /// A tree in prefix form.
    Tree = 1,
    /// A graph, bottom-up.
    Graph = 2,
}

impl Kind {
    /// The kind of a number that `as` made.
    pub fn from_number(number: u64) -> Kind {
        match number {
            0 => Kind::Conjunction,
            1 => Kind::Tree,
            _ => Kind::Graph,
        }
    }
}

/// The operation of a word as it stands, which tells gates from literals.
#[inline(always)]
fn op_bits(word: u64) -> u64 {
    word & 15
}

const GATE_SHIFT: u32 = 20;
/// A tree may be so many times larger than its graph, or have so many words.
const MAX_EXPANSION: usize = 4;
const SMALL_TREE: usize = 64;

fn gate(op: u64, payload: usize) -> u64 {
    op | ((payload as u64) << GATE_SHIFT)
}

impl Formula {
    /// Empty it.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.children.clear();
    }

    /// The children of a node, none for a literal.
    pub fn children_of(&self, node: usize) -> &[u32] {
        match self.nodes[node] {
            Node::Literal(_) => &[],
            Node::And(start, end) | Node::Or(start, end) => {
                &self.children[start as usize..end as usize]
            }
        }
    }

    /// Whether it is a literal, or an `and` of literals only.
    pub fn is_conjunction(&self) -> bool {
        let Some((root, rest)) = self.nodes.split_last() else {
            return false;
        };
        match root {
            Node::Literal(_) => true,
            Node::And(..) => rest.iter().all(|node| matches!(node, Node::Literal(_))),
            Node::Or(..) => false,
        }
    }

    /// How the program of this expression will be laid out.
    pub fn kind(&self) -> Kind {
        if self.is_conjunction() {
            return Kind::Conjunction;
        }
        let mut words: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let below: usize = self
                .children_of(node)
                .iter()
                .map(|&c| words[c as usize])
                .sum();
            words.push(below.saturating_add(1).min(1 << 30));
        }
        let tree = words.last().copied().unwrap_or(0);
        let graph = self.nodes.len();
        if tree <= SMALL_TREE.max(MAX_EXPANSION * graph) && self.height() <= 200 {
            Kind::Tree
        } else {
            Kind::Graph
        }
    }

    fn height(&self) -> usize {
        let mut heights: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let below = self
                .children_of(node)
                .iter()
                .map(|&c| heights[c as usize])
                .max();
            heights.push(below.map_or(0, |h| h + 1));
        }
        heights.last().copied().unwrap_or(0)
    }

    /// A hash of the structure, whatever the order of children.
    pub fn hash(&self) -> u64 {
        let mut hashes: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let below = self
                .children_of(node)
                .iter()
                .fold(0u64, |sum, &c| sum.wrapping_add(hashes[c as usize]));
            hashes.push(match self.nodes[node] {
                Node::Literal(check) => mix(check),
                Node::And(..) => mix(below ^ AND),
                Node::Or(..) => mix(below ^ OR),
            });
        }
        hashes.last().copied().unwrap_or(0)
    }

    /// The code in prefix form, the children of each gate in the order that `rank` gives.
    pub fn write_tree(&self, order: &dyn Fn(usize, &mut Vec<u32>), code: &mut Vec<u64>) {
        self.write_node(self.nodes.len() - 1, order, code);
    }

    fn write_node(&self, node: usize, order: &dyn Fn(usize, &mut Vec<u32>), code: &mut Vec<u64>) {
        let op = match self.nodes[node] {
            Node::Literal(check) => {
                code.push(check);
                return;
            }
            Node::And(..) => AND,
            Node::Or(..) => OR,
        };
        let at = code.len();
        code.push(0);
        let mut children = self.children_of(node).to_vec();
        order(node, &mut children);
        for child in children {
            self.write_node(child as usize, order, code);
        }
        code[at] = gate(op, code.len() - at - 1);
    }

    /// The code of a graph: the number of nodes, then each node, gates with their children behind.
    pub fn write_graph(&self, code: &mut Vec<u64>) {
        code.push(self.nodes.len() as u64);
        for node in 0..self.nodes.len() {
            let op = match self.nodes[node] {
                Node::Literal(check) => {
                    code.push(check);
                    continue;
                }
                Node::And(..) => AND,
                Node::Or(..) => OR,
            };
            let children = self.children_of(node);
            code.push(gate(op, children.len()));
            code.extend(children.iter().map(|&c| u64::from(c)));
        }
    }

    /// Read the expression back from a program's code.
    pub fn read(&mut self, kind: Kind, code: &[u64]) {
        self.clear();
        match kind {
            Kind::Conjunction => {
                self.nodes
                    .extend(code.iter().map(|&check| Node::Literal(check)));
                if code.len() > 1 {
                    self.children.extend(0..code.len() as u32);
                    self.nodes.push(Node::And(0, code.len() as u32));
                }
            }
            Kind::Tree => {
                self.read_node(code, 0);
            }
            Kind::Graph => self.read_graph(code),
        }
    }

    fn read_node(&mut self, code: &[u64], at: usize) -> u32 {
        let word = code[at];
        let op = op_bits(word);
        if op != AND && op != OR {
            self.nodes.push(Node::Literal(word));
            return self.nodes.len() as u32 - 1;
        }
        let end = at + 1 + payload_of(word) as usize;
        let mut below = Vec::new();
        let mut child = at + 1;
        while child < end {
            below.push(self.read_node(code, child));
            child += size_at(code, child);
        }
        let start = self.children.len() as u32;
        self.children.extend(below);
        let end = self.children.len() as u32;
        self.nodes.push(if op == AND {
            Node::And(start, end)
        } else {
            Node::Or(start, end)
        });
        self.nodes.len() as u32 - 1
    }

    fn read_graph(&mut self, code: &[u64]) {
        let mut at = 1;
        while at < code.len() {
            let word = code[at];
            at += 1;
            let op = op_bits(word);
            if op != AND && op != OR {
                self.nodes.push(Node::Literal(word));
                continue;
            }
            let count = payload_of(word) as usize;
            let start = self.children.len() as u32;
            self.children
                .extend(code[at..at + count].iter().map(|&c| c as u32));
            at += count;
            let end = self.children.len() as u32;
            self.nodes.push(if op == AND {
                Node::And(start, end)
            } else {
                Node::Or(start, end)
            });
        }
    }

    /// The structure in one canonical run of words: equal exactly for equal expressions of a kind.
    pub fn canonical(&self, kind: Kind) -> Vec<u64> {
        if kind == Kind::Graph {
            let mut code = Vec::new();
            self.write_graph(&mut code);
            return code;
        }
        self.canonical_node(self.nodes.len() - 1)
    }

    fn canonical_node(&self, node: usize) -> Vec<u64> {
        let op = match self.nodes[node] {
            Node::Literal(check) => return vec![check],
            Node::And(..) => AND,
            Node::Or(..) => OR,
        };
        let mut children: Vec<Vec<u64>> = self
            .children_of(node)
            .iter()
            .map(|&child| self.canonical_node(child as usize))
            .collect();
        children.sort_unstable();
        let mut code = vec![gate(op, children.iter().map(Vec::len).sum())];
        code.extend(children.concat());
        code
    }
}

/// Scramble 64 bits.
pub fn mix(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// How many words the node at a place of a tree's code spans.
#[inline(always)]
fn size_at(code: &[u64], at: usize) -> usize {
    let op = op_bits(code[at]);
    if op == AND || op == OR {
        1 + payload_of(code[at]) as usize
    } else {
        1
    }
}

/// Whether an event makes a program's code true; `len` words of a conjunction are looked at.
#[inline]
pub fn is_true(
    kind: Kind,
    code: &[u64],
    len: usize,
    event: &Event,
    long: &LongLiterals,
    truth: &mut Vec<bool>,
) -> bool {
    match kind {
        Kind::Conjunction => code[..len].iter().all(|&check| holds(check, event, long)),
        Kind::Tree => tree_is_true(code, event, long),
        Kind::Graph => graph_is_true(code, event, long, truth),
    }
}

fn tree_is_true(code: &[u64], event: &Event, long: &LongLiterals) -> bool {
    let word = code[0];
    let op = op_bits(word);
    if op != AND && op != OR {
        return holds(word, event, long);
    }
    let decisive = op == OR;
    let mut rest = &code[1..];
    while let Some(&first) = rest.first() {
        let inner = op_bits(first);
        let (value, size) = if inner == AND || inner == OR {
            let size = 1 + payload_of(first) as usize;
            (tree_is_true(&rest[..size], event, long), size)
        } else {
            (holds(first, event, long), 1)
        };
        if value == decisive {
            return decisive;
        }
        rest = &rest[size..];
    }
    !decisive
}

fn graph_is_true(code: &[u64], event: &Event, long: &LongLiterals, truth: &mut Vec<bool>) -> bool {
    truth.clear();
    let mut at = 1;
    while at < code.len() {
        let word = code[at];
        at += 1;
        let op = op_bits(word);
        if op != AND && op != OR {
            truth.push(holds(word, event, long));
            continue;
        }
        let children = &code[at..at + payload_of(word) as usize];
        at += children.len();
        truth.push(if op == AND {
            children.iter().all(|&c| truth[c as usize])
        } else {
            children.iter().any(|&c| truth[c as usize])
        });
    }
    truth.last().copied().unwrap_or(false)
}

/// The literals of a program's code, each occurrence.
pub fn literals(kind: Kind, code: &[u64], mut each: impl FnMut(Check)) {
    let mut at = usize::from(kind == Kind::Graph);
    while at < code.len() {
        let word = code[at];
        at += 1;
        match op_bits(word) {
            AND | OR if kind == Kind::Graph => at += payload_of(word) as usize,
            AND | OR => {}
            _ => each(word),
        }
    }
}
