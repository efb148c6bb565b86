"""Predicates and literals: the leaves of every expression.

A *predicate* is an attribute, an operator and an operand, as somebody wrote it.
A *literal* is a predicate in canonical form with a sign: what the normal form and
the indexes are made of (see `literals.py` for the way from one to the other).

Operands by operator:

    = != < <= > >=  starts with  ends with  contains      one value
    between                                               (low, high), inclusive
    in  not in  any of  none of  all of                   a tuple without repeats
    is null … is not empty, a bare bool                   None
"""

from dataclasses import dataclass, field
from enum import Enum

from index.language.types import Scalar, Type

Operand = Scalar | tuple[Scalar, ...] | None


class Op(Enum):
    """An operator, by its spelling in the language."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    BETWEEN = "between"
    IN = "in"
    NOT_IN = "not in"
    ANY_OF = "any of"
    NONE_OF = "none of"
    ALL_OF = "all of"
    IS_EMPTY = "is empty"
    IS_NOT_EMPTY = "is not empty"
    STARTS_WITH = "starts with"
    ENDS_WITH = "ends with"
    CONTAINS = "contains"
    IS_NULL = "is null"
    IS_NOT_NULL = "is not null"
    HOLDS = "holds"
    """A bare `bool` attribute; it has no spelling of its own in an expression."""

    # Enum's own __hash__ is a Python function; operators are hashed on every comparison of trees.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


ON_EVERYTHING = frozenset({Op.IS_NULL, Op.IS_NOT_NULL})
ON_LISTS = frozenset({Op.ANY_OF, Op.NONE_OF, Op.ALL_OF, Op.IS_EMPTY, Op.IS_NOT_EMPTY})
ON_STRINGS = frozenset({Op.STARTS_WITH, Op.ENDS_WITH, Op.CONTAINS})
ON_ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE, Op.BETWEEN})
ON_SCALARS = frozenset({Op.EQ, Op.NE, Op.IN, Op.NOT_IN})

TAKES_SET = frozenset({Op.IN, Op.NOT_IN, Op.ANY_OF, Op.NONE_OF, Op.ALL_OF})
TAKES_NOTHING = ON_EVERYTHING | {Op.IS_EMPTY, Op.IS_NOT_EMPTY, Op.HOLDS}


@dataclass(frozen=True, slots=True)
class Predicate:
    """One condition on one attribute. It holds its attribute's type, so that `1`,
    `1.0` and `True` never make two predicates equal."""

    attribute: str
    type: Type
    op: Op
    operand: Operand = None

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values of the operand: none, one, or several."""
        if isinstance(self.operand, tuple):
            return self.operand
        return () if self.operand is None else (self.operand,)

    def __str__(self) -> str:
        if self.op is Op.HOLDS:
            return self.attribute
        values = map(print_value, self.values)
        if self.op is Op.BETWEEN:
            operand = " and ".join(values)
        elif self.op in TAKES_SET:
            operand = f"({', '.join(values)})"
        else:
            operand = "".join(values)
        return f"{self.attribute} {self.op.value} {operand}".rstrip()


@dataclass(frozen=True, slots=True)
class Literal:
    """A canonical predicate with a sign.

    A positive literal is true when its predicate is; a negative one when the
    attribute is present and the predicate is false. Neither is true of a missing
    attribute, `is null` alone excepted. The predicate's operator is one of `in`
    (one value or more, ascending), `<`, `<=`, `>`, `>=`, `between`, `starts with`,
    `ends with`, `contains`, `any of`, `all of`, `is empty`, `is null`; one-sided
    ranges are always positive.
    """

    predicate: Predicate
    positive: bool = True
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Once: indexes hash a literal for every space it covers, and a set may be huge.
        object.__setattr__(self, "_hash", hash((self.predicate, self.positive)))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        p = self.predicate
        op, operand = p.op, p.operand
        if op is Op.IN and len(p.values) == 1:
            op, operand = Op.EQ, p.values[0]
        if self.positive:
            return str(Predicate(p.attribute, p.type, op, operand))
        if op in _INVERSE:
            return str(Predicate(p.attribute, p.type, _INVERSE[op], operand))
        return f"not ({p})"


_INVERSE = {
    Op.EQ: Op.NE,
    Op.IN: Op.NOT_IN,
    Op.ANY_OF: Op.NONE_OF,
    Op.IS_EMPTY: Op.IS_NOT_EMPTY,
    Op.IS_NULL: Op.IS_NOT_NULL,
}


def print_value(value: Scalar) -> str:
    """A value as it is written in an expression; parsing it gives the value back."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
