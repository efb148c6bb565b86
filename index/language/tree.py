"""The checked syntax tree: an expression exactly as written.

    country = 'US' and (age >= 18 or not vip)

    And ─┬─ Predicate(country, =, 'US')
         └─ Or ─┬─ Predicate(age, >=, 18)
                └─ Not ── Predicate(vip, holds)

Trees are immutable, hashable, and compare by structure. A chain of `and`, of `or` or of
`xor`/`xnor` is one node with many children; parentheses make a node of their own. Every predicate
in a tree has been checked against a schema.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from index.language.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false`."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of one expression."""

    child: "Tree"

    def __str__(self) -> str:
        return _print(self)


@dataclass(frozen=True, slots=True)
class And:
    """True if all children are true; at least two children."""

    children: tuple["Tree", ...]

    def __str__(self) -> str:
        return _print(self)


@dataclass(frozen=True, slots=True)
class Or:
    """True if any child is true; at least two children."""

    children: tuple["Tree", ...]

    def __str__(self) -> str:
        return _print(self)


@dataclass(frozen=True, slots=True)
class Xor:
    """A chain of `xor` and `xnor`, left to right: `a xnor b xor c` is
    `Xor((a, b, c), (True, False))`. `inverted[i]` is True if the operator after child i
    is `xnor`."""

    children: tuple["Tree", ...]
    inverted: tuple[bool, ...]

    def __str__(self) -> str:
        return _print(self)


Tree = Constant | Predicate | Not | And | Or | Xor


# The children that need no parentheses: those that bind tighter.
_BARE: dict[type, tuple[type, ...]] = {
    Not: (Constant, Not),
    And: (Constant, Predicate, Not),
    Xor: (Constant, Predicate, Not, And),
    Or: (Constant, Predicate, Not, And, Xor),
}


def _print(tree: Tree) -> str:
    """A tree as text that parses to the same tree. Not recursive, since trees may be several
    hundred levels deep."""
    written: list[str] = []
    pending: list[Tree | str] = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, str | Constant | Predicate):
            written.append(str(part))
        else:
            pending.extend(reversed(_parts(part)))
    return "".join(written)


def _parts(tree: Not | And | Or | Xor) -> list[Tree | str]:
    """The words of a node and its children, in order."""
    parts: list[Tree | str] = ["not "] if isinstance(tree, Not) else []
    for place, child in enumerate(children_of(tree)):
        if place:
            parts.append(f" {_joint(tree, place)} ")
        parts += [child] if isinstance(child, _BARE[type(tree)]) else ["(", child, ")"]
    return parts


def _joint(tree: Tree, place: int) -> str:
    """The word before a child."""
    if isinstance(tree, Xor):
        return "xnor" if tree.inverted[place - 1] else "xor"
    return "and" if isinstance(tree, And) else "or"


def children_of(tree: Tree) -> tuple[Tree, ...]:
    """The direct children of a node, as written."""
    if isinstance(tree, And | Or | Xor):
        return tree.children
    return (tree.child,) if isinstance(tree, Not) else ()


def predicates_of(tree: Tree) -> Iterator[Predicate]:
    """Every occurrence of a predicate, from left to right."""
    pending: list[Tree] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Predicate):
            yield node
        else:
            pending.extend(reversed(children_of(node)))


def predicate_count(tree: Tree) -> int:
    """The number of predicates in a tree, counting every occurrence."""
    return sum(1 for _ in predicates_of(tree))
