"""Whether an operator and its operands fit an attribute: from raw values to a `Predicate`.

The parser and the reader of the JSON form both call `make_predicate`, so every tree obeys the
rules of the language.
"""

from collections.abc import Sequence

from index.language import geometry
from index.language.address import Network, network_of
from index.language.derived import Bucket, Derived, Folded
from index.language.folding import fold
from index.language.names import CALL, written_name
from index.language.operators import Op, Operands
from index.language.pattern import pattern_of
from index.language.pattern_syntax import BadPattern, wildcards, written_wildcards
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


def make_predicate(
    attribute: Attribute, op: Op, operands: Sequence[object], derived: Derived | None = None
) -> Predicate:
    """The checked predicate, or `BadPredicate`."""
    kind = attribute.type
    if derived is not None:
        if kind not in derived.sources:
            raise _not_derived(attribute, derived)
        if attribute.name.startswith(CALL):
            message = "the case of the result of a call cannot be ignored"
            raise BadPredicate("type.operator", message, "let the operator answer in one case")
        kind = derived.type
    if kind not in op.types:
        raise _wrong_operator(attribute, kind, op)
    folds = isinstance(derived, Folded)
    shape = op.operands
    if shape is Operands.NONE:
        if folds:
            message = f"{op} compares no text, so there is no case to ignore"
            raise BadPredicate("type.operator", message, "leave out ignoring case")
        if attribute.name.startswith(CALL) and op is not Op.HOLDS:
            raise BadPredicate(
                "type.operator",
                f"{op} does not work on the result of a call",
                "a call that fails is unknown; ask whether its arguments are null",
            )
        return Predicate(attribute.name, kind, op, None, derived)
    if shape is Operands.NETWORKS:
        return Predicate(attribute.name, kind, op, _networks(op, operands))
    if kind is Type.POINT:
        return Predicate(attribute.name, kind, op, _area(op, operands))
    element = kind.element
    values: list[Scalar] = []
    try:
        for operand in operands:
            values.append(check_scalar(operand, element))
    except BadValue as bad:
        raise _wrong_value(attribute, kind, bad, len(values)) from None
    if folds and op is not Op.MATCHES:
        values = [fold(str(value)) for value in values]
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
                _around(attribute.name, op, low, high) or "swap them",
            )
        if kind is Type.IP and str(low)[0] != str(high)[0]:
            raise BadPredicate(
                "range.families", f"{op} needs two addresses of one kind, both IPv4 or both IPv6"
            )
        checked = (low, high)
    else:
        checked = values[0]
        if shape is Operands.PATTERN:
            op, checked = _pattern(op, str(checked), folds)
        if shape is Operands.TEXT and not checked:
            raise BadPredicate(
                "pattern.empty",
                f"the text after {op} is empty, which every string would satisfy",
                "use is not null to ask for any value",
                operand=0,
            )
    return Predicate(attribute.name, kind, op, checked, derived)


def bucket_of(attribute: Attribute, salt: object) -> Bucket:
    """What `bucket(attribute, salt)` derives, or `BadPredicate`."""
    try:
        checked = check_scalar(salt, Type.STRING)
    except BadValue as bad:
        message = bad.message if bad.code != "type.mismatch" else f"a salt is text, not {bad.got}"
        raise BadPredicate(bad.code, message, "write bucket(attribute, 'salt')", 0) from None
    return Bucket(attribute.name, attribute.type, str(checked))


def _pattern(op: Op, text: str, folds: bool) -> tuple[Op, Operand]:
    """The operator and the operand of a pattern. A `like` that another operator says is that one:
    the index finds those by the text itself."""
    try:
        if op is Op.MATCHES:
            if not text:
                message = "the pattern after matches is empty, which every string would satisfy"
                raise BadPattern("pattern.empty", message, "use is not null to ask for any value")
            return op, pattern_of(text, op.word, folds)
        pieces = wildcards(text)
        match pieces:
            case []:
                return Op.EQ, ""
            case [str(part)] if part:
                return Op.EQ, part
            case [str(part), None] if part:
                return Op.STARTS_WITH, part
            case [None, str(part)] if part:
                return Op.ENDS_WITH, part
            case [None, str(part), None] if part:
                return Op.CONTAINS, part
            case [None]:
                return Op.GE, ""
        return op, pattern_of(written_wildcards(pieces), op.word, folds)
    except BadPattern as bad:
        raise BadPredicate(bad.code, bad.message, bad.hint, 0) from None


_CYCLES = frozenset({"hour", "weekday"})
"""Names, after the last dot, of what starts again after its last value."""


def _around(name: str, op: Op, low: Scalar, high: Scalar) -> str | None:
    """How to write 22 to 6 o'clock: an expression says it in two ranges."""
    if name.rpartition(".")[2] not in _CYCLES:
        return None
    name = written_name(name)
    if op is Op.BETWEEN:
        return f"write ({name} >= {low} or {name} <= {high})"
    return f"write ({name} < {low} and {name} > {high})"


def _networks(op: Op, operands: Sequence[object]) -> tuple[Network, ...]:
    networks: list[Network] = []
    for place, text in enumerate(operands):
        network = text if isinstance(text, Network) else None
        if network is None and isinstance(text, str):
            network = network_of(text)
        if network is None:
            shown = f"'{text[:40]}'" if isinstance(text, str) else f"{text!r:.40}"
            message = f"{shown} is not a network, such as '10.0.0.0/8', or an address"
            raise BadPredicate("value.network", message, operand=place)
        if not isinstance(text, Network) and not _is_whole(str(text), network):
            raise BadPredicate(
                "value.network",
                f"'{text}' has bits beyond its prefix",
                f"did you mean '{network.readable}'?",
                place,
            )
        networks.append(network)
    if not networks:
        raise BadPredicate("set.empty", f"the set after {op} is empty")
    return tuple(dict.fromkeys(networks))


def _is_whole(text: str, network: Network) -> bool:
    """Whether a text has no bits beyond the prefix of its network."""
    return network_of(text.partition("/")[0]) == network.low


def _area(op: Op, operands: Sequence[object]) -> tuple[float, ...]:
    """The numbers of a circle, a box or a polygon."""
    numbers: list[float] = []
    for place, operand in enumerate(operands):
        try:
            numbers.append(check_scalar(operand, Type.FLOAT))  # type: ignore[arg-type]  # a double
        except BadValue as bad:
            message = bad.message if bad.code != "type.mismatch" else f"{bad.got} is no number"
            raise BadPredicate(bad.code, message, operand=place) from None
    if op.operands is Operands.CIRCLE:
        if not 0 < numbers[0] <= geometry.FARTHEST:
            message = "a distance is above 0 m and at most 20015 km, half way around the globe"
            raise BadPredicate("range.distance", message, operand=0)
    elif op.operands is Operands.POLYGON:
        corners = len(numbers) // 2
        if not 3 <= corners <= geometry.MOST_CORNERS:
            message = f"a polygon has 3 to {geometry.MOST_CORNERS} corners, this one has {corners}"
            raise BadPredicate("range.polygon", message)
    first = len(numbers) % 2
    for place in range(first, len(numbers), 2):
        if geometry.point_of(*numbers[place : place + 2]) is None:
            message = "a latitude is from -90 to 90 degrees, a longitude from -180 to 180"
            raise BadPredicate("value.point", message, "the latitude comes first", place)
    if op.operands is Operands.BOX and numbers[0] > numbers[2]:
        raise BadPredicate(
            "range.reversed",
            "the first corner of a box is the southern one",
            "write ((south, west), (north, east))",
        )
    return tuple(numbers)


def _not_derived(attribute: Attribute, derived: Derived) -> BadPredicate:
    is_type = f"{attribute.name} is {with_article(attribute.type)}"
    if isinstance(derived, Folded):
        return BadPredicate("type.operator", f"{is_type}, and ignoring case is for text only")
    return BadPredicate("type.operator", f"{is_type}; bucket takes a string or an int")


def _wrong_operator(attribute: Attribute, kind: Type, op: Op) -> BadPredicate:
    if op is Op.HOLDS:
        return BadPredicate(
            "type.bare",
            f"{attribute.name} is {with_article(kind)}; only a bool can stand alone",
            "compare it with a value, or ask whether it is null",
        )
    hint = f"use {op.instead}" if op.instead and kind.is_list is not _on_lists(op) else None
    if kind is Type.IP and op in (Op.LT, Op.LE, Op.GT, Op.GE):
        hint = "use in network, or between with both ends"
    return BadPredicate(
        "type.operator",
        f"{op} does not work on {attribute.name}, which is {with_article(kind)}",
        hint,
    )


_PLURALS = {Type.STRING: "strings", Type.VERSION: "versions", Type.IP: "addresses"}


def _on_lists(op: Op) -> bool:
    return all(kind.is_list for kind in op.types)


def _wrong_value(attribute: Attribute, kind: Type, bad: BadValue, place: int) -> BadPredicate:
    if bad.code != "type.mismatch":
        return BadPredicate(bad.code, bad.message, operand=place)
    takes = with_article(kind)
    what = f"{attribute.name} is {takes}"
    if kind.is_list:
        what += f", its elements are {kind.element}s"
    hint = None
    if bad.expected in (Type.STRING, Type.VERSION, Type.IP):
        hint = f"put quotes around {_PLURALS[bad.expected]}"
    elif bad.got == "a string":
        hint = "leave out the quotes"
    return BadPredicate("type.mismatch", f"{what}; this is {bad.got}", hint, place)
