"""Predicates and literals: the leaves of every expression.

A *predicate* is an attribute, an operator and an operand, as written.
A *literal* is a predicate in canonical form with a sign. The normal form and the indexes
are made of literals; `literals.py` makes them from predicates.
"""

from dataclasses import dataclass, field

from index.language.operators import Op, Operands
from index.language.types import Scalar, Type

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
            return self.attribute
        values = map(print_value, self.values)
        if self.op.operands is Operands.BOUNDS:
            operand = " and ".join(values)
        elif self.op.operands is Operands.SET:
            operand = f"({', '.join(values)})"
        else:
            operand = "".join(values)
        return f"{self.attribute} {self.op.word} {operand}".rstrip()


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
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
