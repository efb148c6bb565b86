//! Validation of code from a snapshot.

use super::{CodeWord, Kind, is_gate, size};
use smallvec::SmallVec;

/// The maximum nesting of a tree.
const MOST_NESTED: usize = 256;

/// Whether code of a kind can be evaluated and read back. Its literals are checked elsewhere.
pub fn is_well_formed(kind: Kind, code: &[CodeWord]) -> bool {
    match kind {
        Kind::Conjunction => !code.is_empty() && !code.iter().any(|&word| is_gate(word)),
        Kind::Tree => is_tree(code),
        Kind::Graph => is_graph(code),
    }
}

fn is_tree(code: &[CodeWord]) -> bool {
    let mut ends: SmallVec<[usize; 16]> = SmallVec::from_elem(code.len(), 1);
    for (at, &word) in code.iter().enumerate() {
        while ends.last() == Some(&at) {
            ends.pop();
        }
        let Some(&outer) = ends.last() else {
            return false;
        };
        let gate = is_gate(word);
        let size = size(word);
        if size > outer - at || (at == 0 && size != code.len()) || ends.len() > MOST_NESTED {
            return false;
        }
        if gate {
            ends.push(at + size);
        }
    }
    !code.is_empty()
}

fn is_graph(code: &[CodeWord]) -> bool {
    let (mut at, mut nodes) = (1, 0);
    while at < code.len() {
        let word = code[at];
        at += 1;
        if is_gate(word) {
            let count = size(word) - 1;
            let Some(children) = code.get(at..).and_then(|rest| rest.get(..count)) else {
                return false;
            };
            if children.iter().any(|&child| child >= nodes) {
                return false;
            }
            at += count;
        }
        nodes += 1;
    }
    nodes > 0 && code[0] == nodes
}

#[cfg(test)]
mod tests {
    use super::super::{AND, OR, PAYLOAD, gate};
    use super::*;

    #[test]
    fn only_code_that_adds_up_is_well_formed() {
        let leaf = 3 << 16;
        let tree = [gate(AND, 4), leaf, gate(OR, 2), leaf, leaf];
        assert!(is_well_formed(Kind::Tree, &tree));
        assert!(!is_well_formed(Kind::Tree, &tree[..4]));
        assert!(!is_well_formed(Kind::Conjunction, &tree));
        for wrong in [
            &[][..],
            &[leaf, leaf],
            &[gate(AND, 3), leaf, gate(OR, 2), leaf],
            &[gate(AND, 1), gate(OR, 1), leaf],
            &[gate(AND, PAYLOAD as usize), leaf],
        ] {
            assert!(!is_well_formed(Kind::Tree, wrong), "{wrong:?}");
        }
        let graph = [3, leaf, leaf, gate(AND, 2), 0, 1];
        assert!(is_well_formed(Kind::Graph, &graph));
        for wrong in [
            &[][..],
            &[0],
            &[2, leaf],
            &[2, leaf, gate(AND, 1), 1],
            &[2, leaf, gate(AND, 3), 0],
        ] {
            assert!(!is_well_formed(Kind::Graph, wrong), "{wrong:?}");
        }
    }
}
