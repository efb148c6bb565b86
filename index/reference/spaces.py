"""How a literal is found: by the values that it covers, or by the presence of its attribute.

A literal that holds for ranges of values covers predicate spaces, and an event finds it by
locating its value. The others are *pulled*: they are evaluated when their attribute is present (or
missing).

    literal                            entry
    in, not in, <, <=, >, >=           Spaces of values
    between, starts with, and nots     Spaces of values
    in network, not                    Spaces of values
    ends with, not                     Spaces of reversed strings: a suffix is a prefix there
    any of                             Spaces, of which any element of the event's list may do
    all of                             Choice: every element must be there, so find it by one
                                       (the rarest) and evaluate it
    contains, like, matches,           Present
    none of, not all of,
    within (circle, box, polygon),
    is (not) empty, is not null
    is null                            Missing

A prefix p covers [p, s), where s is the least string after all that begin with p: p with
its last character replaced by the next one. U+10FFFF has no next one and is dropped first;
the next one of U+D7FF is U+E000, since strings have no surrogates. The order of code points
is the order of UTF-8 bytes, which the PS-Tree uses.

Spaces are exact: a literal with Spaces is true of a value exactly when one of the intervals
has it. They are disjoint and ascending. Literals are evaluated by `literals.holds`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from index.language.geometry import Point
from index.language.operators import Op
from index.language.predicate import Literal, Operand
from index.language.types import Scalar
from index.reference.interval import Interval, complement, point


class Domain(StrEnum):
    """Which PS-Tree of an attribute: the one of its values or of its reversed strings."""

    VALUE = "value"
    REVERSED = "reversed"

    def image(self, value: Scalar) -> Scalar:
        """A value in the form of this domain."""
        return value[::-1] if self is Domain.REVERSED and isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Spaces:
    """True exactly of the values (for a list: of some element) in these intervals."""

    domain: Domain
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """True only if each interval has an element: found by one interval, then evaluated."""

    domain: Domain
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """Evaluated whenever the attribute is present."""


@dataclass(frozen=True, slots=True)
class Missing:
    """True when the attribute is missing."""


def entry_of(literal: Literal) -> Spaces | Choice | Present | Missing:
    """How a literal is found."""
    predicate = literal.predicate
    domain = domain_of(literal)
    if domain is not None:
        return Spaces(domain, tuple(intervals_of(literal)))
    if literal.positive and predicate.op is Op.ALL_OF:
        assert isinstance(predicate.operand, tuple)
        return Choice(Domain.VALUE, tuple(map(point, predicate.operand)))
    if literal.positive and predicate.op is Op.IS_NULL:
        return Missing()
    return Present()


def domain_of(literal: Literal) -> Domain | None:
    """The domain that a literal covers spaces in, or None if it covers none."""
    op = literal.predicate.op
    if op not in _RANGES or (op is Op.ANY_OF and not literal.positive):
        return None
    return Domain.REVERSED if op is Op.ENDS_WITH else Domain.VALUE


def intervals_of(literal: Literal) -> list[Interval]:
    """The values that a literal with a domain covers."""
    predicate = literal.predicate
    ranges = _RANGES[predicate.op](predicate.operand)
    if literal.positive:
        return ranges
    if predicate.op is Op.ANY_OF:
        raise ValueError(f"{literal} is about all elements: no single element decides it")
    return complement(ranges)


def after_prefix(prefix: str) -> str | None:
    """The least string above all strings with `prefix`; None if no string is."""
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return None
    return stem[:-1] + ("\ue000" if stem[-1] == "\ud7ff" else chr(ord(stem[-1]) + 1))


def _prefix(prefix: str) -> list[Interval]:
    return [Interval(prefix, True, after_prefix(prefix), False)]


def _points(values: tuple[Scalar, ...]) -> list[Interval]:
    return [point(value) for value in values]


_RANGES: dict[Op, Callable[[Any], list[Interval]]] = {
    Op.IN: _points,
    Op.ANY_OF: _points,
    Op.LT: lambda value: [Interval(None, False, value, False)],
    Op.LE: lambda value: [Interval(None, False, value, True)],
    Op.GT: lambda value: [Interval(value, False, None, False)],
    Op.GE: lambda value: [Interval(value, True, None, False)],
    Op.BETWEEN: lambda bounds: [Interval(bounds[0], True, bounds[1], True)],
    Op.STARTS_WITH: _prefix,
    Op.IN_NETWORK: lambda networks: [Interval(net.low, True, net.high, True) for net in networks],
    Op.ENDS_WITH: lambda suffix: _prefix(suffix[::-1]),
}


def rank(literal: Literal) -> tuple[int, float]:
    """How selective a literal is, by its form alone: less is more selective.

    First the operator, {=} {in} {between} {<, <=, >, >=} {not in} {!=}, then the width of
    its values (section 3.3). Prefixes and suffixes are ranges with two ends, the longer the
    narrower; a negated range is as wide as a `not in`; `all of` is stricter than any of its
    elements; pulled literals come last, since they exclude nothing before they are evaluated.
    """
    op, operand = literal.predicate.op, literal.predicate.operand
    if domain_of(literal) is None:
        all_of = op is Op.ALL_OF and literal.positive
        return (0, 1 / len(operand)) if all_of and isinstance(operand, tuple) else (6, 0)
    if op in (Op.IN, Op.ANY_OF):
        assert isinstance(operand, tuple)
        few = len(operand) == 1
        if literal.positive:
            return (0 if few else 1), len(operand)
        return (5 if few else 4), -len(operand)
    if op in (Op.LT, Op.LE, Op.GT, Op.GE):
        return 3, 0
    if op is Op.IN_NETWORK:
        count = len(literal.predicate.values)
        return (1, count) if literal.positive else (4, -count)
    width = _width(op, operand)
    return (2, width) if literal.positive else (4, -width)


def _width(op: Op, operand: Operand) -> float:
    if op is not Op.BETWEEN:
        assert isinstance(operand, str)
        return -len(operand)
    assert isinstance(operand, tuple)
    low, high = operand
    if isinstance(low, str | Point) or isinstance(high, str | Point):
        return 0.0
    return float(high) - float(low)
