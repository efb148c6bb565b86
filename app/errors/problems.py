"""Problem details (RFC 9457): the shape of every error that leaves the service."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MEDIA_TYPE = "application/problem+json"


class ProblemItem(BaseModel):
    """One error, and where it is."""

    model_config = ConfigDict(extra="allow")

    pointer: str = Field(
        description="a JSON pointer (RFC 6901) into the body, or a slash and the name of a "
        "parameter or header; empty for the whole request",
        examples=["/attributes/3/name"],
    )
    code: str = Field(description="stable; for programs", examples=["syntax.unexpected"])
    detail: str = Field(description="for people")


class ExpressionItem(ProblemItem):
    """One error in an expression, with its position in the text."""

    line: int = Field(description="from 1")
    column: int = Field(description="in characters, from 1")
    start: int = Field(description="offset of the first wrong character, from 0")
    end: int = Field(description="offset after the last wrong character")
    caret: str = Field(description="the message with the source line and a caret under the error")
    hint: str | None = Field(description="how to fix it")


def item(pointer: str, code: str, detail: str) -> ProblemItem:
    """One error of a problem."""
    return ProblemItem(pointer=pointer, code=code, detail=detail)


class Problem(BaseModel):
    """An error as RFC 9457 problem details."""

    type: str = Field(default="about:blank", description="the kind; `about:blank`: see the title")
    title: str
    status: int
    detail: str
    errors: list[ExpressionItem | ProblemItem] = Field(
        default_factory=list[ExpressionItem | ProblemItem]
    )


class StaleProblem(Problem):
    """The object has changed since it was read."""

    current_version: int = Field(description="read the object again, send this in If-Match")


class InUseProblem(Problem):
    """Campaigns still use the object."""

    campaign_ids: list[int] = Field(description="the first campaigns")
    total: int = Field(description="the number of campaigns")


class BehindProblem(Problem):
    """The index has not reached the requested rev."""

    epoch: str
    rev: int = Field(description="the rev of the index")


class GateProblem(Problem):
    """Statistics that did not pass the gates."""

    findings: list[dict[str, Any]] = Field(
        description="what the gates found: gate, detail, attribute, value, limit"
    )


SHAPES = (Problem, StaleProblem, InUseProblem, BehindProblem, GateProblem)


def pointer_to(path: tuple[str | int, ...]) -> str:
    """The JSON pointer of a path of keys and positions."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
