"""Problem details (RFC 9457): the shape of every error that leaves the service."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MEDIA_TYPE = "application/problem+json"


class ProblemItem(BaseModel):
    """One thing that is wrong, and where."""

    model_config = ConfigDict(extra="allow")

    pointer: str = Field(
        description="a JSON pointer (RFC 6901) into the body, or a slash and the name of a "
        "parameter or header; empty: the request as a whole",
        examples=["/attributes/3/name"],
    )
    code: str = Field(description="stable, for programs", examples=["syntax.unexpected"])
    detail: str = Field(description="for people")


class ExpressionItem(ProblemItem):
    """One error in an expression, with its place in the text."""

    line: int = Field(description="from 1")
    column: int = Field(description="in characters, from 1")
    start: int = Field(description="offset of the first wrong character, from 0")
    end: int = Field(description="offset after the last one")
    caret: str = Field(description="the message with the source line and a caret under the place")
    hint: str | None = Field(description="what to do about it")


class Problem(BaseModel):
    """An error as RFC 9457 problem details."""

    type: str = Field(default="about:blank", description="the kind; this one means: see title")
    title: str
    status: int
    detail: str
    errors: list[ExpressionItem | ProblemItem] = Field(
        default_factory=list[ExpressionItem | ProblemItem]
    )


class StaleProblem(Problem):
    """The object has been written since it was read."""

    current_version: int = Field(description="read the object again, and send this in If-Match")


class InUseProblem(Problem):
    """Campaigns stand in the way."""

    campaign_ids: list[int] = Field(description="the first of them")
    total: int = Field(description="how many there are")


class BehindProblem(Problem):
    """The index is not yet where it should be."""

    epoch: str
    rev: int = Field(description="where it is")


class GateProblem(Problem):
    """Statistics that the gates did not let pass."""

    findings: list[dict[str, Any]] = Field(
        description="what stands against them: gate, detail, attribute, value, limit"
    )


SHAPES = (Problem, StaleProblem, InUseProblem, BehindProblem, GateProblem)


def pointer_to(path: tuple[str | int, ...]) -> str:
    """The JSON pointer of a path of keys and positions."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
