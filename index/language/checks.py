"""Whether an operator and its operands fit an attribute: from raw values to a `Predicate`.

The parser and the reader of the JSON form both call `make_predicate`, so every tree obeys the
rules of the language.
"""

from collections.abc import Sequence

from index.language.operators import Op, Operands
from index.language.predicate import Operand, Predicate
from index.language.schema import Attribute
from index.language.types import BadValue, Scalar, Type, check_scalar, with_article


class BadPredicate(ValueError):
    """An operator or an operand that does not fit. `operand` is the index of the wrong value,
    or None if the operator or all values together are wrong."""

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
    if kind not in op.types:
        raise _wrong_operator(attribute, op)
    shape = op.operands
    if shape is Operands.NONE:
        return Predicate(attribute.name, kind, op)
    element = kind.element
    values: list[Scalar] = []
    try:
        for operand in operands:
            values.append(check_scalar(operand, element))
    except BadValue as bad:
        raise _wrong_value(attribute, bad, len(values)) from None
    checked: Operand
    if shape is Operands.SET:
        if not values:
            raise BadPredicate("set.empty", f"the set after {op} is empty")
        checked = tuple(dict.fromkeys(values))
    elif shape is Operands.BOUNDS:
        low, high = values
        if low > high:  # type: ignore[operator]  # both are of the attribute's type
            raise BadPredicate(
                "range.reversed",
                f"the bounds of {op} are reversed: the first must not be above the second",
                "swap them",
            )
        checked = (low, high)
    else:
        checked = values[0]
        if shape is Operands.TEXT and not checked:
            raise BadPredicate(
                "pattern.empty",
                f"the text after {op} is empty, which every string would satisfy",
                "use is not null to ask for any value",
                operand=0,
            )
    return Predicate(attribute.name, kind, op, checked)


def _wrong_operator(attribute: Attribute, op: Op) -> BadPredicate:
    kind = attribute.type
    if op is Op.HOLDS:
        return BadPredicate(
            "type.bare",
            f"{attribute.name} is {with_article(kind)}; only a bool can stand alone",
            "compare it with a value, or ask whether it is null",
        )
    return BadPredicate(
        "type.operator",
        f"{op} does not work on {attribute.name}, which is {with_article(kind)}",
        f"use {op.instead}" if op.instead and kind.is_list is not _on_lists(op) else None,
    )


def _on_lists(op: Op) -> bool:
    return all(kind.is_list for kind in op.types)


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
