"""What stands in the way of an expression: a smallest set of predicates that keep it from matching.

Every occurrence of a predicate counts by itself and may be changed at a cost of 1, to true or to
false, whatever the others do; a constant cannot be changed. Then each node has two numbers, the
least cost to make it true and the least to make it false, and they follow from its children's:

                    true                             false
    predicate       0 if it is true, else 1          0 if it is false, else 1
    true            0                                impossible
    not x           x false                          x true
    and             the sum of true                  the cheapest false
    or              the cheapest true                the sum of false
    xor             over the children, left to right: the cheapest way to each parity

An unknown predicate is neither, so it costs 1 both ways. Making one unknown never helps: what is
true with an unknown is true with any value in its place. Since no occurrence is in two branches of
a tree, the branches do not disturb each other, and the number is exact. It takes one walk.

That two predicates on one attribute cannot both be had (`age < 18 and age > 60`) is not seen here;
an expression of which the normal form says that it is never true is `never`, though.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from index.event import Event, Value
from index.explain import WORDS, shown, told
from index.language.normal_form import normalize
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Tree, Xor, children_of
from index.scan import evaluate


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One occurrence of a predicate that is in the way.

    `place` counts the predicates of the expression from the left, from 0; `value` is what it is,
    `wanted` what it would have to be; `got` is what the event had, None if nothing.
    """

    place: int
    predicate: Predicate
    value: bool | None
    wanted: bool
    got: Value | None

    @property
    def why(self) -> str:
        """For people: what the event had."""
        return told(self.predicate, self.got)

    def to_dict(self) -> dict[str, object]:
        """For an answer in JSON."""
        return {
            "place": self.place,
            "text": str(self.predicate),
            "attribute": self.predicate.attribute,
            "value": WORDS[self.value],
            "wanted": WORDS[self.wanted],
            **shown(self.predicate, self.got),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Blame:
    """A smallest set of obstacles, from left to right; none if the expression is true.

    With `never` it can never be true. Then `obstacles` may still name what would have to change if
    each predicate could by itself, and is empty if not even that would do.
    """

    obstacles: tuple[Obstacle, ...]
    never: bool = False

    def to_dict(self) -> dict[str, object]:
        """For an answer in JSON."""
        return {
            "never": self.never,
            "obstacles": [obstacle.to_dict() for obstacle in self.obstacles],
        }


def blame(tree: Tree, event: Event) -> Blame:
    """What stands in the way of a tree on a checked event. Of several smallest sets it is
    one, always the same."""
    way = _ways(tree, event, count())[True]
    if way is None:
        return Blame((), never=True)
    obstacles = tuple(sorted(_flatten(way), key=lambda obstacle: obstacle.place))
    return Blame(obstacles, never=bool(obstacles) and normalize(tree).root == Constant(False))


@dataclass(frozen=True, slots=True)
class _Way:
    """How to give a node a value: how many changes, and which, as a tree to be flattened once."""

    cost: int = 0
    change: Obstacle | None = None
    parts: "tuple[_Way, ...]" = ()


_FREE = _Way()
_Ways = dict[bool, _Way | None]
"""How to make a node true, and how to make it false; None: impossible."""


def _ways(tree: Tree, event: Event, places: Iterator[int]) -> _Ways:
    if isinstance(tree, Constant):
        return {tree.value: _FREE, not tree.value: None}
    if isinstance(tree, Predicate):
        return _ways_of_predicate(tree, event, next(places))
    children = [_ways(child, event, places) for child in children_of(tree)]
    if isinstance(tree, Not):
        return {True: children[0][False], False: children[0][True]}
    if isinstance(tree, Xor):
        return _ways_of_chain(tree, children)
    all_of = isinstance(tree, And)  # the value that all must have; one is enough for the other
    return {
        all_of: _all([child[all_of] for child in children]),
        not all_of: _cheapest([child[not all_of] for child in children]),
    }


def _ways_of_predicate(predicate: Predicate, event: Event, place: int) -> _Ways:
    value = evaluate(predicate, event)
    got = event.get(predicate.attribute)
    return {
        wanted: _FREE
        if value is wanted
        else _Way(1, Obstacle(place, predicate, value, wanted, got))
        for wanted in (True, False)
    }


def _ways_of_chain(tree: Xor, children: list[_Ways]) -> _Ways:
    result = children[0]
    for child, inverted in zip(children[1:], tree.inverted, strict=True):
        same = _cheapest([_all([result[v], child[v]]) for v in (True, False)])
        differs = _cheapest([_all([result[v], child[not v]]) for v in (True, False)])
        result = {inverted: same, not inverted: differs}
    return result


def _all(ways: list[_Way | None]) -> _Way | None:
    needed: list[_Way] = []
    for way in ways:
        if way is None:
            return None
        if way.cost:
            needed.append(way)
    if len(needed) == 1:
        return needed[0]
    return _Way(sum(way.cost for way in needed), parts=tuple(needed)) if needed else _FREE


def _cheapest(ways: list[_Way | None]) -> _Way | None:
    return min((way for way in ways if way is not None), key=lambda way: way.cost, default=None)


def _flatten(way: _Way) -> Iterator[Obstacle]:
    pending = [way]  # a chain of a thousand is a thousand deep here
    while pending:
        way = pending.pop()
        if way.change is not None:
            yield way.change
        pending.extend(way.parts)
