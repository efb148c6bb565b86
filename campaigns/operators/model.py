"""A registered operator: what targeting can call, how it is called, and what that may cost.

`docs/operators.md` is the guide. Arguments and result are the *signature*: campaigns are checked
against it, so it changes only while none of them calls the operator.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from campaigns.errors import FieldProblem
from campaigns.fields import ANY_TEXT, BadField, Integer, Kind, OneOf, Text, Types
from campaigns.log.changes import OPERATOR, NewChange, encode
from campaigns.record import CREATED_AT, UPDATED_AT, Field, Record, Rev, Version
from index.language import Operator, Type
from index.language.calls import RESULTS
from index.language.names import KEYWORDS

HTTP, PYTHON = "http", "python"
MAX_ARGUMENTS = 8
MAX_OPERATORS = 100
MAX_OPERATOR_NAME = 64

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class OperatorName(Kind):
    """The name of an operator: a word."""

    def __call__(self, value: object) -> str:
        name = Text(MAX_OPERATOR_NAME)(value)
        if not _NAME.fullmatch(name) or name.lower() in KEYWORDS:
            raise BadField("operator.name", "expected letters, digits and _, and no keyword")
        return name


@dataclass(frozen=True, slots=True)
class Url(Kind):
    """The address of a service, `http` or `https`, without a password in it."""

    def __call__(self, value: object) -> str:
        text = ANY_TEXT(value)
        try:
            parts = urlsplit(text)
            is_right = parts.scheme in ("http", "https") and bool(parts.hostname)
            is_right = is_right and parts.port != 0 and "@" not in parts.netloc
        except ValueError:
            is_right = False
        if not is_right or len(text) > 1000 or not text.isascii() or not text.isprintable():
            raise BadField("operator.url", "expected a URL like https://safety.example/score")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRecord(Record):
    """An operator as it is stored."""

    kind: ClassVar = OPERATOR

    name: Annotated[
        str,
        Field(
            OperatorName(),
            "letters, digits and _; what targeting calls",
            "brand_safety",
            fixed="an operator keeps its name: add another operator instead",
        ),
    ]
    type: Annotated[
        str,
        Field(
            OneOf((HTTP, PYTHON)),
            "`http`: a service at `url`; `python`: an entry point of the group `copse.operators`",
            HTTP,
        ),
    ]
    url: Annotated[
        str | None,
        Field(Url(), "where an `http` operator is called", "https://safety.example/score"),
    ] = None
    entry_point: Annotated[
        str | None, Field(Text(200), "the name of the entry point of a `python` operator")
    ] = None
    arguments: Annotated[
        tuple[str, ...],
        Field(Types(MAX_ARGUMENTS), "the types of the attributes that it gets", ["string"]),
    ]
    result: Annotated[
        str,
        Field(OneOf(tuple(each.value for each in RESULTS)), "the type of its result", "float"),
    ]
    description: Annotated[str, Field(Text(1000, blank=True), example="0 (unsafe) to 1")] = ""
    timeout_ms: Annotated[
        int, Field(Integer(1, 10_000), "a call that takes longer has failed", 50)
    ] = 50
    budget_ms: Annotated[
        int, Field(Integer(1, 60_000), "the most time for its calls in one request", 100)
    ] = 100
    cache_seconds: Annotated[
        int, Field(Integer(0, 30 * 86_400), "how long a result is used again", 300)
    ] = 300
    cache_entries: Annotated[
        int, Field(Integer(0, 1_000_000), "the most results that each worker remembers", 10_000)
    ] = 10_000
    cost_us: Annotated[
        int,
        Field(Integer(1, 60_000_000), "what a call costs, in µs, until that is measured", 5_000),
    ] = 5_000
    version: Version = 0
    rev: Rev = 0
    created_at: Annotated[datetime | None, CREATED_AT] = None
    updated_at: Annotated[datetime | None, UPDATED_AT] = None

    @property
    def signature(self) -> Operator:
        """What the language knows of it."""
        return Operator(self.name, tuple(map(Type, self.arguments)), Type(self.result))

    def change(self) -> NewChange:
        """Everything that a worker needs to call it."""
        content = {name: getattr(self, name) for name in SERVED}
        return NewChange(OPERATOR, self.name, encode(content))


SERVED = (
    *("name", "type", "url", "entry_point", "arguments", "result"),
    *("timeout_ms", "budget_ms", "cache_seconds", "cache_entries", "cost_us"),
)
"""The fields in a change."""


def served(content: Mapping[str, Any]) -> OperatorRecord:
    """An operator from a change, or from a row of these fields."""
    return OperatorRecord(**{**content, "arguments": tuple(content["arguments"])})


def check_target(operator: OperatorRecord) -> list[FieldProblem]:
    """An operator has a URL or an entry point, as its type says."""
    needed, other = ("url", "entry_point") if operator.type == HTTP else ("entry_point", "url")
    problems = []
    if getattr(operator, needed) is None:
        detail = f"an operator of type {operator.type} needs {needed}"
        problems.append(FieldProblem(f"/{needed}", "operator.target", detail))
    if getattr(operator, other) is not None:
        detail = f"an operator of type {operator.type} has no {other}"
        problems.append(FieldProblem(f"/{other}", "operator.target", detail))
    return problems
