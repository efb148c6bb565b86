"""Whether an operator and its operands fit an attribute: from raw values to a `Predicate`.

The parser and the reader of the JSON form both come through here, so that no
tree can hold what the language forbids.
"""

from collections.abc import Sequence

from index.language.predicate import (
    ON_EVERYTHING,
    ON_LISTS,
    ON_ORDERED,
    ON_SCALARS,
    ON_STRINGS,
    TAKES_NOTHING,
    TAKES_SET,
    Op,
    Operand,
    Predicate,
)
from index.language.schema import Attribute
from index.language.types import BadValue, Scalar, Type, check_scalar, with_article

_ALLOWED: dict[Type, frozenset[Op]] = {
    Type.BOOL: ON_EVERYTHING | ON_SCALARS | {Op.HOLDS},
    Type.INT: ON_EVERYTHING | ON_SCALARS | ON_ORDERED,
    Type.FLOAT: ON_EVERYTHING | ON_SCALARS | ON_ORDERED,
    Type.STRING: ON_EVERYTHING | ON_SCALARS | ON_ORDERED | ON_STRINGS,
    Type.INT_LIST: ON_EVERYTHING | ON_LISTS,
    Type.STRING_LIST: ON_EVERYTHING | ON_LISTS,
}

_ON_LISTS_INSTEAD = {
    Op.EQ: "any of",
    Op.IN: "any of",
    Op.CONTAINS: "any of",
    Op.NE: "none of",
    Op.NOT_IN: "none of",
}
_ON_SCALARS_INSTEAD = {
    Op.ANY_OF: "in",
    Op.ALL_OF: "=",
    Op.NONE_OF: "not in",
    Op.IS_EMPTY: "is null",
    Op.IS_NOT_EMPTY: "is not null",
}


class BadPredicate(ValueError):
    """An operator or an operand that does not fit; `operand` is the place of the
    value at fault, or None when it is the operator or all of them."""

    def __init__(
        self, code: str, message: str, hint: str | None = None, operand: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.operand = operand


def make_predicate(attribute: Attribute, op: Op, operands: Sequence[object]) -> Predicate:
    """The checked predicate, or `BadPredicate`."""
    kind = attribute.type
    if op not in _ALLOWED[kind]:
        raise _wrong_operator(attribute, op)
    if op in TAKES_NOTHING:
        return Predicate(attribute.name, kind, op)
    element = kind.element
    values: list[Scalar] = []
    try:
        for operand in operands:
            values.append(check_scalar(operand, element))
    except BadValue as bad:
        raise _wrong_value(attribute, bad, len(values)) from None
    checked: Operand
    if op in TAKES_SET:
        if not values:
            raise BadPredicate("set.empty", f"the set after {op} is empty")
        checked = tuple(dict.fromkeys(values))
    elif op is Op.BETWEEN:
        low, high = values
        if low > high:  # type: ignore[operator]  # both are of the attribute's type
            raise BadPredicate(
                "range.reversed",
                "the bounds of between are reversed: the first must not be above the second",
                "swap them",
            )
        checked = (low, high)
    else:
        checked = values[0]
        if op in ON_STRINGS and not checked:
            raise BadPredicate(
                "pattern.empty",
                f"the text after {op} is empty, which every string would satisfy",
                "use is not null to ask for any value",
                operand=0,
            )
    return Predicate(attribute.name, kind, op, checked)


def _wrong_operator(attribute: Attribute, op: Op) -> BadPredicate:
    kind = attribute.type
    instead = (_ON_LISTS_INSTEAD if kind.is_list else _ON_SCALARS_INSTEAD).get(op)
    if op is Op.HOLDS:
        return BadPredicate(
            "type.bare",
            f"{attribute.name} is {with_article(kind)}; only a bool can stand alone",
            "compare it with a value, or ask whether it is null",
        )
    return BadPredicate(
        "type.operator",
        f"{op} does not work on {attribute.name}, which is {with_article(kind)}",
        f"use {instead}" if instead else None,
    )


def _wrong_value(attribute: Attribute, bad: BadValue, place: int) -> BadPredicate:
    if bad.code != "type.mismatch":
        return BadPredicate(bad.code, bad.message, operand=place)
    takes = with_article(attribute.type)
    what = f"{attribute.name} is {takes}"
    if attribute.type.is_list:
        what += f", its elements are {attribute.type.element}s"
    hint = None
    if bad.expected is Type.STRING:
        hint = "put quotes around strings"
    elif bad.got == "a string":
        hint = "leave out the quotes"
    return BadPredicate("type.mismatch", f"{what}; this is {bad.got}", hint, place)
