"""From a predicate to its canonical literal, or to a constant.

Two predicates that say the same of every value become one literal:

    age < 18, not (age >= 18)         age <= 17
    vip, vip = true, vip != false     vip = true
    country in ('US')                 country = 'US'
    tags all of (3)                   tags any of (3)
    age between 5 and 5               age = 5

A literal is asked only whether it is *true*: it is what remains after negations
have been pushed down, so false and unknown need not be told apart any more. That
is what allows `vip in (true, false)` to become `vip is not null` here, and why a
literal must never be negated: negate the predicate and come here again.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from index.language.predicate import Literal, Op, Predicate
from index.language.types import INT_MAX, INT_MIN, Scalar, Type

# The same condition with the opposite sign.
_NEGATED = {
    Op.NE: Op.EQ,
    Op.NOT_IN: Op.IN,
    Op.NONE_OF: Op.ANY_OF,
    Op.IS_NOT_EMPTY: Op.IS_EMPTY,
    Op.IS_NOT_NULL: Op.IS_NULL,
}
_FLIPPED = {Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT}

CANONICAL_OPS = (
    Op.IN,
    Op.LT,
    Op.LE,
    Op.GT,
    Op.GE,
    Op.BETWEEN,
    Op.STARTS_WITH,
    Op.ENDS_WITH,
    Op.CONTAINS,
    Op.ANY_OF,
    Op.ALL_OF,
    Op.IS_EMPTY,
    Op.IS_NULL,
)
_RANK = {op: rank for rank, op in enumerate(CANONICAL_OPS)}


def literal_of(predicate: Predicate, positive: bool = True) -> Literal | bool:
    """The canonical literal that is true exactly when the predicate (or, if not
    `positive`, its negation) is; a constant when every present value gives the same
    answer and that answer is false."""
    attribute, kind = predicate.attribute, predicate.type
    op = predicate.op
    operand: Any = predicate.operand  # its shape goes with the operator
    if op in _NEGATED:
        op, positive = _NEGATED[op], not positive
    elif op in _FLIPPED and not positive:
        op, positive = _FLIPPED[op], True
    elif op is Op.HOLDS:
        op, operand = Op.EQ, True

    if op is Op.EQ:
        op, operand = Op.IN, (operand,)
    elif op is Op.BETWEEN and operand[0] == operand[1]:
        op, operand = Op.IN, (operand[0],)
    elif op is Op.ALL_OF and len(operand) == 1:
        op = Op.ANY_OF
    if op in (Op.IN, Op.ANY_OF, Op.ALL_OF):
        operand = tuple(sorted(operand))

    if kind is Type.BOOL and op is Op.IN:
        return _of_bool(attribute, operand, positive)
    if kind is Type.INT and op is not Op.IN and op is not Op.IS_NULL:
        return _of_int_range(attribute, op, operand, positive)
    if op is Op.LT and operand == "":
        return False
    if op is Op.GE and operand == "":
        return _present(attribute, kind)
    return Literal(Predicate(attribute, kind, op, operand), positive)


def _present(attribute: str, kind: Type) -> Literal:
    return Literal(Predicate(attribute, kind, Op.IS_NULL), False)


def _of_bool(attribute: str, values: tuple[bool, ...], positive: bool) -> Literal | bool:
    """Of two values, not one is the other."""
    if len(values) == 2:
        return _present(attribute, Type.BOOL) if positive else False
    value = values[0] is positive
    return Literal(Predicate(attribute, Type.BOOL, Op.IN, (value,)))


def _of_int_range(attribute: str, op: Op, operand: Any, positive: bool) -> Literal | bool:
    """Ranges of integers have closed bounds, and fewer bounds where one says nothing."""
    if op is Op.BETWEEN:
        low, high = operand
    elif op is Op.GE or op is Op.GT:
        low, high = operand, INT_MAX
        low += op is Op.GT
    else:
        low, high = INT_MIN, operand
        high -= op is Op.LT
    if low > high:
        return False
    if low == INT_MIN and high == INT_MAX:
        return _present(attribute, Type.INT) if positive else False
    if not positive and low == INT_MIN:
        low, high, positive = high + 1, INT_MAX, True
    elif not positive and high == INT_MAX:
        low, high, positive = INT_MIN, low - 1, True
    if low == high:
        op, operand = Op.IN, (low,)
    elif low == INT_MIN:
        op, operand = Op.LE, high
    elif high == INT_MAX:
        op, operand = Op.GE, low
    else:
        op, operand = Op.BETWEEN, (low, high)
    return Literal(Predicate(attribute, Type.INT, op, operand), positive)


def order_of(literal: Literal) -> tuple[str, int, tuple[Scalar, ...], bool]:
    """A key that sorts literals: by attribute, operator, operand, positive first."""
    p = literal.predicate
    return p.attribute, _RANK[p.op], p.values, not literal.positive


def _among(value: Any, ascending: Any) -> bool:
    place = bisect_left(ascending, value)
    return place < len(ascending) and bool(ascending[place] == value)


# What each canonical predicate says of a present value; of a list, a frozenset of elements.
_HOLDS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.IN: _among,
    Op.LT: lambda value, operand: value < operand,
    Op.LE: lambda value, operand: value <= operand,
    Op.GT: lambda value, operand: value > operand,
    Op.GE: lambda value, operand: value >= operand,
    Op.BETWEEN: lambda value, operand: operand[0] <= value <= operand[1],
    Op.STARTS_WITH: lambda value, operand: value.startswith(operand),
    Op.ENDS_WITH: lambda value, operand: value.endswith(operand),
    Op.CONTAINS: lambda value, operand: operand in value,
    Op.ANY_OF: lambda value, operand: not value.isdisjoint(operand),
    Op.ALL_OF: lambda value, operand: value.issuperset(operand),
    Op.IS_EMPTY: lambda value, operand: not value,
    Op.IS_NULL: lambda value, operand: False,
}


def holds(literal: Literal, value: Scalar | frozenset[Scalar]) -> bool:
    """Whether a literal is true of a value that is present."""
    p = literal.predicate
    return _HOLDS[p.op](value, p.operand) is literal.positive
