"""From a predicate to its canonical literal, or to a constant.

Predicates with the same meaning become one literal:

    age < 18, not (age >= 18)         age <= 17
    vip, vip = true, vip != false     vip = true
    country in ('US')                 country = 'US'
    tags all of (3)                   tags any of (3)
    age between 5 and 5               age = 5
    ip = '10.0.0.1'                   ip in network ('10.0.0.1')
    bucket(id, 's') is null           id is null

Only the *truth* of a literal matters: negations have been pushed down, so false and unknown are
the same. Therefore `vip in (true, false)` may become `vip is not null`, and a literal must never
be negated: negate the predicate and make a literal of that.
"""

from bisect import bisect_left
from typing import Any

from index.language.address import largest
from index.language.derived import BUCKETS, Bucket
from index.language.operators import Op, Operands
from index.language.predicate import Literal, Predicate
from index.language.types import INT_MAX, INT_MIN, Scalar, Type

_RANK = {op: rank for rank, op in enumerate(Op)}


def literal_of(predicate: Predicate, positive: bool = True) -> Literal | bool:
    """The canonical literal that is true exactly when the predicate (or, if not `positive`,
    its negation) is true; False if no value makes it true."""
    kind = predicate.type
    op = predicate.op
    operand: Any = predicate.operand  # its shape depends on the operator
    negation = op.negation
    if negation and (op.negative or not (positive or negation.negative)):
        op, positive = negation, not positive

    if op is Op.HOLDS:
        op, operand = Op.IN, (True,)
    elif op is Op.EQ:
        op, operand = Op.IN, (operand,)
    elif op is Op.BETWEEN and operand[0] == operand[1]:
        op, operand = Op.IN, (operand[0],)
    elif op is Op.ALL_OF and len(operand) == 1:
        op = Op.ANY_OF
    if kind is Type.IP and op is Op.IN:
        op = Op.IN_NETWORK
    if op is Op.IN_NETWORK:
        operand = largest(operand)
    elif op.operands is Operands.SET:
        operand = tuple(sorted(operand))

    if op is Op.IS_NULL:
        return Literal(_null(predicate), positive)
    if kind is Type.BOOL and op is Op.IN:
        return _of_bool(predicate, operand, positive)
    if kind is Type.INT and op is not Op.IN:
        return _of_int_range(predicate, op, operand, positive)
    if kind is Type.INT and isinstance(predicate.derived, Bucket):
        operand = tuple(value for value in operand if 0 <= value < BUCKETS)
        if not operand:
            return False if positive else _present(predicate)
    least = 0 if kind is Type.VERSION else ""
    if op is Op.LT and operand == least:
        return False
    if op is Op.GE and operand == least:
        return _present(predicate)
    return Literal(_canonical(predicate, op, operand), positive)


def _canonical(predicate: Predicate, op: Op, operand: Any) -> Predicate:
    return Predicate(predicate.attribute, predicate.type, op, operand, predicate.derived)


def _null(predicate: Predicate) -> Predicate:
    """What is derived is missing where its attribute is."""
    kind = predicate.type if predicate.derived is None else predicate.derived.source
    return Predicate(predicate.attribute, kind, Op.IS_NULL)


def _present(predicate: Predicate) -> Literal:
    return Literal(_null(predicate), False)


def _of_bool(predicate: Predicate, values: tuple[bool, ...], positive: bool) -> Literal | bool:
    """There are two values: not one is the other."""
    if len(values) == 2:
        return _present(predicate) if positive else False
    value = values[0] is positive
    return Literal(_canonical(predicate, Op.IN, (value,)))


def _of_int_range(predicate: Predicate, op: Op, operand: Any, positive: bool) -> Literal | bool:
    """Ranges of integers have closed bounds, and no bound at the limits of the type."""
    least, most = (0, BUCKETS - 1) if isinstance(predicate.derived, Bucket) else (INT_MIN, INT_MAX)
    low, high = least, most
    if op is Op.BETWEEN:
        low, high = operand
    elif op is Op.GE or op is Op.GT:
        low = operand + (op is Op.GT)
    else:
        high = operand - (op is Op.LT)
    low, high = max(low, least), min(high, most)
    if low > high:
        return False if positive else _present(predicate)
    if low == least and high == most:
        return _present(predicate) if positive else False
    if not positive and low == least:
        low, high, positive = high + 1, most, True
    elif not positive and high == most:
        low, high, positive = least, low - 1, True
    if low == high:
        op, operand = Op.IN, (low,)
    elif low == least:
        op, operand = Op.LE, high
    elif high == most:
        op, operand = Op.GE, low
    else:
        op, operand = Op.BETWEEN, (low, high)
    return Literal(_canonical(predicate, op, operand), positive)


def order_of(literal: Literal) -> tuple[str, int, tuple[Scalar, ...], bool]:
    """A sort key of literals: attribute, operator, operand, positive first."""
    p = literal.predicate
    return p.key, _RANK[p.op], p.values, not literal.positive


def holds(literal: Literal, value: Scalar | frozenset[Scalar]) -> bool:
    """Whether a literal is true of a value that is present."""
    p = literal.predicate
    found = _is_member(value, p.operand) if p.op is Op.IN else p.op.holds(value, p.operand)
    return found is literal.positive


def _is_member(value: Any, ascending: Any) -> bool:
    """By bisection: a set may have 100,000 values."""
    place = bisect_left(ascending, value)
    return place < len(ascending) and bool(ascending[place] == value)
