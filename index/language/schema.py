"""The catalogue of attributes that expressions and events may use.

Names are case-sensitive. Those of letters, digits, `_` and dots (`device.type`) stand in an
expression as they are, others in backticks. A name is never a keyword, in any case.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from index.language.calls import Call, Operator, call_of
from index.language.errors import SchemaError
from index.language.names import CALL, KEYWORDS, MAX_NAME, is_name
from index.language.nearest import Names
from index.language.types import Type


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a request: its name and its type (a `Type` or its name)."""

    name: str
    type: Type

    def __init__(self, name: str, type: Type | str) -> None:
        object.__setattr__(self, "name", _check_name(name))
        object.__setattr__(self, "type", _check_type(name, type))


class Schema:
    """An immutable set of attributes, by name, and of operators that can be called."""

    __slots__ = ("_attributes", "_names", "operators")

    def __init__(
        self, attributes: Iterable[Attribute] = (), operators: Iterable[Operator] = ()
    ) -> None:
        self._names: Names | None = None
        self.operators = {operator.name: operator for operator in operators}
        self._attributes: dict[str, Attribute] = {}
        for place, attribute in enumerate(attributes):
            if attribute.name in self._attributes:
                raise SchemaError(
                    "attribute.repeated",
                    f"the attribute {attribute.name} is declared twice",
                    place,
                )
            self._attributes[attribute.name] = attribute

    def get(self, name: str) -> Attribute | None:
        """The attribute of that name, if it is declared."""
        return self._attributes.get(name)

    def term(self, name: str) -> Attribute | None:
        """What a predicate can be about: an attribute, or a call whose arguments fit. An event has
        only attributes."""
        found = self._attributes.get(name)
        if found is not None or not name.startswith(CALL):
            return found
        call = call_of(name)
        operator = None if call is None else self.operators.get(call.operator)
        if call is None or operator is None:
            return None
        given = tuple(self._attributes.get(argument) for argument in call.arguments)
        types = tuple(each.type for each in given if each is not None)
        return called(call, operator) if types == operator.arguments else None

    def nearest(self, name: str) -> str | None:
        """The declared name that is most similar to `name`, if one is close."""
        if self._names is None:
            self._names = Names(self._attributes)
        return self._names.nearest(name)

    def __getitem__(self, name: str) -> Attribute:
        return self._attributes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._attributes

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self._attributes.values())

    def __len__(self) -> int:
        return len(self._attributes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Schema)
            and self._attributes == other._attributes
            and self.operators == other.operators
        )

    def __hash__(self) -> int:
        return hash(frozenset(self._attributes.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        operators = tuple(self.operators.values())
        return _schema_of, (tuple((each.name, each.type.value) for each in self), operators)

    def __repr__(self) -> str:
        return f"Schema({list(self)!r})"


@lru_cache(maxsize=4)
def _schema_of(pairs: tuple[tuple[str, str], ...], operators: tuple[Operator, ...] = ()) -> Schema:
    """A pickled schema: it is read again and again where it arrives."""
    return Schema((Attribute(name, type) for name, type in pairs), operators)


def called(call: Call, operator: Operator) -> Attribute:
    """The attribute that a predicate on the result of a call is about."""
    attribute = object.__new__(Attribute)  # its name is none that could be declared
    object.__setattr__(attribute, "name", str(call))
    object.__setattr__(attribute, "type", operator.result)
    return attribute


def _check_name(name: object) -> str:
    if not isinstance(name, str):
        raise SchemaError("attribute.name", f"an attribute's name is a string, not {name!r}")
    if not is_name(name):
        raise SchemaError(
            "attribute.name",
            f"{name[:MAX_NAME]!r} is not a name: 1 to {MAX_NAME} characters, no control ones, "
            "not call at the start",
        )
    if name.lower() in KEYWORDS:
        raise SchemaError("attribute.keyword", f"{name} is a word of the language, not a name")
    return name


def _check_type(name: str, kind: object) -> Type:
    try:
        return Type(kind)
    except ValueError:
        known = ", ".join(t.value for t in Type)
        raise SchemaError(
            "attribute.type", f"the type of {name} must be one of {known}, not {kind!r}"
        ) from None
