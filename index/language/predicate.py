"""Predicates and literals: the leaves of every expression.

A *predicate* is an attribute, an operator and an operand, as written.
A *literal* is a predicate in canonical form with a sign. The normal form and the indexes
are made of literals; `literals.py` makes them from predicates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from index.language.address import Network
from index.language.geometry import Point
from index.language.names import written_name
from index.language.operators import Op, Operands
from index.language.types import Scalar, Type
from index.language.version import Version

Operand = Scalar | tuple[Scalar, ...] | None
"""None, one value, `(low, high)`, or a set: a tuple without repeats. See `Op.operands`."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition on one attribute. It has the attribute's type, so that `1`, `1.0` and
    `True` never make two predicates equal."""

    attribute: str
    type: Type
    op: Op
    operand: Operand = None

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values of the operand."""
        if isinstance(self.operand, tuple):
            return self.operand
        return () if self.operand is None else (self.operand,)

    def __str__(self) -> str:
        if self.op is Op.HOLDS:
            return written_name(self.attribute)
        values = map(print_value, self.values)
        shape = self.op.operands
        if shape is Operands.BOUNDS:
            operand = " and ".join(values)
        elif shape is Operands.SET or shape is Operands.NETWORKS:
            operand = f"({', '.join(values)})"
        elif shape is Operands.CIRCLE:
            operand = f"{_distance(self.values[0])} of {_points(self.values[1:])}"
        elif shape is Operands.BOX or shape is Operands.POLYGON:
            operand = f"({_points(self.values)})"
        else:
            operand = "".join(values)
        return f"{written_name(self.attribute)} {self.op.word} {operand}".rstrip()


@dataclass(frozen=True, slots=True)
class Literal:
    """A canonical predicate with a sign.

    A positive literal is true when its predicate is true; a negative one when the attribute
    is present and the predicate is false. Neither is true of a missing attribute, except
    `is null`. The values of a set are ascending, and `=` is `in` with one value. An operator
    with a negation is never negative, unless that negation is (`Op.negative`).
    """

    predicate: Predicate
    positive: bool = True
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Computed once: indexes hash a literal for every space it covers, and a set may be huge.
        object.__setattr__(self, "_hash", hash((self.predicate, self.positive)))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        p = self.predicate
        op, operand = p.op, p.operand
        if op is Op.IN and len(p.values) == 1:
            op, operand = Op.EQ, p.values[0]
        if not self.positive:
            if op.negation is None:
                return f"not ({p})"
            op = op.negation
        return str(Predicate(p.attribute, p.type, op, operand))


def print_value(value: Scalar) -> str:
    """A value as written in an expression; parsing it gives the value back."""
    if isinstance(value, Version):
        return f"'{value}'"
    if isinstance(value, Network):
        return f"'{value.readable}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _points(value.degrees) if isinstance(value, Point) else repr(value)


def _distance(metres: Any) -> str:
    """In kilometres, unless that is not exactly the same."""
    kilometres = metres / 1000
    if metres < 1000 or kilometres * 1000 != metres:
        return f"{_number(metres)} m"
    return f"{_number(kilometres)} km"


def _points(numbers: Sequence[Any]) -> str:
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return ", ".join(f"({_number(lat)}, {_number(lon)})" for lat, lon in pairs)


def _number(value: float) -> str:
    """Whole numbers without a point: an area takes integers too."""
    return repr(value).removesuffix(".0")
