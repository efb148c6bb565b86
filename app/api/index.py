"""`/v1/index`: where each worker's index is, and what it holds."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.fields import Moment
from app.middleware.scopes import AnyCaller
from app.observability.status import STATUS
from app.openapi.descriptions import answers as documented_answers
from app.state import CurrentState
from app.workers.peers import ask_all

router = APIRouter(prefix="/v1/index", tags=["index"])


class PoisonedChange(BaseModel):
    """A change that could not be applied: its object is out until a good change comes."""

    rev: int
    kind: str
    object_id: str
    reason: str


class UsedStatistics(BaseModel):
    """The statistics that an index is arranged by."""

    id: int
    checksum: str
    window_to: Moment = Field(description="up to when they know the traffic")
    age_seconds: float = Field(description="how long ago that was")
    wanted_id: int | None = Field(
        description="those that should steer; another id while expressions are planned anew"
    )


class Worker(BaseModel):
    """The index of one process."""

    pid: int
    engine: str
    epoch: str | None = Field(description="the history that it follows; null while it loads")
    rev: int | None = Field(description="everything up to here is in the index")
    applied_at: Moment | None = Field(description="since when")
    lag_revs: int = Field(description="so many changes are known of and not applied")
    lag_seconds: float | None = Field(
        description="for so long nothing has confirmed that nothing is missing; 0 while it does"
    )
    digest: str | None = Field(
        description="of (id, version) of all campaigns in the index, 16 hex digits; "
        "`copse feed digest` prints that of the database"
    )
    campaigns: int
    memory_bytes: int = Field(description="what the index takes, in the native core; else 0")
    loading: str = Field(description="why a snapshot is being loaded; empty: none is")
    failing: list[str] = Field(description="what cannot be read now: stream, log, snapshot")
    resyncs: dict[str, int] = Field(description="by reason: how often the log was read instead")
    snapshots: dict[str, int] = Field(description="by reason: how often everything was loaded")
    applied: dict[str, int] = Field(description="by lane: how many changes were applied")
    poisoned: list[PoisonedChange]
    statistics: UsedStatistics | None = Field(
        description="what steers it; null: what it finds out by itself"
    )
    stats: dict[str, Any] = Field(description="what the engine says of itself")


class IndexReport(BaseModel):
    """The workers of the service."""

    workers: list[Worker]
    silent: list[str] = Field(default=[], description="workers that live and did not answer")


WORKER: dict[str, Any] = {
    "pid": 4711,
    "engine": "native",
    "epoch": "5f0c7d1e9a3b2c48",
    "rev": 42,
    "applied_at": "2026-11-16T10:00:00.012Z",
    "lag_revs": 0,
    "lag_seconds": 0.0,
    "digest": "bcd9dbb49673066b",
    "campaigns": 1,
    "memory_bytes": 5_128_950,
    "loading": "",
    "failing": [],
    "resyncs": {"gap": 1},
    "snapshots": {"start": 1},
    "applied": {"stream": 41, "log": 1},
    "poisoned": [
        {
            "rev": 17,
            "kind": "campaign",
            "object_id": "5",
            "reason": "RowError: row 0: unknown attribute",
        }
    ],
    "statistics": {
        "id": 3,
        "checksum": "9f2b5c1e7a604d38c1f0a6b2e4d7985a3c6e1b0f8d2a4c5e7b9f1a3d5c7e9b1d",
        "window_to": "2026-11-16T00:00:00Z",
        "age_seconds": 36000.0,
        "wanted_id": 3,
    },
    "stats": {"engine": "native", "attributes": 40, "expressions": 1},
}
REPORT = {"workers": [WORKER], "silent": []}

ASK_SECONDS = 5.0


@router.get(
    "",
    summary="Where the index is, and what it holds",
    responses=documented_answers(REPORT, scope=None, store=False),
)
async def read_index(_: AnyCaller, state: CurrentState) -> IndexReport:
    """Of every worker: its place in the log, how far behind it is, and what it holds. It asks the
    database nothing, so it answers when that is gone."""
    answers = await ask_all(state["run_directory"], STATUS, ASK_SECONDS)
    workers = sorted(answers.heard.items())
    return IndexReport(workers=[Worker(**told) for _, told in workers], silent=list(answers.silent))
