"""Reorganisation, self-adjustment and levels (thesis 9.2.2, 9.2.3): how nodes reuse each other.

An AND or OR may be built from other nodes of its kind, as long as together they cover its
members; they may overlap, for `x and x` is `x`:

    Pa and Pb and Pc and Pd and Pe         (and abcde)
                                            /       \\
    over two that are there:          (and abc)   (and cde)
                                       /  |  \\   /  |  \\
                                      a   b    c    d   e

The shape is kept a *function* of what the tree holds, whatever the order of arrival:

    children(N) = cover(members(N), every node of N's kind whose members are fewer of the same)

with ties by the nodes' numbers. A new node reorganises itself, then lets every node above it
reorganise again; a node that leaves does the same for those that borrowed it. So removing an
expression is the exact inverse of inserting it. Were only the links to the covered children
replaced, as algorithm 21 has it, and a node's children handed up on deletion, as 9.2.4 has it,
inserting and removing a node could leave others with another, longer cover than they had. The
price: a greedy cover chosen afresh may itself be longer than the one it replaces.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from index.reference.a_tree_expression import L
from index.reference.a_tree_node import LEAF_LEVEL, Node


def cover(members: frozenset[Node[L]], pieces: Iterable[Node[L]]) -> set[Node[L]]:
    """Algorithm 20: greedy set cover; what no piece covers stays as it is.

    A piece must bring two members that are still uncovered: for one, the member itself costs
    the same single edge and is at a lower level. The oldest piece wins a tie.
    """
    uncovered = set(members)
    chosen: set[Node[L]] = set()
    gains = [(len(piece.members), -piece.number, piece) for piece in pieces]
    while gains:
        best = max(gains)[2]
        chosen.add(best)
        uncovered -= best.members
        # A gain only ever shrinks, so what falls below two is out for good.
        gains = [
            (gain, order, piece)
            for _, order, piece in gains
            if (gain := len(piece.members & uncovered)) >= 2
        ]
    return chosen | uncovered


def pieces_of(whole: Node[L]) -> set[Node[L]]:
    """Every node of the same kind whose members are properly among those of `whole`.

    Found by climbing from the members: a piece hangs, through pieces of its own, from members
    of `whole`, and a node that has a foreign member has it all the way up. Access links are
    enough: one is kept by each AND, to a child that is a member or a piece as well. They spare
    us the parents of the most common predicates, unless these are all that there is.
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

    Each has all of the members somewhere below it, so climbing from one of them finds it. Access
    links would not do here: this is why the full lists of parents are kept.
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
    """Algorithm 20 for a node, new or not. Touches its own links only, not the levels."""
    node.take_children(cover(node.members, pieces_of(node)))


def adjust_to_arrival(new: Node[L]) -> None:
    """Algorithm 21: those that contain the new node take it where it shortens them."""
    wholes = wholes_of(new)
    for whole in wholes:
        reorganise(whole)
    settle_levels(wholes)


def adjust_to_departure(old: Node[L]) -> None:
    """Section 9.2.4: those that borrowed `old` go on without it, then it lets go of its own.

    Who did not choose `old` need not look again: without it the same pieces win.
    """
    borrowers = list(old.parents)
    for borrower in borrowers:
        borrower.take_children(cover(borrower.members, pieces_of(borrower) - {old}))
    old.take_children(set())
    settle_levels(borrowers)


def settle_levels(changed: Iterable[Node[L]]) -> None:
    """Make level = 1 + the highest child's hold again, above nodes whose children changed.

    Upwards from the lowest, so that a node with many ways leading to it is visited once and not
    once a way; levels sink as well as rise.
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
    """The distance from the farthest leaf (9.1), a leaf's own being 1."""
    return 1 + max((child.level for child in children), default=LEAF_LEVEL - 1)
