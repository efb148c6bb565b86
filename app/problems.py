"""Problem details (RFC 9457): the shape of every error that leaves the service."""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MEDIA_TYPE = "application/problem+json"


class ProblemItem(BaseModel):
    """One thing that is wrong, and where."""

    model_config = ConfigDict(extra="allow")

    pointer: str = Field(
        description="a JSON pointer (RFC 6901) into the body; empty: the body as a whole",
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


def pointer_to(path: tuple[str | int, ...]) -> str:
    """The JSON pointer of a path of keys and positions."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def documented(**examples: Problem) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI `responses` of a route: each example under its status."""
    responses: dict[int | str, dict[str, Any]] = {}
    for name, problem in examples.items():
        response = responses.setdefault(
            problem.status,
            {
                "description": HTTPStatus(problem.status).phrase,
                "content": {
                    MEDIA_TYPE: {
                        "schema": {"$ref": "#/components/schemas/Problem"},
                        "examples": {},
                    }
                },
            },
        )
        response["content"][MEDIA_TYPE]["examples"][name] = {
            "summary": problem.detail,
            "value": problem.model_dump(mode="json"),
        }
    return responses
