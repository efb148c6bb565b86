"""The invariants of the A-Tree (listed in `a_tree`), each computed from scratch.

No check uses the links it checks: pieces are found by counting shared members instead of climbing
links, so a mistake in climbing shows here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from index.reference.a_tree_expression import L
from index.reference.a_tree_node import LEAF_LEVEL, Node, NodeKey
from index.reference.a_tree_reorganise import cover


def check_invariants(nodes: Mapping[NodeKey[L], Node[L]], roots: Mapping[int, Node[L]]) -> None:
    """Raise `AssertionError` at the first broken invariant."""
    users: defaultdict[Node[L], set[Node[L]]] = defaultdict(set)
    for node in nodes.values():
        for member in node.members:
            users[member].add(node)
    for key, node in nodes.items():
        _check_identity(key, node, nodes)
        _check_children(node, users)
        _check_links(node, nodes)
        expressions = {id_ for id_ in node.expressions if roots.get(id_) is node}
        assert node.expressions == expressions, f"{node} claims expressions that are not its own"
        assert node.use_count == len(users[node]) + len(expressions), f"{node} is miscounted"
        assert node.use_count > 0, f"{node} is an orphan"
    for id_, root in roots.items():
        assert nodes.get(root.key) is root, f"the root of {id_} is not in the tree"
        assert id_ in root.expressions, f"the root of {id_} does not know it"


def _check_identity(key: NodeKey[L], node: Node[L], nodes: Mapping[NodeKey[L], Node[L]]) -> None:
    assert node.key == key, f"{node} is filed under another key"
    assert node.kind == key[0], f"{node} has another kind than its key"
    assert node.members == set(node.operands), f"{node} has members that are not its operands"
    numbers = [operand.number for operand in node.operands]
    assert numbers == sorted(numbers), f"the operands of {node} are not in order"
    for member in node.members:
        assert nodes.get(member.key) is member, f"{node} has a member {member}, which was removed"
        assert member.kind != node.kind, f"{node} is not flat"


def _check_children(node: Node[L], users: Mapping[Node[L], set[Node[L]]]) -> None:
    """Children flatten to the members, are the best cover there is, and give the level."""
    if node.kind == "leaf":
        assert not node.children, f"{node} is a leaf and has children"
    else:
        flat: set[Node[L]] = set()
        for child in node.children:
            flat |= child.members if child.kind == node.kind else {child}
        assert flat == node.members, f"the children of {node} do not flatten to its members"
        shared = Counter(user for member in node.members for user in users[member])
        pieces = [
            piece
            for piece, count in shared.items()
            if piece.kind == node.kind and count == len(piece.members) < len(node.members)
        ]
        assert node.children == cover(node.members, pieces), f"{node} is not reorganised"
    highest = max((child.level for child in node.children), default=LEAF_LEVEL - 1)
    assert node.level == highest + 1, f"{node} is not one level above its children"


def _check_links(node: Node[L], nodes: Mapping[NodeKey[L], Node[L]]) -> None:
    """Upward links mirror downward ones; access links are those that a true result follows."""
    for child in node.children:
        assert nodes.get(child.key) is child, f"{node} has a child {child}, which was removed"
        assert node in child.parents, f"{child} does not know its parent {node}"
    for parent in node.parents:
        assert nodes.get(parent.key) is parent, f"{node} has a parent {parent}, which was removed"
        assert node in parent.children, f"{node} is not a child of its parent {parent}"
    if node.kind == "and":
        assert node.access_child in node.children, f"the access child of {node} is not its child"
        rarest = min((child.rank, child.number) for child in node.children)
        assert (node.access_child.rank, node.access_child.number) == rarest, (
            f"{node} enters by a common child"
        )
    else:
        assert node.access_child is None, f"{node} has an access child, but is not an AND"
    expected = {
        parent
        for parent in node.parents
        if parent.kind == "or" or (parent.kind == "and" and parent.access_child is node)
    }
    assert node.access_parents == expected, f"{node} has the wrong access links"
