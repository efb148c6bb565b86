//! An expression on its way into the index: its normal form with packed literals, and its program.
//!
//! ```text
//!   nodes   literals and gates over earlier nodes, the root last           (a shared graph)
//!   code    AND 5 │ a │ OR 2 │ b │ c │ d                                   (a tree in one run)
//!
//!   a word of code, 32 bits     the number of a literal (`literal_ids.rs`)
//!                               1 │ 1 │ OR? │ payload (29)    a gate
//! ```
//!
//! The code of a tree is in prefix form: a gate says how many words it spans, so an evaluation
//! skips what is decided. Where sharing would make the tree much larger than the graph (long
//! chains of `xor`), the code is the graph itself, and all of it is evaluated, bottom-up.

mod snapshot;

pub use snapshot::is_well_formed;

use crate::engine::expression::literal_ids::{LiteralId, OPEN};
use crate::engine::expression::literal_word::LiteralWord;
use crate::engine::expression::long_literals::LongLiterals;
use crate::engine::matching::event::Event;
use smallvec::SmallVec;

/// A word of code.
pub type CodeWord = u32;

const GATE: CodeWord = OPEN | 1 << 30;
const AND: CodeWord = GATE;
const OR: CodeWord = GATE | 1 << 29;
const PAYLOAD: CodeWord = !OR;

/// A node of an expression: a literal with its number, or a gate over `children[start..end]`.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    Literal(LiteralWord, LiteralId),
    And(u32, u32),
    Or(u32, u32),
}

impl Node {
    /// The operation of a gate; the number of a literal as the error.
    fn gate(self) -> Result<CodeWord, LiteralId> {
        match self {
            Node::Literal(_, id) => Err(id),
            Node::And(..) => Ok(AND),
            Node::Or(..) => Ok(OR),
        }
    }
}

/// An expression as a graph, children before parents, the root last. Reused between inserts.
#[derive(Default, Debug)]
pub struct Formula {
    pub nodes: Vec<Node>,
    pub children: Vec<u32>,
}

type Children = SmallVec<[u32; 8]>;

/// The format of a program's code.
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
    /// The kind with this number.
    pub fn from_number(number: u64) -> Kind {
        match number {
            0 => Kind::Conjunction,
            1 => Kind::Tree,
            _ => Kind::Graph,
        }
    }
}

/// The operation of a gate.
#[inline(always)]
fn op_of(word: CodeWord) -> CodeWord {
    word & !PAYLOAD
}

#[inline(always)]
fn is_gate(word: CodeWord) -> bool {
    word >= GATE
}

/// A tree may be this many times larger than its graph, or have `SMALL_TREE` words.
const MAX_EXPANSION: usize = 4;
const SMALL_TREE: usize = 64;
/// The maximum height of a tree, whose evaluation is recursive.
const HIGHEST_TREE: usize = 200;
/// Most expressions have no more nodes.
const USUAL: usize = 32;

/// The canonical form of an expression: see `Formula::canonical`.
pub type Canonical = SmallVec<[CodeWord; USUAL]>;

fn gate(op: CodeWord, payload: usize) -> CodeWord {
    debug_assert!(payload <= PAYLOAD as usize);
    op | payload as CodeWord
}

impl Formula {
    /// Clear it.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.children.clear();
    }

    /// The children of a node, none for a literal.
    pub fn children_of(&self, node: usize) -> &[u32] {
        match self.nodes[node] {
            Node::Literal(..) => &[],
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
            Node::Literal(..) => true,
            Node::And(..) => rest.iter().all(|node| matches!(node, Node::Literal(..))),
            Node::Or(..) => false,
        }
    }

    /// How the program of this expression will be laid out.
    pub fn kind(&self) -> Kind {
        if self.is_conjunction() {
            return Kind::Conjunction;
        }
        // For each node: the words of its tree, and its height.
        let mut sizes: SmallVec<[(usize, usize); USUAL]> = SmallVec::new();
        for node in 0..self.nodes.len() {
            let (mut words, mut height) = (1usize, 0);
            for &child in self.children_of(node) {
                let (below, lower) = sizes[child as usize];
                words = words.saturating_add(below).min(1 << 30);
                height = height.max(lower + 1);
            }
            sizes.push((words, height));
        }
        let (words, height) = sizes.last().copied().unwrap_or((0, 0));
        let graph = self.nodes.len();
        if words <= SMALL_TREE.max(MAX_EXPANSION * graph) && height <= HIGHEST_TREE {
            Kind::Tree
        } else {
            Kind::Graph
        }
    }

    /// A hash of the structure that does not depend on the order of children.
    pub fn hash(&self) -> u64 {
        let mut hashes: SmallVec<[u64; USUAL]> = SmallVec::new();
        for node in 0..self.nodes.len() {
            let below = self
                .children_of(node)
                .iter()
                .fold(0u64, |sum, &c| sum.wrapping_add(hashes[c as usize]));
            hashes.push(match self.nodes[node].gate() {
                Ok(op) => mix(below ^ u64::from(op)),
                Err(id) => mix(u64::from(id)),
            });
        }
        hashes.last().copied().unwrap_or(0)
    }

    /// The code in prefix form, the children of each gate as `order` sorts them.
    pub fn write_tree(&self, order: &dyn Fn(usize, &mut [u32]), code: &mut Vec<CodeWord>) {
        self.write_node(self.nodes.len() - 1, order, code);
    }

    fn write_node(&self, node: usize, order: &dyn Fn(usize, &mut [u32]), code: &mut Vec<CodeWord>) {
        let op = match self.nodes[node].gate() {
            Ok(op) => op,
            Err(id) => return code.push(id),
        };
        let at = code.len();
        code.push(0);
        let mut children: Children = SmallVec::from_slice(self.children_of(node));
        order(node, &mut children);
        for child in children {
            self.write_node(child as usize, order, code);
        }
        code[at] = gate(op, code.len() - at - 1);
    }

    /// The code of a graph: the number of nodes, then each node, gates with their children behind.
    pub fn write_graph(&self, code: &mut Vec<CodeWord>) {
        code.push(self.nodes.len() as CodeWord);
        for node in 0..self.nodes.len() {
            let children = self.children_of(node);
            match self.nodes[node].gate() {
                Ok(op) => code.push(gate(op, children.len())),
                Err(id) => code.push(id),
            }
            code.extend_from_slice(children);
        }
    }

    /// Read the expression back from a program's code; `word` of a literal.
    pub fn read(&mut self, kind: Kind, code: &[CodeWord], word: impl Fn(LiteralId) -> LiteralWord) {
        self.clear();
        match kind {
            Kind::Conjunction => {
                for &id in code {
                    self.nodes.push(Node::Literal(word(id), id));
                }
                if code.len() > 1 {
                    self.children.extend(0..code.len() as u32);
                    self.nodes.push(Node::And(0, code.len() as u32));
                }
            }
            Kind::Tree => {
                self.read_node(code, &word);
            }
            Kind::Graph => self.read_graph(code, &word),
        }
    }

    /// Read the node at the start of `code`. Returns its number.
    fn read_node(&mut self, code: &[CodeWord], word: &impl Fn(LiteralId) -> LiteralWord) -> u32 {
        let mut below = Children::new();
        let mut rest = &code[1..size(code[0])];
        while let Some(&first) = rest.first() {
            below.push(self.read_node(rest, word));
            rest = &rest[size(first)..];
        }
        self.push(code[0], below, word);
        self.nodes.len() as u32 - 1
    }

    /// Append a node from its word in a code, over these children.
    fn push(
        &mut self,
        code: CodeWord,
        children: impl IntoIterator<Item = u32>,
        word: &impl Fn(LiteralId) -> LiteralWord,
    ) {
        let start = self.children.len() as u32;
        self.children.extend(children);
        let end = self.children.len() as u32;
        self.nodes.push(match is_gate(code) {
            true if op_of(code) == AND => Node::And(start, end),
            true => Node::Or(start, end),
            false => Node::Literal(word(code), code),
        });
    }

    fn read_graph(&mut self, code: &[CodeWord], word: &impl Fn(LiteralId) -> LiteralWord) {
        let mut at = 1;
        while at < code.len() {
            let first = code[at];
            at += 1;
            let children = &code[at..at + size(first) - 1];
            at += children.len();
            self.push(first, children.iter().copied(), word);
        }
    }

    /// The structure as canonical words, which are equal exactly for equal expressions of a kind.
    pub fn canonical(&self, kind: Kind) -> Canonical {
        let mut code = Canonical::new();
        match kind {
            Kind::Graph => {
                let mut graph = Vec::new();
                self.write_graph(&mut graph);
                code.extend(graph);
            }
            Kind::Conjunction => {
                let literals = self.nodes.iter().filter_map(|node| match node {
                    Node::Literal(_, id) => Some(*id),
                    _ => None,
                });
                code.extend(literals);
                code.sort_unstable();
            }
            Kind::Tree => self.write_canonical(self.nodes.len() - 1, &mut code),
        }
        code
    }

    fn write_canonical(&self, node: usize, code: &mut Canonical) {
        let op = match self.nodes[node].gate() {
            Ok(op) => op,
            Err(id) => return code.push(id),
        };
        // Literals sort as numbers. Gates are few: they are written separately, sorted and appended.
        let at = code.len();
        code.push(0);
        let mut gates: SmallVec<[Canonical; 2]> = SmallVec::new();
        for &child in self.children_of(node) {
            match self.nodes[child as usize] {
                Node::Literal(_, id) => code.push(id),
                _ => {
                    let mut gate = Canonical::new();
                    self.write_canonical(child as usize, &mut gate);
                    gates.push(gate);
                }
            }
        }
        code[at + 1..].sort_unstable();
        gates.sort_unstable();
        for gate in gates {
            code.extend_from_slice(&gate);
        }
        code[at] = gate(op, code.len() - at - 1);
    }
}

/// The canonical form of a conjunction, from its code.
pub fn canonical_conjunction(code: &[CodeWord]) -> Canonical {
    let mut words = Canonical::from_slice(code);
    words.sort_unstable();
    words
}

/// The hash of a program's code, equal to `Formula::hash` of its expression.
pub fn hash_code(kind: Kind, code: &[CodeWord]) -> u64 {
    match kind {
        Kind::Conjunction if code.len() != 1 => {
            let add = |sum: u64, &id: &LiteralId| sum.wrapping_add(mix(u64::from(id)));
            mix(code.iter().fold(0, add) ^ u64::from(AND))
        }
        Kind::Conjunction | Kind::Tree => hash_node(code),
        Kind::Graph => {
            let mut formula = Formula::default();
            formula.read(kind, code, u64::from);
            formula.hash()
        }
    }
}

fn hash_node(code: &[CodeWord]) -> u64 {
    if !is_gate(code[0]) {
        return mix(u64::from(code[0]));
    }
    let (mut rest, mut sum) = (&code[1..], 0u64);
    while let Some(&first) = rest.first() {
        let (child, after) = rest.split_at(size(first));
        sum = sum.wrapping_add(hash_node(child));
        rest = after;
    }
    mix(sum ^ u64::from(op_of(code[0])))
}

/// Scramble 64 bits.
pub fn mix(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The number of words of the node that starts with this word: a gate includes its children.
#[inline(always)]
fn size(word: CodeWord) -> usize {
    if is_gate(word) {
        1 + (word & PAYLOAD) as usize
    } else {
        1
    }
}

/// Whether an event makes a program's code true; only the first `len` words of a conjunction count.
#[inline]
pub fn is_true(
    kind: Kind,
    code: &[CodeWord],
    len: usize,
    event: &Event,
    long: &LongLiterals,
    truth: &mut Vec<bool>,
) -> bool {
    match kind {
        Kind::Conjunction => code[..len].iter().all(|&id| long.holds(id, event)),
        Kind::Tree => tree_is_true(code, event, long),
        Kind::Graph => graph_is_true(code, event, long, truth),
    }
}

fn tree_is_true(code: &[CodeWord], event: &Event, long: &LongLiterals) -> bool {
    if !is_gate(code[0]) {
        return long.holds(code[0], event);
    }
    let decisive = op_of(code[0]) == OR;
    let mut rest = &code[1..];
    while let Some(&first) = rest.first() {
        let (child, after) = rest.split_at(size(first));
        let value = if is_gate(first) {
            tree_is_true(child, event, long)
        } else {
            long.holds(first, event)
        };
        if value == decisive {
            return decisive;
        }
        rest = after;
    }
    !decisive
}

fn graph_is_true(
    code: &[CodeWord],
    event: &Event,
    long: &LongLiterals,
    truth: &mut Vec<bool>,
) -> bool {
    truth.clear();
    let mut at = 1;
    while at < code.len() {
        let word = code[at];
        at += 1;
        let children = &code[at..at + size(word) - 1];
        at += children.len();
        truth.push(match is_gate(word) {
            true if op_of(word) == AND => children.iter().all(|&c| truth[c as usize]),
            true => children.iter().any(|&c| truth[c as usize]),
            false => long.holds(word, event),
        });
    }
    truth.last().copied().unwrap_or(false)
}

/// The literals of a program's code, each occurrence.
pub fn literals(kind: Kind, code: &[CodeWord], mut each: impl FnMut(LiteralId)) {
    let mut at = usize::from(kind == Kind::Graph);
    while at < code.len() {
        let word = code[at];
        at += 1;
        if !is_gate(word) {
            each(word);
        } else if kind == Kind::Graph {
            at += size(word) - 1;
        }
    }
}
