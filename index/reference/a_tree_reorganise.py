"""Reorganisation, self-adjustment and levels (thesis 9.2.2, 9.2.3): how nodes reuse each other.

An AND or OR may be built from other nodes of its kind, as long as together they cover its
members; they may overlap, for `x and x` is `x`:

    Pa and Pb and Pc and Pd and Pe         (and abcde)
                                            /       \\
    over two that are there:          (and abc)   (and cde)
                                       /  |  \\   /  |  \\
                                      a   b    c    d   e

The shape is a *function* of the contents of the tree, independent of the order of arrival:

    children(N) = cover(members(N), every node of N's kind whose members are fewer of the same)

with ties broken by the nodes' numbers. A new node reorganises itself, then every node above it
reorganises again; when a node is removed, the nodes that borrowed it do. So removing an expression
is the exact inverse of inserting it. The thesis only replaces the links to the covered children
(algorithm 21) and hands a node's children up on deletion (9.2.4); inserting and removing a node
could then leave others with a longer cover than before. The price: a new greedy cover may be
longer than the one it replaces.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from index.reference.a_tree_expression import L
from index.reference.a_tree_node import LEAF_LEVEL, Node


def cover(members: frozenset[Node[L]], pieces: Iterable[Node[L]]) -> set[Node[L]]:
    """Algorithm 20: greedy set cover; members that no piece covers stay as they are.

    A piece must cover at least two uncovered members: for one, the member itself costs the same
    edge and has a lower level. The oldest piece wins a tie.
    """
    uncovered = set(members)
    chosen: set[Node[L]] = set()
    gains = [(len(piece.members), -piece.number, piece) for piece in pieces]
    while gains:
        best = max(gains)[2]
        chosen.add(best)
        uncovered -= best.members
        # A gain never grows, so a piece with a gain below two is out.
        gains = [
            (gain, order, piece)
            for _, order, piece in gains
            if (gain := len(piece.members & uncovered)) >= 2
        ]
    return chosen | uncovered


def pieces_of(whole: Node[L]) -> set[Node[L]]:
    """Every node of the same kind whose members are properly among those of `whole`.

    Found by climbing from the members: a piece is reached from members of `whole` through other
    pieces, and all nodes above a node with a foreign member have it too. Access links are enough:
    each AND keeps one, to a child that is itself a member or a piece. They avoid the parents of
    the most common predicates, unless there are no others.
    """
    pieces: set[Node[L]] = set()
    frontier = list(whole.members)
    while frontier:
        for parent in frontier.pop().access_parents:
            if (
                parent.kind == whole.kind
                and parent not in pieces
                and parent.members < whole.members
            ):
                pieces.add(parent)
                frontier.append(parent)
    return pieces


def wholes_of(piece: Node[L]) -> list[Node[L]]:
    """Every node of the same kind whose members properly include those of `piece`.

    Each has all the members below it, so climbing from any of them finds it. Access links are
    not enough here, which is why `parents` exists.
    """
    seen: set[Node[L]] = set()
    frontier = [min(piece.members, key=lambda member: len(member.parents))]
    while frontier:
        for parent in frontier.pop().parents:
            if parent.kind == piece.kind and parent not in seen:
                seen.add(parent)
                frontier.append(parent)
    return [node for node in seen if node.members > piece.members]


def reorganise(node: Node[L]) -> None:
    """Algorithm 20 for a node, new or not. Changes its own links only, not levels."""
    node.take_children(cover(node.members, pieces_of(node)))


def adjust_to_arrival(new: Node[L]) -> None:
    """Algorithm 21: nodes that contain the new node use it where that shortens them."""
    wholes = wholes_of(new)
    for whole in wholes:
        reorganise(whole)
    settle_levels(wholes)


def adjust_to_departure(old: Node[L]) -> None:
    """Section 9.2.4: nodes that borrowed `old` choose again without it, then it drops its links.

    Other nodes need not choose again: without `old` the same pieces win.
    """
    borrowers = list(old.parents)
    for borrower in borrowers:
        borrower.take_children(cover(borrower.members, pieces_of(borrower) - {old}))
    old.take_children(set())
    settle_levels(borrowers)


def settle_levels(changed: Iterable[Node[L]]) -> None:
    """Restore level = 1 + highest child's level, at and above nodes whose children changed.

    From the lowest level upwards, so that a node with many paths to it is visited once. Levels
    may fall or rise.
    """
    waiting = set(changed)
    queue = [(node.level, node.number, node) for node in waiting]
    heapq.heapify(queue)
    while queue:
        _, _, node = heapq.heappop(queue)
        waiting.discard(node)
        level = level_over(node.children)
        if level == node.level:
            continue
        node.level = level
        for parent in node.parents - waiting:
            waiting.add(parent)
            heapq.heappush(queue, (parent.level, parent.number, parent))


def level_over(children: Iterable[Node[L]]) -> int:
    """The distance from the farthest leaf (9.1); the level of a leaf is 1."""
    return 1 + max((child.level for child in children), default=LEAF_LEVEL - 1)
