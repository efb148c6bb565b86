//! How nodes are built over each other: reorganisation, self-adjustment, levels, access children.
//!
//! ```text
//!   (and abcd) over what is there:      (and abcd)            algorithm 20: greedy set cover
//!                                        /      \
//!                                   (and abc)    d
//!   (and ab) arrives:               (and ab)  c               algorithm 21: those that contain it
//!                                                             use it
//! ```

use super::{ATree, Kind, NONE};

/// Most parents of a node that are looked at.
const MOST_PARENTS: usize = 256;

impl ATree {
    /// Algorithm 20: cover the members by existing nodes of the same kind. A piece must cover two
    /// members or more that are not covered yet.
    pub(super) fn reorganise(&mut self, node: u32) {
        let kind = self.nodes[node].kind;
        let mut left = self.nodes[node].members.to_vec();
        let mut pieces: Vec<u32> = Vec::new();
        for &member in &left {
            for &parent in self.nodes[member].parents.iter().take(MOST_PARENTS) {
                let held = &self.nodes[parent];
                if held.kind == kind
                    && parent != node
                    && !pieces.contains(&parent)
                    && within(&held.members, &left)
                {
                    pieces.push(parent);
                }
            }
        }
        let mut chosen = Vec::new();
        loop {
            let gain = |&piece: &u32| {
                let members = &self.nodes[piece].members;
                members.iter().filter(|m| left.contains(m)).count()
            };
            let best = pieces
                .iter()
                .copied()
                .max_by_key(|p| (gain(p), std::cmp::Reverse(*p)));
            let Some(best) = best.filter(|best| gain(best) > 1) else {
                break;
            };
            left.retain(|member| !self.nodes[best].members.contains(member));
            chosen.push(best);
        }
        chosen.extend(left);
        self.set_children(node, chosen);
    }

    /// Algorithm 21: nodes whose expression contains the new node's are built over it.
    pub(super) fn adjust(&mut self, new: u32) {
        let (kind, members) = (self.nodes[new].kind, self.nodes[new].members.clone());
        let rarest = members
            .iter()
            .copied()
            .min_by_key(|&m| self.nodes[m].parents.len());
        let parents = &self.nodes[rarest.expect("a gate has members")].parents;
        let wholes: Vec<u32> = parents
            .iter()
            .take(MOST_PARENTS)
            .copied()
            .filter(|&p| p != new && self.nodes[p].kind == kind)
            .filter(|&p| members.len() < self.nodes[p].members.len())
            .filter(|&p| within(&members, &self.nodes[p].members))
            .collect();
        for whole in wholes {
            let covered = |&child: &u32| {
                let held = &self.nodes[child];
                members.contains(&child) || held.kind == kind && within(&held.members, &members)
            };
            let children = &self.nodes[whole].children;
            let mut kept: Vec<u32> = children.iter().copied().filter(|c| !covered(c)).collect();
            if children.len() - kept.len() > 1 {
                kept.push(new);
                self.set_children(whole, kept);
            }
        }
    }

    /// Section 9.2.4: those that were built over a node take its children, and its own links go.
    pub(super) fn depart(&mut self, node: u32) {
        let children = self.nodes[node].children.clone();
        for parent in self.nodes[node].parents.clone() {
            let mut kept = self.nodes[parent].children.clone();
            kept.retain(|&child| child != node);
            kept.extend(
                children
                    .iter()
                    .filter(|child| !self.nodes[parent].children.contains(child)),
            );
            self.set_children(parent, kept);
        }
        self.set_children(node, Vec::new());
    }

    fn set_children(&mut self, node: u32, children: Vec<u32>) {
        let old = std::mem::take(&mut self.nodes[node].children);
        for &child in &old {
            drop_from(&mut self.nodes[child].parents, node);
            self.nodes[child].entered.retain(|&parent| parent != node);
        }
        for &child in &children {
            self.nodes[child].parents.push(node);
        }
        // Propagation on demand (9.3.3): an `and` is entered through one child.
        let rarest = children.iter().copied().min_by(|&one, &other| {
            let rank = |child: u32| self.nodes[child].rank;
            rank(one).total_cmp(&rank(other)).then(one.cmp(&other))
        });
        self.nodes[node].access = NONE;
        if self.nodes[node].kind == Kind::And {
            self.nodes[node].access = rarest.unwrap_or(NONE);
            rarest
                .into_iter()
                .for_each(|child| self.nodes[child].entered.push(node));
        } else {
            children
                .iter()
                .for_each(|&child| self.nodes[child].entered.push(node));
        }
        self.nodes[node].children = children;
        self.settle(node);
    }

    /// Levels at and above a node.
    fn settle(&mut self, node: u32) {
        let mut changed = vec![node];
        while let Some(node) = changed.pop() {
            let children = self.nodes[node].children.iter();
            let level = 1 + children
                .map(|&child| self.nodes[child].level)
                .max()
                .unwrap_or(0);
            if level != self.nodes[node].level {
                self.nodes[node].level = level;
                changed.extend(&self.nodes[node].parents);
            }
        }
    }

    /// The cost of section 9.1: nodes and edges.
    #[cfg(test)]
    pub fn cost(&self) -> usize {
        let children = self
            .table
            .values()
            .map(|&node| self.nodes[node].children.len());
        self.table.len() + children.sum::<usize>()
    }

    pub(super) fn check(&self) {
        assert_eq!(
            self.table.len(),
            self.nodes.len(),
            "one node for one meaning"
        );
        let mut uses = rustc_hash::FxHashMap::<u32, u32>::default();
        for (key, &node) in &self.table {
            let held = &self.nodes[node];
            assert_eq!((held.kind, &held.members), (key.0, &key.1));
            *uses.entry(node).or_default() += held.slots.len() as u32;
            if held.kind == Kind::Leaf {
                assert_eq!((held.level, held.children.len()), (1, 0));
                continue;
            }
            let mut covered = Vec::new();
            for &child in &held.children {
                let below = &self.nodes[child];
                let is_member = held.members.contains(&child);
                let flat: &[u32] = if is_member { &[child] } else { &below.members };
                assert!(is_member || below.kind == held.kind);
                covered.extend_from_slice(flat);
                assert!(below.parents.contains(&node));
                let entered = below.entered.contains(&node);
                assert_eq!(entered, held.kind == Kind::Or || held.access == child);
                assert!(below.level < held.level);
            }
            covered.sort_unstable();
            covered.dedup();
            assert_eq!(covered, *held.members, "children have all members");
            for &member in &held.members {
                *uses.entry(member).or_default() += 1;
            }
            let level = held.children.iter().map(|&c| self.nodes[c].level).max();
            assert_eq!(held.level, 1 + level.unwrap_or(0));
        }
        for &node in self.table.values() {
            assert_eq!(
                uses[&node], self.nodes[node].uses,
                "uses are expressions and members"
            );
            let parents = self.nodes[node].parents.iter();
            assert!(
                parents
                    .clone()
                    .all(|&p| self.nodes[p].children.contains(&node))
            );
        }
    }
}

/// Whether all of `part`, ascending, is in `whole`, ascending.
fn within(part: &[u32], whole: &[u32]) -> bool {
    part.len() <= whole.len()
        && part
            .iter()
            .all(|member| whole.binary_search(member).is_ok())
}

fn drop_from(all: &mut Vec<u32>, one: u32) {
    if let Some(place) = all.iter().position(|&other| other == one) {
        all.swap_remove(place);
    }
}
