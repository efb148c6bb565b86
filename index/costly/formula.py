"""What is left to decide of an expression on one event: a formula over results of calls.

    country = 'US' and (call brand_safety(site.page) >= 0.8 or call is_safe(site.page))
                              │ an event with country US and a page
                              ▼
    brand_safety('https://…') >= 0.8  or  is_safe('https://…')

Negations are pushed down to the predicates, as in the normal form, so the formula says when the
expression is *true*: a predicate whose result is unknown counts as false, with either sign.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from index.costly.order import Verdict
from index.event import Event, Value
from index.language.calls import call_of, is_call
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Tree, Xor, predicates_of
from index.language.types import Scalar
from index.scan import evaluate


class CallKey(NamedTuple):
    """One call: an operator and the values it gets."""

    operator: str
    values: tuple[Value, ...]


Results = Mapping[CallKey, Scalar | None]
"""The results of calls; None for a call that failed or was not made, which stays unknown."""

NO_RESULTS: Results = {}

PassRate = Callable[[str, Predicate], float]
"""How often a predicate on the result of an operator is true."""


@dataclass(frozen=True, slots=True)
class _Literal:
    key: CallKey
    predicate: Predicate
    positive: bool


@dataclass(frozen=True, slots=True)
class _Gate:
    all_of: bool
    children: tuple["_Formula", ...]


@dataclass(frozen=True, slots=True)
class _Chain:
    """An `xor`: both signs of each child, and whether the whole is negated."""

    children: tuple[tuple["_Formula", "_Formula"], ...]
    inverted: tuple[bool, ...]
    positive: bool


_Formula = bool | _Literal | _Gate | _Chain


class Pending:
    """An expression on one event, as a candidate of `order.py`."""

    def __init__(self, tree: Tree, event: Event, results: Results, rate: PassRate) -> None:
        self._results = results
        self._rate = rate
        self._formula = _reduced(_formula(tree, event, True), results)

    def verdict(self) -> Verdict[CallKey]:
        if isinstance(self._formula, bool):
            return self._formula
        return _against(self._formula, self._rate)[0]

    def learn(self, call: CallKey, result: object) -> Verdict[CallKey]:
        """The result is among the results already."""
        self._formula = _reduced(self._formula, self._results)
        return self.verdict()


def calls_in(tree: Tree, event: Event) -> Iterator[tuple[Predicate, CallKey]]:
    """The predicates on calls of a tree, with the calls that an event makes of them, without those
    that lack an argument."""
    for predicate in predicates_of(tree):
        if is_call(predicate):
            key = _key(predicate, event)
            if key is not None:
                yield predicate, key


def named(tree: Tree, event: Event, results: Results) -> dict[str, Scalar]:
    """The results of the calls of a tree by their spelling, as far as there are any: with them an
    event says all that a tree depends on."""
    calls = {predicate.attribute: key for predicate, key in calls_in(tree, event)}
    found = {name: results.get(key) for name, key in calls.items()}
    return {name: result for name, result in found.items() if result is not None}


def _key(predicate: Predicate, event: Event) -> CallKey | None:
    call = call_of(predicate.attribute)
    if call is None or not all(name in event for name in call.arguments):
        return None
    return CallKey(call.operator, tuple(event[name] for name in call.arguments))


def _formula(tree: Tree, event: Event, positive: bool) -> _Formula:
    """When a tree is true, or if not `positive` false."""
    if isinstance(tree, Not):
        return _formula(tree.child, event, not positive)
    if isinstance(tree, Predicate) and is_call(tree):
        key = _key(tree, event)
        return False if key is None else _Literal(key, tree, positive)
    if isinstance(tree, Constant | Predicate):
        return evaluate(tree, event) is positive
    if isinstance(tree, Xor):
        signs = ((_formula(c, event, True), _formula(c, event, False)) for c in tree.children)
        return _Chain(tuple(signs), tree.inverted, positive)
    children = tuple(_formula(child, event, positive) for child in tree.children)
    return _Gate(isinstance(tree, And) is positive, children)


def _reduced(formula: _Formula, results: Results) -> _Formula:
    """The formula with what is known."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, _Literal):
        if formula.key not in results:
            return formula
        value, predicate = results[formula.key], formula.predicate
        return (
            value is not None and predicate.op.holds(value, predicate.operand) is formula.positive
        )
    if isinstance(formula, _Chain):
        return _reduced_chain(formula, results)
    left = []
    for child in formula.children:
        reduced = _reduced(child, results)
        if reduced is (not formula.all_of):
            return reduced
        if not isinstance(reduced, bool):
            left.append(reduced)
    if not left:
        return formula.all_of
    return left[0] if len(left) == 1 else _Gate(formula.all_of, tuple(left))


def _reduced_chain(chain: _Chain, results: Results) -> _Formula:
    children = tuple((_reduced(yes, results), _reduced(no, results)) for yes, no in chain.children)
    if any(yes is False and no is False for yes, no in children):
        return False  # one is unknown, and so is the chain
    if any(yes is not True and no is not True for yes, no in children):
        return _Chain(children, chain.inverted, chain.positive)
    value = children[0][0] is True
    for (yes, _), inverted in zip(children[1:], chain.inverted, strict=True):
        value = (value == (yes is True)) if inverted else (value != (yes is True))
    return value is chain.positive


def _against(formula: _Formula, rate: PassRate) -> tuple[dict[CallKey, float], float]:
    """For each call, the chance that its result makes the formula false; and the chance that the
    formula is false. Roughly: as if no two predicates had to do with each other."""
    if isinstance(formula, bool):
        return {}, float(not formula)
    if isinstance(formula, _Literal):
        true = rate(formula.key.operator, formula.predicate)
        false = 1 - true if formula.positive else true
        return {formula.key: false}, false
    if isinstance(formula, _Chain):
        keys = [key for signs in formula.children for sign in signs for key in _keys(sign)]
        return dict.fromkeys(keys, 0.5), 0.5
    below = [_against(child, rate) for child in formula.children]
    chances: dict[CallKey, float] = {}
    for place, (child, _) in enumerate(below):
        others = [false for other, (_, false) in enumerate(below) if other != place]
        factor = 1.0 if formula.all_of else prod(others)
        for key, chance in child.items():
            chances[key] = max(chances.get(key, 0.0), chance * factor)
    if formula.all_of:
        return chances, 1 - prod(1 - false for _, false in below)
    return chances, prod(false for _, false in below)


def _keys(formula: _Formula) -> list[CallKey]:
    if isinstance(formula, bool):
        return []
    if isinstance(formula, _Literal):
        return [formula.key]
    if isinstance(formula, _Chain):
        return [key for signs in formula.children for sign in signs for key in _keys(sign)]
    return [key for child in formula.children for key in _keys(child)]
