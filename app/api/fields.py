"""Types of fields and parameters that several routes share."""

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from campaigns.database.pagination import MAX_LIMIT
from campaigns.fields import MAX_ID, MAX_NAME

Moment = Annotated[
    str,
    Field(
        description="a time with its zone (RFC 3339)",
        json_schema_extra={"format": "date-time"},
    ),
]
Id = Annotated[int, Field(ge=1, le=MAX_ID)]
Rev = Annotated[int, Field(ge=0, description="the position of the last write in the change log")]
PathId = Annotated[
    int, Path(ge=1, le=MAX_ID, openapi_examples={"first": {"summary": "the first one", "value": 1}})
]
"""In a path it is `{id:int}`, so that `/v1/campaigns/import` is not taken for an id."""


class Listing(BaseModel):
    """Which part of a list. Unknown parameters are an error: a misspelt filter would otherwise list
    everything."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=50, ge=1, le=MAX_LIMIT, description="the most items to return")
    cursor: str | None = Field(
        default=None, description="`next_cursor` of the previous page, with the same filters"
    )


TEXT_FILTER = Field(default=None, max_length=MAX_NAME, description="a substring, in any case")

NextCursor = Annotated[
    str | None, Field(description="send it as `cursor` for the next page; null on the last page")
]
