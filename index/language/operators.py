"""The operators of the language: a table with one row each.

All that depends on an operator reads its row: lexer, parser and printer its words, the checks its
types and operands, the JSON form its word, the normal form its negation, the engines in Python
what it says of a value. `index/native/src/language/operator.rs` is the same table for the Rust
core, and docs/language.md documents every row.

To add an operator that negates another one, add its row to both tables. An operator with a meaning
of its own also needs a test in the core (`engine/expression/encode.rs`); the reference evaluates
it on every event that has the attribute, until `reference/spaces.py` knows the values it covers.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum, auto
from typing import Any

from index.language import geometry
from index.language.types import Type


class Operands(Enum):
    """What follows an operator."""

    NONE = auto()
    ONE = auto()
    TEXT = auto()
    """One string that is not empty."""
    PATTERN = auto()
    """One string, a pattern."""
    BOUNDS = auto()
    """`low and high`, both inclusive, not reversed."""
    SET = auto()
    """`(a, b, …)`, at least one value."""
    NETWORKS = auto()
    """`('10.0.0.0/8', …)`, at least one network."""
    CIRCLE = auto()
    """`5 km of (latitude, longitude)`; the values are metres, latitude and longitude."""
    BOX = auto()
    """`((south, west), (north, east))`; the values are these four numbers."""
    POLYGON = auto()
    """`((latitude, longitude), …)`, at least three corners; the values are their numbers."""


Holds = Callable[[Any, Any], bool]
"""(present value, operand) → truth. A list attribute's value is a frozenset."""

LISTS = frozenset({Type.INT_LIST, Type.STRING_LIST})
STRINGS = frozenset({Type.STRING})
ADDRESSES = frozenset({Type.IP})
POINTS = frozenset({Type.POINT})
ORDERED = frozenset({Type.INT, Type.FLOAT, Type.STRING, Type.VERSION})
RANGED = ORDERED | ADDRESSES
SCALARS = RANGED | {Type.BOOL}
ALL = frozenset(Type)


@dataclass(frozen=True, slots=True)
class Row:
    """One operator; `Op` has these fields as attributes."""

    word: str
    types: frozenset[Type]
    operands: Operands
    holds: Holds
    if_missing: bool | None = None
    """Its value where the attribute is missing: unknown, except for `is null`."""
    negation: str | None = None
    """The operator that is false where this one is true. One row of a pair names the other."""
    negative: bool = False
    """Whether literals use its negation, with a sign, in place of it."""
    alias: str | None = None
    """Another spelling."""
    instead: str | None = None
    """On lists, for a scalar operator, or the reverse: the operator that was probably meant."""

    def negated(self, word: str, alias: str | None = None, instead: str | None = None) -> "Row":
        """The row of the operator that is the negation of this one."""
        return replace(
            self,
            word=word,
            holds=lambda value, operand: not self.holds(value, operand),
            if_missing=None if self.if_missing is None else not self.if_missing,
            negation=self.word,
            negative=True,
            alias=alias,
            instead=instead,
        )


class Op(Enum):
    """An operator, by its words in the language. Literals sort in the order of this table."""

    IN = Row("in", SCALARS, Operands.SET, lambda v, values: v in values, instead="any of")
    NOT_IN = IN.negated("not in", instead="none of")
    EQ = Row("=", SCALARS, Operands.ONE, operator.eq, instead="any of")
    NE = EQ.negated("!=", alias="<>", instead="none of")
    LT = Row("<", ORDERED, Operands.ONE, operator.lt)
    LE = Row("<=", ORDERED, Operands.ONE, operator.le)
    GT = Row(">", ORDERED, Operands.ONE, operator.gt, negation="<=")
    GE = Row(">=", ORDERED, Operands.ONE, operator.ge, negation="<")
    BETWEEN = Row("between", RANGED, Operands.BOUNDS, lambda v, ends: ends[0] <= v <= ends[1])
    NOT_BETWEEN = BETWEEN.negated("not between")
    STARTS_WITH = Row("starts with", STRINGS, Operands.TEXT, str.startswith)
    ENDS_WITH = Row("ends with", STRINGS, Operands.TEXT, str.endswith)
    CONTAINS = Row("contains", STRINGS, Operands.TEXT, operator.contains, instead="any of")
    LIKE = Row("like", STRINGS, Operands.PATTERN, lambda v, pattern: pattern.finds(v))
    MATCHES = Row("matches", STRINGS, Operands.PATTERN, lambda v, pattern: pattern.finds(v))
    IN_NETWORK = Row(
        "in network", ADDRESSES, Operands.NETWORKS, lambda v, nets: any(net.has(v) for net in nets)
    )
    NOT_IN_NETWORK = IN_NETWORK.negated("not in network")
    WITHIN = Row("within", POINTS, Operands.CIRCLE, geometry.in_circle)
    WITHIN_BOX = Row("within box", POINTS, Operands.BOX, geometry.in_box)
    WITHIN_POLYGON = Row("within polygon", POINTS, Operands.POLYGON, geometry.in_polygon)
    ANY_OF = Row("any of", LISTS, Operands.SET, lambda v, s: not v.isdisjoint(s), instead="in")
    NONE_OF = ANY_OF.negated("none of", instead="not in")
    ALL_OF = Row("all of", LISTS, Operands.SET, frozenset.issuperset, instead="=")
    IS_EMPTY = Row("is empty", LISTS, Operands.NONE, lambda v, _: not v, instead="is null")
    IS_NOT_EMPTY = IS_EMPTY.negated("is not empty", instead="is not null")
    IS_NULL = Row("is null", ALL, Operands.NONE, lambda v, _: False, if_missing=True)
    IS_NOT_NULL = IS_NULL.negated("is not null")
    # A bare bool attribute; the word is used in the JSON form only.
    HOLDS = Row("holds", frozenset({Type.BOOL}), Operands.NONE, lambda v, _: v)

    _value_: str
    word: str
    types: frozenset[Type]
    operands: Operands
    holds: Holds
    if_missing: bool | None
    negation: "Op | None"
    negative: bool
    alias: str | None
    instead: str | None

    def __new__(cls, row: Row) -> "Op":
        member = object.__new__(cls)
        member._value_ = row.word
        for field in fields(Row):
            setattr(member, field.name, getattr(row, field.name))
        return member

    # Enum's own __hash__ is a Python function; operators are hashed on every comparison of trees.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.word


OPERATORS: dict[str, Op] = {op.word: op for op in Op}

for _op in Op:
    if _op.negation is not None:
        _op.negation = OPERATORS[str(_op.negation)]
        _op.negation.negation = _op
