"""Obstacles: a smallest set of predicates that keep an expression from matching.

Each occurrence of a predicate can be changed at a cost of 1, to true or to false, independently of
the others; a constant cannot be changed. So each node has two numbers, the least cost to make it
true and the least cost to make it false. They follow from those of its children:

                    true                             false
    predicate       0 if it is true, else 1          0 if it is false, else 1
    true            0                                impossible
    not x           x false                          x true
    and             the sum of true                  the cheapest false
    or              the cheapest true                the sum of false
    xor             over the children, left to right: the cheapest way to each parity

An unknown predicate is neither true nor false, so it costs 1 both ways. Making one unknown never
helps: what is true with an unknown is true with any value in its place. No occurrence is in two
branches of a tree, so the branches are independent and the cost is exact. It takes one walk.

This does not see that two predicates on one attribute contradict each other (`age < 18 and
age > 60`). But an expression whose normal form is never true is reported as `never`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from index.event import Event, Value
from index.explain import WORDS, describe_got, got_as_json, got_in
from index.language.normal_form import normalize
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Tree, Xor, children_of
from index.scan import evaluate


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One occurrence of a predicate that would have to change.

    `place` is its position among the predicates of the expression, from the left, from 0; `value`
    is its value, `wanted` the value it needs; `got` is the event's value, None if missing.
    """

    place: int
    predicate: Predicate
    value: bool | None
    wanted: bool
    got: Value | None

    @property
    def why(self) -> str:
        """The event's value, for people."""
        return describe_got(self.predicate, self.got)

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {
            "place": self.place,
            "text": str(self.predicate),
            "attribute": self.predicate.attribute,
            "value": WORDS[self.value],
            "wanted": WORDS[self.wanted],
            **got_as_json(self.predicate, self.got),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Obstacles:
    """A smallest set of obstacles, from left to right; empty if the expression is true.

    With `never` the expression can never be true. Then `obstacles` may still name what would have
    to change if each predicate could change independently; it is empty if even that is not enough.
    """

    obstacles: tuple[Obstacle, ...]
    never: bool = False

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {
            "never": self.never,
            "obstacles": [obstacle.to_dict() for obstacle in self.obstacles],
        }


def obstacles_to(tree: Tree, event: Event) -> Obstacles:
    """The obstacles to a tree on a checked event. Of several smallest sets this is always the
    same one."""
    way = _ways(tree, event, count())[True]
    if way is None:
        return Obstacles((), never=True)
    obstacles = tuple(sorted(_flatten(way), key=lambda obstacle: obstacle.place))
    return Obstacles(obstacles, never=bool(obstacles) and normalize(tree).root == Constant(False))


def first_obstacle(tree: Tree, event: Event) -> Predicate | None:
    """The first of the obstacles; None if the expression is true, or if no event can make it true.
    It costs less than all of them: it does not ask whether the expression can ever be true."""
    way = _ways(tree, event, count())[True]
    if way is None or not way.cost:
        return None
    return min(_flatten(way), key=lambda obstacle: obstacle.place).predicate


@dataclass(frozen=True, slots=True)
class _Way:
    """How to give a node a value: the number of changes, and the changes, as a tree to flatten."""

    cost: int = 0
    change: Obstacle | None = None
    parts: "tuple[_Way, ...]" = ()


_FREE = _Way()
_Ways = dict[bool, _Way | None]
"""How to make a node true and how to make it false; None if impossible."""


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
    all_of = isinstance(tree, And)  # all children must have this value; one suffices for the other
    return {
        all_of: _all([child[all_of] for child in children]),
        not all_of: _cheapest([child[not all_of] for child in children]),
    }


def _ways_of_predicate(predicate: Predicate, event: Event, place: int) -> _Ways:
    value = evaluate(predicate, event)
    got = got_in(predicate, event)
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
