"""Can several literals on one attribute all be true of one value?

A "no" is always right; a "yes" may be wrong, since there are only a few rules:

- `is null` contradicts every other literal, and a predicate contradicts its negation;
- a finite choice (`=`, `in`, up to 64 integers in a range) is tried value by value;
- lower bounds must not exceed upper ones, prefixes and suffixes must nest;
- networks and ranges of addresses must overlap;
- an element that a list must have must not be one that it must not have.

The rules are part of the normal form, so the Rust core has the same ones.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from index.language.literals import holds
from index.language.operators import Op
from index.language.predicate import Literal
from index.language.types import Type

_FEW = 64
"""A range with up to this many integers is tried value by value."""


def contradict(literals: Sequence[Literal]) -> bool:
    """Whether no value can make all of these literals true; all are on one attribute, or on what is
    derived from it."""
    signs = {(lit.predicate, lit.positive) for lit in literals}
    if any((predicate, not positive) in signs for predicate, positive in signs):
        return True
    if any(lit.predicate.op is Op.IS_NULL and lit.positive for lit in literals):
        return len(signs) > 1
    by_key: dict[str, list[Literal]] = {}
    for lit in literals:
        if lit.predicate.op is not Op.IS_NULL:
            by_key.setdefault(lit.predicate.key, []).append(lit)
    return any(len(group) > 1 and _values_contradict(group) for group in by_key.values())


def _values_contradict(rest: Sequence[Literal]) -> bool:
    """The same, of literals that compare one value."""
    kind = rest[0].predicate.type
    if kind.is_list:
        return _lists_contradict(rest)
    if kind is Type.IP:
        return _addresses_contradict(rest)
    choices = [lit.predicate.values for lit in rest if lit.predicate.op is Op.IN and lit.positive]
    if choices:
        fewest = min(choices, key=len)
        return _none_fits(fewest, rest)
    return _ranges_contradict(rest, kind) or (
        kind is Type.STRING and (_prefixes_contradict(rest) or _suffixes_contradict(rest))
    )


def _none_fits(values: Iterable[Any], literals: Sequence[Literal]) -> bool:
    return not any(all(holds(lit, value) for lit in literals) for value in values)


Bounds = list[tuple[Any, bool]]


def _bounds(literals: Sequence[Literal]) -> tuple[Bounds, Bounds]:
    """The bounds that positive ranges set, as (value, whether it is excluded)."""
    lower: Bounds = []
    upper: Bounds = []
    for lit in literals:
        op = lit.predicate.op
        operand: Any = lit.predicate.operand
        if op is Op.GE or op is Op.GT:
            lower.append((operand, op is Op.GT))
        elif op is Op.LE or op is Op.LT:
            upper.append((operand, op is Op.LT))
        elif op is Op.BETWEEN and lit.positive:
            low, high = operand
            lower.append((low, False))
            upper.append((high, False))
    return lower, upper


def _ranges_contradict(literals: Sequence[Literal], kind: Type) -> bool:
    lower, upper = _bounds(literals)
    if not lower or not upper:
        return False
    low, low_open = max(lower)
    high = min(value for value, _ in upper)
    high_open = (high, True) in upper
    if low > high or (low == high and (low_open or high_open)):
        return True
    if kind is Type.INT and high - low < _FEW:
        return _none_fits(range(low, high + 1), literals)
    return low == high and _none_fits([low], literals)


def _prefixes_contradict(literals: Sequence[Literal]) -> bool:
    prefixes = _patterns(literals, Op.STARTS_WITH)
    if not prefixes:
        return False
    longest = max(prefixes, key=len)
    if not all(longest.startswith(p) for p in prefixes):
        return True
    lower, upper = _bounds(literals)
    # Strings with the prefix are not below the prefix itself, and all of them are on one
    # side of a bound that does not have it.
    return any(low > longest and not low.startswith(longest) for low, _ in lower) or any(
        high < longest or (high == longest and is_open) for high, is_open in upper
    )


def _suffixes_contradict(literals: Sequence[Literal]) -> bool:
    suffixes = _patterns(literals, Op.ENDS_WITH)
    longest = max(suffixes, key=len, default="")
    return not all(longest.endswith(s) for s in suffixes)


def _patterns(literals: Sequence[Literal], op: Op) -> list[str]:
    return [
        str(lit.predicate.operand) for lit in literals if lit.predicate.op is op and lit.positive
    ]


def _addresses_contradict(literals: Sequence[Literal]) -> bool:
    common: list[tuple[str, str]] | None = None
    for lit in literals:
        if not lit.positive:
            continue
        operand: Any = lit.predicate.operand
        if lit.predicate.op is Op.IN_NETWORK:
            ranges = [(net.low, net.high) for net in operand]
        else:
            ranges = [operand]
        common = ranges if common is None else _overlaps(common, ranges)
    return common == []


def _overlaps(some: list[tuple[str, str]], others: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What two lists of disjoint ranges, both ascending, have in common."""
    found = []
    place, other = 0, 0
    while place < len(some) and other < len(others):
        low = max(some[place][0], others[other][0])
        high = min(some[place][1], others[other][1])
        if low <= high:
            found.append((low, high))
        if some[place][1] < others[other][1]:
            place += 1
        else:
            other += 1
    return found


def _lists_contradict(literals: Sequence[Literal]) -> bool:
    def sets(op: Op, positive: bool) -> list[frozenset[Any]]:
        return [
            frozenset(lit.predicate.values)
            for lit in literals
            if lit.predicate.op is op and lit.positive is positive
        ]

    some, every = sets(Op.ANY_OF, True), sets(Op.ALL_OF, True)
    if any(lit.predicate.op is Op.IS_EMPTY and lit.positive for lit in literals):
        return bool(some or every)
    required = frozenset().union(*every)
    forbidden = frozenset().union(*sets(Op.ANY_OF, False))
    return (
        not required.isdisjoint(forbidden)
        or any(choice <= forbidden for choice in some)
        or any(whole <= required for whole in sets(Op.ALL_OF, False))
    )
