"""Predicates and literals: the leaves of every expression.

A *predicate* is an attribute, an operator and an operand, as written.
A *literal* is a predicate in canonical form with a sign. The normal form and the indexes
are made of literals; `literals.py` makes them from predicates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from index.language.address import Network
from index.language.derived import Bucket, Derived, Folded
from index.language.geometry import Point
from index.language.names import written_name
from index.language.operators import Op, Operands
from index.language.types import Scalar, Type
from index.language.version import Version

Operand = Scalar | tuple[Scalar, ...] | None
"""None, one value, `(low, high)`, or a set: a tuple without repeats. See `Op.operands`."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition on one attribute, or on what is derived from it. It has the type of what it
    compares, so that `1`, `1.0` and `True` never make two predicates equal."""

    attribute: str
    type: Type
    op: Op
    operand: Operand = None
    derived: Derived | None = None

    @property
    def key(self) -> str:
        """What it compares: the attribute, or what is derived from it."""
        return self.attribute if self.derived is None else self.derived

    def value_in(self, event: Mapping[str, Any]) -> Any:
        """What it compares in a checked event; None if it is missing."""
        value = event.get(self.attribute)
        return value if value is None or self.derived is None else self.derived.of(value)

    @property
    def subject(self) -> str:
        """What it compares, as it stands in an expression."""
        if isinstance(self.derived, Bucket):
            return self.derived.written()
        return written_name(self.attribute)

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values of the operand."""
        if isinstance(self.operand, tuple):
            return self.operand
        return () if self.operand is None else (self.operand,)

    def __str__(self) -> str:
        if self.op is Op.HOLDS:
            return self.subject
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
        folded = " ignoring case" if isinstance(self.derived, Folded) else ""
        return f"{self.subject} {self.op.word} {operand}".rstrip() + folded


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
        return str(replace(p, op=op, operand=operand))


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
