"""`/healthz/live` and `/healthz/ready`: is the process there, and can it answer."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from app.state import CurrentState

router = APIRouter(prefix="/healthz", tags=["health"])


class Live(BaseModel):
    """The event loop turns."""

    status: Literal["live"] = "live"


class Ready(BaseModel):
    """The service can answer, and on which engine."""

    status: Literal["ready"] = "ready"
    engine: Literal["native", "reference"]
    core_version: str | None


# Both are async: they must answer from the event loop alone, never wait for a thread.


@router.get("/live", summary="Is the process alive?")
async def live() -> Live:
    """Answers whenever the event loop turns, whatever else is down."""
    return Live()


@router.get("/ready", summary="Can it take requests?")
async def ready(state: CurrentState) -> Ready:
    """Answers once the service has started; says which engine it runs on."""
    engine = state["engine"]
    return Ready(engine=engine.name, core_version=engine.version)
