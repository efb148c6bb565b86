"""Kinds of fields that several shapes have."""

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from campaigns.database.pagination import MAX_LIMIT
from campaigns.fields import MAX_ID

Moment = Annotated[
    str,
    Field(
        description="a time with its zone (RFC 3339)",
        json_schema_extra={"format": "date-time"},
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Label = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
Id = Annotated[int, Field(ge=1, le=MAX_ID)]
Version = Annotated[int, Field(ge=0, description="counts the writes; the ETag is this in quotes")]
Rev = Annotated[int, Field(ge=0, description="the place of the last write in the log of changes")]
PathId = Annotated[int, Path(ge=1, le=MAX_ID, examples=[1])]
"""In a path it is `{id:int}`, so that `/v1/campaigns/import` is never taken for an id."""


class Listing(BaseModel):
    """Which part of a list. A parameter that is not known is refused, lest a misspelt filter
    shows everything."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=50, ge=1, le=MAX_LIMIT, description="how many at most")
    cursor: str | None = Field(
        default=None, description="`next_cursor` of the page before, with the same filters"
    )


TEXT_FILTER = Field(default=None, max_length=200, description="a part of it, in any case")

NextCursor = Annotated[
    str | None, Field(description="send it as `cursor` for the next page; null: this is the last")
]


def without_defaults(schema: dict[str, Any]) -> None:
    """For a patch: what is left out there is not the default."""
    for described in schema["properties"].values():
        described.pop("default", None)
