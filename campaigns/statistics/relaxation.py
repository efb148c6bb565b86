"""An expression without each of its predicates in turn: what would it match then?

To remove a predicate removes a child of its `and`, `or` or `xor`. A node with one child left is
replaced by that child, and a node with none is removed. Without its only predicate an expression is
`true`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from index.language import Tree, to_json
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Or, Xor

MOST_DROPPED = 50
"""The most predicates that are removed in turn, from the first on;"""

MOST_BYTES = 1_000_000
"""fewer in a large expression, since each rest goes into the index."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The requests without a predicate; `change` is relative to the whole expression, None if that
    matches nothing."""

    predicate: str
    attribute: str
    requests: float
    change: float | None

    @property
    def words(self) -> str:
        if self.change is None:
            return f"without {self.attribute} {round(self.requests)}"
        return f"without {self.attribute} {self.change:+.0%}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "predicate": self.predicate,
            "attribute": self.attribute,
            "matched_requests_per_day": round(self.requests),
            "change": None if self.change is None else round(self.change, 4),
            "words": self.words,
        }


def compared(predicate: Predicate, requests: float, whole: float) -> Dropped:
    """The requests a day without the predicate, compared with those of the whole expression."""
    change = requests / whole - 1 if whole else None
    return Dropped(str(predicate), predicate.attribute, requests, change)


def nearest_miss(without: Sequence[Dropped], whole: float) -> Dropped | None:
    """The predicate whose removal would add the most requests; None if none would."""
    best = max(without, key=lambda dropped: dropped.requests, default=None)
    return best if best is not None and best.requests > whole else None


def left_out(tree: Tree, most: int = MOST_DROPPED) -> list[tuple[Predicate, Tree]]:
    """The first predicates of an expression, each with the rest."""
    if not most:
        return []
    return list(islice(without_each(tree), min(most, MOST_BYTES // len(to_json(tree)))))


def without_each(tree: Tree) -> Iterator[tuple[Predicate, Tree]]:
    """Each predicate, from left to right, and the expression without it."""
    for predicate, rest in _rests(tree):
        yield predicate, Constant(True) if rest is None else rest


def _rests(tree: Tree) -> Iterator[tuple[Predicate, Tree | None]]:
    match tree:
        case Predicate():
            yield tree, None
        case Not(child):
            for predicate, rest in _rests(child):
                yield predicate, None if rest is None else Not(rest)
        case And(children) | Or(children) | Xor(children):
            for place, child in enumerate(children):
                for predicate, rest in _rests(child):
                    yield predicate, _replaced(tree, place, rest)


def _replaced(tree: And | Or | Xor, place: int, rest: Tree | None) -> Tree:
    children = list(tree.children)
    if rest is not None:
        children[place] = rest
    else:
        del children[place]
    if len(children) == 1:
        return children[0]
    if not isinstance(tree, Xor):
        return type(tree)(tuple(children))
    inverted = list(tree.inverted)
    if rest is None:
        # The operator before it is removed too; for the first child, the one after it.
        del inverted[max(0, place - 1)]
    return Xor(tuple(children), tuple(inverted))
