"""From the attributes that a client sent to an event: every value checked against the schema.

    {"country": "US", "age": 30, "segments": [3, 1, 3], "ref": None, "colour": "red"}
                          │ check_event
                          ▼
    {"country": "US", "age": 30, "segments": frozenset({1, 3})}     unknown: ("colour",)

`None` means missing. Undeclared attributes are left out and reported, since clients send more than
campaigns use. All problems are reported, not only the first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from index.language.schema import Schema
from index.language.types import BadValue, Scalar, Type, check_scalar, describe, with_article

Value = Scalar | frozenset[Scalar]
Event = dict[str, Value]


@dataclass(frozen=True, slots=True)
class EventProblem:
    """One problem of an event. `element` is the position in a list, if the problem is there."""

    attribute: str
    code: str
    message: str
    element: int | None = None

    def __str__(self) -> str:
        where = self.attribute if self.element is None else f"{self.attribute}[{self.element}]"
        return f"{where}: {self.message}" if where else self.message


class EventError(ValueError):
    """An event that cannot be matched, with all its problems."""

    def __init__(self, problems: list[EventProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


def read_event(data: bytes) -> dict[str, object]:
    """The attributes in JSON, not checked yet; `EventError` if they are not a JSON object.

    The native core reads JSON itself (`event_json.rs`) and passes on what it refuses.
    """
    try:
        event = json.loads(data.decode(), parse_constant=_refuse_constant)
        if isinstance(event, dict):
            "".join(event).encode()  # names must be Unicode: no lone surrogates
    except (ValueError, RecursionError) as e:
        raise EventError([EventProblem("", "event.json", f"this is not JSON: {e}")]) from None
    if not isinstance(event, dict):
        raise _not_an_object(event)
    return event


def check_event(event: object, schema: Schema) -> tuple[Event, tuple[str, ...]]:
    """The checked event and the names that the schema does not have, or `EventError`."""
    if not isinstance(event, Mapping):
        raise _not_an_object(event)
    checked: Event = {}
    unknown: list[str] = []
    problems: list[EventProblem] = []
    for name, value in event.items():
        attribute = schema.get(name) if isinstance(name, str) else None
        if attribute is None:
            if isinstance(name, str):
                unknown.append(name)
            else:
                message = f"an attribute's name is a string, not {describe(name)}"
                problems.append(EventProblem("", "event.name", message))
        elif value is not None:
            try:
                checked[name] = _check(name, value, attribute.type)
            except _Problem as e:
                problems.append(e.problem)
    if problems:
        raise EventError(problems)
    return checked, tuple(unknown)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


def _not_an_object(event: object) -> EventError:
    message = f"an event is an object of attributes, not {describe(event)}"
    return EventError([EventProblem("", "event.shape", message)])


class _Problem(Exception):
    def __init__(self, problem: EventProblem) -> None:
        super().__init__()
        self.problem = problem


def _check(name: str, value: object, kind: Type) -> Value:
    if not kind.is_list:
        try:
            return check_scalar(value, kind)
        except BadValue as bad:
            raise _Problem(EventProblem(name, bad.code, bad.message)) from None
    if not isinstance(value, list | tuple):
        message = f"expected {with_article(kind)}, got {describe(value)}"
        raise _Problem(EventProblem(name, "type.mismatch", message))
    elements = []
    for place, element in enumerate(value):
        try:
            elements.append(check_scalar(element, kind.element))
        except BadValue as bad:
            raise _Problem(EventProblem(name, bad.code, bad.message, place)) from None
    return frozenset(elements)
