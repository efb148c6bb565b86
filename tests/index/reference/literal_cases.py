"""Random literals and events, and an oracle that is independent of the index."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from index.event import Value
from index.language.operators import Op
from index.language.predicate import Literal, Operand, Predicate
from index.language.types import Type


def literal(attribute: str, op: Op, operand: Operand = None, *, positive: bool = True) -> Literal:
    """A literal; the attribute's first letter is its type."""
    return Literal(Predicate(attribute, TYPES[attribute[0]], op, operand), positive)


TYPES = {
    "b": Type.BOOL,
    "i": Type.INT,
    "f": Type.FLOAT,
    "s": Type.STRING,
    "l": Type.INT_LIST,
    "t": Type.STRING_LIST,
}

TEXTS = st.text(st.sampled_from("ab\ud7ff\ue000\U0010ffff"), max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "b": st.booleans(),
    "i": st.integers(-3, 3),
    "f": st.sampled_from([-1.5, -1.0, 0.0, 0.5, 1.0, 2.0]),
    "s": TEXTS,
    "l": st.integers(-2, 2),
    "t": TEXTS,
}

POINTS = [Op.IN]
RANGES = [Op.LT, Op.LE, Op.GT, Op.GE, Op.BETWEEN]
AFFIXES = [Op.STARTS_WITH, Op.ENDS_WITH, Op.CONTAINS]
LISTS = [Op.ANY_OF, Op.ALL_OF, Op.IS_EMPTY]
OPERATORS = {
    "b": POINTS,
    "i": POINTS + RANGES,
    "f": POINTS + RANGES,
    "s": POINTS + RANGES + AFFIXES,
    "l": LISTS,
    "t": LISTS,
}


@st.composite
def literals(draw: st.DrawFn, attributes: tuple[str, ...]) -> Literal:
    """A canonical literal on one of the attributes."""
    attribute = draw(st.sampled_from(attributes))
    values = VALUES[attribute[0]]
    op = draw(st.sampled_from([*OPERATORS[attribute[0]], Op.IS_NULL]))
    operand: Operand = None
    if op in (Op.IN, Op.ANY_OF, Op.ALL_OF):
        operand = tuple(sorted(draw(st.sets(values, min_size=1, max_size=4))))
    elif op is Op.BETWEEN:
        operand = tuple(sorted(draw(st.tuples(values, values))))
    elif op not in (Op.IS_EMPTY, Op.IS_NULL):
        operand = draw(values.filter(lambda value: value != "")) if op in AFFIXES else draw(values)
    one_sided = op in (Op.LT, Op.LE, Op.GT, Op.GE)
    return literal(attribute, op, operand, positive=one_sided or draw(st.booleans()))


def events(attributes: tuple[str, ...]) -> st.SearchStrategy[dict[str, Value]]:
    """Events that have some of the attributes."""
    return st.fixed_dictionaries({}, optional={a: values_of(a) for a in attributes})


def values_of(attribute: str) -> st.SearchStrategy[Value]:
    """What an event may have for an attribute."""
    values = VALUES[attribute[0]]
    return st.frozensets(values, max_size=3) if attribute[0] in "lt" else values


def is_true(literal: Literal, event: Mapping[str, Value]) -> bool:
    """Whether an event makes a literal true, by plain comparison: the oracle."""
    p = literal.predicate
    if p.attribute not in event:
        return literal.positive and p.op is Op.IS_NULL
    return _says(p.op, p.operand, event[p.attribute]) == literal.positive


def _says(op: Op, operand: Any, value: Any) -> bool:
    match op:
        case Op.IN:
            return any(value == one for one in operand)
        case Op.LT | Op.LE | Op.GT | Op.GE:
            strictly = value < operand if op.value[0] == "<" else value > operand
            return bool(strictly or (op.value[-1] == "=" and value == operand))
        case Op.BETWEEN:
            return not (value < operand[0] or value > operand[1])
        case Op.STARTS_WITH:
            return bool(value[: len(operand)] == operand)
        case Op.ENDS_WITH:
            return bool(value[-len(operand) :] == operand)
        case Op.CONTAINS:
            return any(value[i : i + len(operand)] == operand for i in range(len(value)))
        case Op.ANY_OF:
            return any(one in value for one in operand)
        case Op.ALL_OF:
            return all(one in value for one in operand)
        case Op.IS_EMPTY:
            return len(value) == 0
        case _:
            return False
