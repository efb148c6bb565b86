//! The zero suppression filter (section 9.3.3): no `not`, `xor` or `xnor` is left, so that false
//! need not be propagated.
//!
//! ```text
//!   not (E1 and E2) = not E1 or not E2       E1 xor E2 = (E1 and not E2) or (not E1 and E2)
//!   not (age > 60)  = age <= 60              E1 xnor E2 = (E1 and E2) or (not E1 and not E2)
//! ```
//!
//! A node is true or not. That an expression is *false* is the truth of its negation, another node.
//! A chain of `xor` is built from the left, each step with its negation, so it stays linear.

use super::{ATree, Kind, Literal};
use crate::tree::Tree;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Built {
    Node(u32),
    True,
    False,
}

impl ATree {
    /// Why an expression does not fit.
    pub(super) fn refuse(&mut self, tree: &Tree) -> Result<(), String> {
        match tree {
            Tree::Constant(_) => Ok(()),
            Tree::Not(child) => self.refuse(child),
            Tree::Predicate(predicate) => {
                Literal::new(predicate, &self.schema, &mut self.names, false).map(|_| ())
            }
            Tree::Xor(children, _) if children.is_empty() => Err("a node without children".into()),
            Tree::And(children) | Tree::Or(children) | Tree::Xor(children, _) => {
                children.iter().try_for_each(|child| self.refuse(child))
            }
        }
    }

    /// The node that is true when the tree, which fits, is true (or false, if not `sign`), used
    /// once.
    pub(super) fn build(&mut self, tree: &Tree, sign: bool) -> Built {
        match tree {
            Tree::Constant(value) if *value == sign => Built::True,
            Tree::Constant(_) => Built::False,
            Tree::Not(child) => self.build(child, !sign),
            Tree::Predicate(predicate) => {
                let literal = Literal::new(predicate, &self.schema, &mut self.names, !sign);
                Built::Node(self.leaf(literal.expect("it fits")))
            }
            Tree::And(_) | Tree::Or(_) => {
                let kind = kind_of(tree, sign);
                let mut parts = Vec::new();
                self.gather(tree, sign, kind, &mut parts);
                self.join(kind, parts)
            }
            Tree::Xor(children, inverted) => self.parity(children, sign != *inverted),
        }
    }

    /// The parts of a gate; gates of the same kind within it are flattened.
    fn gather(&mut self, tree: &Tree, sign: bool, kind: Kind, parts: &mut Vec<Built>) {
        match tree {
            Tree::Not(child) => self.gather(child, !sign, kind, parts),
            Tree::And(children) | Tree::Or(children) if kind_of(tree, sign) == kind => {
                for child in children {
                    self.gather(child, sign, kind, parts);
                }
            }
            _ => parts.push(self.build(tree, sign)),
        }
    }

    fn drop_all(&mut self, parts: Vec<Built>) {
        for part in parts {
            if let Built::Node(node) = part {
                self.release(node);
            }
        }
    }

    /// A gate over parts, which passes on their uses.
    fn join(&mut self, kind: Kind, parts: Vec<Built>) -> Built {
        let (neutral, deciding) = match kind {
            Kind::And => (Built::True, Built::False),
            _ => (Built::False, Built::True),
        };
        if parts.contains(&deciding) {
            self.drop_all(parts);
            return deciding;
        }
        let nodes = parts.into_iter().filter_map(|part| match part {
            Built::Node(node) => Some(node),
            _ => None,
        });
        let nodes: Vec<u32> = nodes.collect();
        if nodes.is_empty() {
            return neutral;
        }
        Built::Node(self.gate(kind, nodes))
    }

    /// Whether an odd number of the children is true and all are known; or an even one.
    fn parity(&mut self, children: &[Tree], odd: bool) -> Built {
        let mut now = [true, false].map(|sign| self.build(&children[0], sign));
        let rest = &children[1..];
        for (place, child) in rest.iter().enumerate() {
            let next = [true, false].map(|sign| self.build(child, sign));
            let last = place + 1 == rest.len();
            let mut both = [Built::False; 2];
            for (sign, made) in both.iter_mut().enumerate() {
                if last && (sign == 0) != odd {
                    continue;
                }
                // Odd: one of the two. Even: both or neither.
                let pairs = [(now[0], next[1 - sign]), (now[1], next[sign])];
                let ands = pairs.map(|(one, other)| {
                    self.keep(one);
                    self.keep(other);
                    self.join(Kind::And, vec![one, other])
                });
                *made = self.join(Kind::Or, ands.to_vec());
            }
            self.drop_all(now.into_iter().chain(next).collect());
            now = both;
        }
        let [yes, no] = now;
        let (wanted, other) = if odd { (yes, no) } else { (no, yes) };
        self.drop_all(vec![other]);
        wanted
    }

    fn keep(&mut self, part: Built) {
        if let Built::Node(node) = part {
            self.nodes[node].uses += 1;
        }
    }
}

fn kind_of(tree: &Tree, sign: bool) -> Kind {
    match (tree, sign) {
        (Tree::And(_), true) | (Tree::Or(_), false) => Kind::And,
        _ => Kind::Or,
    }
}
