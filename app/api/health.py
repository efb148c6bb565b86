"""`/healthz/live` and `/healthz/ready`: is the process there, and can it answer."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.errors.http_errors import CatchingUp, NotReady
from app.openapi.descriptions import Responses, documented
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
    """The event loop turns."""

    status: Literal["live"] = "live"


class Ready(BaseModel):
    """The service can answer: on which engine, from which place of the log, how stale."""

    status: Literal["ready"] = "ready"
    engine: Literal["native", "reference"]
    core_version: str | None
    epoch: str
    rev: int = Field(description="everything up to here is in the index")
    lag_revs: int = Field(description="so many changes are known of and not applied")
    stale_seconds: float | None = Field(
        description="for so long the database has not confirmed that nothing is missing; 0 while "
        "it does so each second, null before the first time"
    )
    poisoned: int = Field(description="so many objects are out, since a change was no good")


def _example(value: dict[str, Any]) -> Responses:
    return {200: {"content": {"application/json": {"example": value}}}}


# Both are async: they must answer from the event loop alone, never wait for a thread.


@router.get(
    "/live",
    summary="Is the process alive?",
    operation_id="live",
    responses=_example(LIVE),
)
async def live() -> Live:
    """Answers whenever the event loop turns, whatever else is down."""
    return Live()


@router.get(
    "/ready",
    summary="Can it take requests?",
    operation_id="ready",
    responses=_example(READY)
    | documented(loading=NotReady(25_000, 100_000), catching_up=CatchingUp(5_000)),
)
async def ready(state: CurrentState) -> Ready:
    """Answers 200 once the index is loaded and lacks only a few changes (`COPSE_READY_LAG_REVS`),
    and goes on so when the database or Redis goes away: it then says how stale the index may be."""
    engine, follower = state["engine"], state["feed"].follower
    view = follower.current
    if view is None:
        raise NotReady(*state["loading"].so_far)
    if not state["readiness"].is_ready():
        raise CatchingUp(follower.lag)
    return Ready(
        engine=engine.name,
        core_version=engine.version,
        epoch=view.place.epoch,
        rev=view.place.rev,
        lag_revs=follower.lag,
        stale_seconds=follower.stale_seconds,
        poisoned=len(view.poisoned),
    )
