"""`ETag` and `If-Match`: the version that a writer has seen.

An ETag is the version in quotes. A write with `If-Match: "4"` succeeds only if the object is still
at version 4; `*` matches any version. An ETag that the service never issued matches nothing.
"""

import re
from typing import Annotated

from fastapi import Depends, Header

from app.errors.http_errors import VersionRequired, WrongIfMatch

NO_VERSION = 0
"""A version that no object has."""

_TAG = re.compile(r'(W/)?"([!\x23-\x7e\x80-\xff]*)"')

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description='the ETag of the version that you read, like `"4"`, or `*` for any version',
        openapi_examples={
            "any": {"summary": "any version", "value": "*"},
            "seen": {"summary": "the version that you read", "value": '"4"'},
        },
    ),
]


def etag(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'


async def _optional(if_match: IfMatch = None) -> int | None:
    return _version_in(if_match)


async def _required(if_match: IfMatch = None) -> int | None:
    if if_match is None:
        raise VersionRequired
    return _version_in(if_match)


def _version_in(if_match: str | None) -> int | None:
    """The version in `If-Match`; None for `*`, or without the header."""
    if if_match is None or if_match.strip() == "*":
        return None
    tag = _TAG.fullmatch(if_match.strip())
    if tag is None:
        raise WrongIfMatch(if_match)
    weak, text = tag.groups()
    # RFC 9110 uses the strong comparison here: a weak tag never matches.
    known = not weak and text.isascii() and text.isdigit() and len(text) < 19
    return int(text) if known else NO_VERSION


SeenVersion = Annotated[int | None, Depends(_optional)]
RequiredVersion = Annotated[int | None, Depends(_required)]
