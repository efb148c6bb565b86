"""`/v1/statistics`: the versions of the traffic statistics, and which one is active.

The nightly job adds versions; the API does not.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.api.fields import Listing, Moment, NextCursor, PathId, Rev
from app.api.resource import LIST_ERRORS, Errors
from app.middleware.scopes import Reader, StatisticsWriter
from app.openapi.responses import WRONG_ID, answers, wrong_parameter
from app.state import CurrentStore
from campaigns.errors import GateClosed, NoneActive, NotFound
from campaigns.statistics import service

READ, WRITE = "campaigns:read", "stats:write"

router = APIRouter(prefix="/v1/statistics", tags=["statistics"])

Share = Annotated[float, Field(ge=0, le=1)]


class Window(BaseModel):
    """The time that the statistics cover."""

    model_config = ConfigDict(serialize_by_alias=True)

    from_: Moment = Field(alias="from")
    to: Moment
    days: list[str] = Field(description="as in 2026-11-16")


class SampleSize(BaseModel):
    """The sampled requests that are kept with the statistics."""

    rows: int
    rate: Share = Field(description="the share of the requests that is in the sample")


class GateFinding(BaseModel):
    """The result of a gate."""

    gate: str = Field(description="rows, quarantine, drift, replay.matches or replay.cost")
    passed: bool
    detail: str
    attribute: str | None
    value: float | None
    limit: float | None


class AttributeDrift(BaseModel):
    """How far an attribute has drifted since the version before."""

    psi: float = Field(description="population stability index: 0.1 is little, 0.25 is a lot")
    chance: float = Field(default=0.0, description="what chance explains of it at most")
    presence_before: Share | None = Field(description="null: the version before does not have it")
    presence_after: Share | None = Field(description="null: this version does not have it")


class Drift(BaseModel):
    """The drift since the version before."""

    against: int = Field(description="the id of the version before")
    attributes: dict[str, AttributeDrift]


class StatisticsVersion(BaseModel):
    """A version of the statistics, without its document."""

    id: int
    checksum: str = Field(description="SHA-256 of the document, in hex")
    window: Window
    rows: int = Field(description="the rows of the impression log that it was made from")
    quarantined: int = Field(description="the rows that were malformed and skipped")
    requests: float = Field(description="the requests that the rows represent")
    sample: SampleSize
    gates: Literal["unjudged", "passed", "failed"]
    findings: list[GateFinding] = Field(description="the result of each gate")
    drift: Drift | None = Field(description="null for the first version")
    active: bool = Field(description="whether the indexes use it")
    previous_id: int | None = Field(description="the version before, for a roll-back")
    activated_at: Moment | None
    created_at: Moment
    rev: Rev


class StatisticsPage(BaseModel):
    """Versions, from the newest to the oldest."""

    items: list[StatisticsVersion]
    next_cursor: NextCursor
    active_id: int | None = Field(description="the active version; null if there is none")


class StatisticsWithDocument(StatisticsVersion):
    """A version with its document."""

    document: dict[str, Any] = Field(description="docs/statistics.md describes its format")


class Activation(BaseModel):
    """Options of an activation."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(default=False, description="activate it although it failed a gate; audited")


class RolledBack(BaseModel):
    """The active version after a roll-back."""

    active: StatisticsVersion | None = Field(
        description="null: each index uses only what it has seen itself"
    )
    rev: Rev


_FAILED: dict[str, Any] = {
    "gate": "drift",
    "passed": False,
    "detail": "age has drifted: PSI 0.41, of at most 0.25; "
    "it was in 60.0% of the requests and is in 22.0%",
    "attribute": "age",
    "value": 0.41,
    "limit": 0.25,
}
VERSION: dict[str, Any] = {
    "id": 3,
    "checksum": "9f2b5c1e7a604d38c1f0a6b2e4d7985a3c6e1b0f8d2a4c5e7b9f1a3d5c7e9b1d",
    "window": {
        "from": "2026-11-15T00:00:00Z",
        "to": "2026-11-16T00:00:00Z",
        "days": ["2026-11-15"],
    },
    "rows": 200_000,
    "quarantined": 12,
    "requests": 400_000.0,
    "sample": {"rows": 20_000, "rate": 0.05},
    "gates": "passed",
    "findings": [
        {
            "gate": "rows",
            "passed": True,
            "detail": "200000 rows, of at least 1000",
            "attribute": None,
            "value": 200_000.0,
            "limit": 1000.0,
        }
    ],
    "drift": {
        "against": 2,
        "attributes": {
            "age": {"psi": 0.012, "chance": 0.02, "presence_before": 0.6, "presence_after": 0.61}
        },
    },
    "active": True,
    "previous_id": 2,
    "activated_at": "2026-11-16T03:10:00Z",
    "created_at": "2026-11-16T03:09:40Z",
    "rev": 57,
}
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "window": VERSION["window"],
    "rows": 200_000,
    "quarantined": 12,
    "requests": 400_000.0,
    "requests_by_day": {"2026-11-15": 400_000.0},
    "attributes": {
        "age": {
            "type": "int",
            "presence": 0.61,
            "distinct": 80,
            "values": [[30, 0.02]],
            "histogram": [[18, 29, 0.21], [31, 80, 0.38]],
        }
    },
    "sample": {"rows": 20_000, "rate": 0.05, "checksum": "5c1e…"},
}
_MISSING: Errors = {"missing": NotFound("statistics", 3), "wrong_id": WRONG_ID}
_CLOSED: Errors = {
    "gate_closed": GateClosed(3, [_FAILED]),
    "unjudged": GateClosed(3, []),
    "wrong_force": wrong_parameter(
        "force", "bool_parsing", "Input should be a valid boolean, unable to interpret input"
    ),
}
ASKED: dict[str, Example] = {
    "passed": {"summary": "A version that passed the gates", "value": {}},
    "forced": {"summary": "A version that did not", "value": {"force": True}},
}


@router.get(
    "",
    summary="List the statistics",
    response_model=StatisticsPage,
    responses=answers(
        {"items": [VERSION], "next_cursor": None, "active_id": 3}, scope=READ, errors=LIST_ERRORS
    ),
)
async def list_statistics(
    _: Reader, store: CurrentStore, asked: Annotated[Listing, Query()]
) -> Response:
    """Lists versions from the newest on: what each was made from, the results of its gates, and how
    far every attribute has drifted since the version before."""
    page = await service.page(store, asked.limit, asked.cursor)
    active = await service.active(store)
    active_id = None if active is None else active.id
    return responses.several(page.items, next_cursor=page.next_cursor, active_id=active_id)


@router.get(
    "/{id:int}",
    summary="Read statistics",
    response_model=StatisticsWithDocument,
    responses=answers({**VERSION, "document": DOCUMENT}, scope=READ, errors=_MISSING),
)
async def read_statistics(_: Reader, store: CurrentStore, id: PathId) -> Response:
    """Returns a version with its document: presence, common values, histograms."""
    version = await service.get(store, id)
    document = await service.document(store, id)
    return responses.json({**version.to_dict(), "document": document})


@router.post(
    "/{id:int}/activate",
    summary="Activate statistics",
    response_model=StatisticsVersion,
    responses=answers(VERSION, scope=WRITE, body=True, errors=_MISSING | _CLOSED),
)
async def activate_statistics(
    caller: StatisticsWriter,
    store: CurrentStore,
    id: PathId,
    sent: Annotated[Activation, Body(openapi_examples=ASKED)] = Activation(),  # noqa: B008
) -> Response:
    """Makes every index use a version, through the feed; matching goes on meanwhile. A version that
    failed a gate is refused with the findings, unless it is forced. Statistics change the cost of a
    match, never its result."""
    return responses.json((await service.activate(store, caller.actor, id, sent.force)).to_dict())


@router.post(
    "/roll-back",
    summary="Roll statistics back",
    response_model=RolledBack,
    responses=answers(
        {"active": VERSION, "rev": 57}, scope=WRITE, errors={"none_active": NoneActive()}
    ),
)
async def roll_back_statistics(caller: StatisticsWriter, store: CurrentStore) -> Response:
    """Activates the version that was active before. If there was none, each index uses only what it
    has seen itself."""
    return responses.json((await service.roll_back(store, caller.actor)).to_dict())
