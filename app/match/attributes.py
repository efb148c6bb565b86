"""The attributes of a request for people: everything that is wrong with them, and those that the
catalogue does not have, with what was probably meant."""

from collections.abc import Container, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from app.errors.http_errors import Invalid
from app.errors.problems import ProblemItem, item, pointer_to
from campaigns.catalogue.model import BUILT_IN_NAMES
from index import EventError, Schema
from index.event import EventProblem, check_event

WRONG_ATTRIBUTES = "The attributes are not valid."
MOST_HINTS = 10


class Ignored(NamedTuple):
    """The unknown attributes of a request, and hints about some of them."""

    names: list[str]
    hints: list[str]


def unknown(attributes: Iterable[str], known: Container[str]) -> list[str]:
    """The attributes that the catalogue does not have."""
    return [name for name in attributes if name not in known and name not in BUILT_IN_NAMES]


def ignored(attributes: Mapping[str, object], schema: Schema, known: Container[str]) -> Ignored:
    """The attributes that a match ignores."""
    names = unknown(attributes, known)
    hinted = ((name, _hint(name, attributes[name], schema)) for name in names[:MOST_HINTS])
    return Ignored(names, [f"{name}: {hint}" for name, hint in hinted if hint])


def wrong_attributes(
    attributes: Mapping[str, object],
    pointer: str,
    schema: Schema,
    known: Container[str] | None = None,
    builtins: Container[str] = BUILT_IN_NAMES,
) -> list[ProblemItem]:
    """All that is wrong with attributes; `pointer` is the place of their request in the body. With
    `known`, an unknown name is wrong, too; `builtins` cannot be sent."""
    try:
        check_event(attributes, schema)
        problems = []
    except EventError as error:
        problems = [each for each in error.problems if each.attribute not in builtins]
    problems += [
        EventProblem(name, "event.builtin", "it is built in and cannot be sent")
        for name in attributes
        if name in builtins
    ]
    items = [item_of(problem, pointer) for problem in problems]
    if known is not None:
        for place, name in enumerate(unknown(attributes, known)):
            hint = _hint(name, attributes[name], schema) if place < MOST_HINTS else None
            detail = f"there is no attribute {name}" + (f": {hint}" if hint else "")
            items.append(item(_pointer(pointer, name), "attribute.unknown", detail))
    return items


def refusal_of(error: EventError, pointer: str) -> Invalid:
    """The index's error about the attributes, with pointers into the body."""
    return Invalid(WRONG_ATTRIBUTES, *(item_of(each, pointer) for each in error.problems))


def item_of(problem: EventProblem, pointer: str) -> ProblemItem:
    """An error of the index, with a pointer into the body."""
    element = () if problem.element is None else (problem.element,)
    return item(_pointer(pointer, problem.attribute, *element), problem.code, problem.message)


def _pointer(pointer: str, *path: str | int) -> str:
    return pointer + pointer_to(("attributes", *path))


def _hint(name: str, value: object, schema: Schema) -> str | None:
    """What was probably meant by an unknown name."""
    if isinstance(value, dict):
        dotted = [f"{name}.{key}" for key in islice(value, MOST_HINTS)]
        shown = next((each for each in dotted if each in schema), dotted[0] if dotted else "a.b")
        return f"attributes do not nest, their names have dots: {shown}"
    near = schema.nearest(name)
    return f"did you mean {near}?" if near else None
