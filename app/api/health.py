"""`/healthz/live` and `/healthz/ready`: is the process alive, and can it answer requests?"""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.errors.http_errors import CatchingUp, NotReady, OthersLoading
from app.openapi.responses import Responses, documented
from app.state import CurrentState

router = APIRouter(prefix="/healthz", tags=["health"])

LIVE = {"status": "live"}
READY = {
    "status": "ready",
    "engine": "native",
    "core_version": "0.1.0",
    "epoch": "5f0c7d1e9a3b2c48",
    "rev": 42,
    "lag_revs": 0,
    "stale_seconds": 0.0,
    "poisoned": 0,
}


class Live(BaseModel):
    """The event loop runs."""

    status: Literal["live"] = "live"


class Ready(BaseModel):
    """The service can answer: its engine, its position in the log, and its lag."""

    status: Literal["ready"] = "ready"
    engine: Literal["native", "reference"]
    core_version: str | None
    epoch: str
    rev: int = Field(description="the index has every change up to this rev")
    lag_revs: int = Field(description="number of known changes that are not applied yet")
    stale_seconds: float | None = Field(
        description="seconds since the database last confirmed that no change is missing; 0 while "
        "it does so each second, null before the first time"
    )
    poisoned: int = Field(
        description="number of objects that are left out because a change could not be applied"
    )


def _example(value: dict[str, Any]) -> Responses:
    return {200: {"content": {"application/json": {"example": value}}}}


# Both are async: they must answer from the event loop, without waiting for a thread.


@router.head("/live", include_in_schema=False)
@router.get(
    "/live",
    summary="Is the process alive?",
    operation_id="live",
    responses=_example(LIVE),
)
async def live() -> Live:
    """Answers whenever the event loop runs, whatever else is down."""
    return Live()


@router.head("/ready", include_in_schema=False)
@router.get(
    "/ready",
    summary="Can it answer requests?",
    operation_id="ready",
    responses=_example(READY)
    | documented(loading=NotReady(25_000, 100_000), catching_up=CatchingUp(5_000)),
)
async def ready(state: CurrentState) -> Ready:
    """200 once the index is loaded and only a few changes are missing (`COPSE_READY_LAG_REVS`), and
    no other worker accepts connections before it is ready, too. It stays 200 when the database or
    Redis goes down, and then says how stale the index may be."""
    engine, follower = state["engine"], state["feed"].follower
    view = follower.current
    if view is None:
        raise NotReady(*state["loading"].progress)
    standby = state["standby"]
    if not standby.is_ready():
        raise CatchingUp(follower.lag)
    if not standby.is_known:
        raise OthersLoading
    return Ready(
        engine=engine.name,
        core_version=engine.version,
        epoch=view.place.epoch,
        rev=view.place.rev,
        lag_revs=follower.lag,
        stale_seconds=follower.stale_seconds,
        poisoned=len(view.poisoned),
    )
