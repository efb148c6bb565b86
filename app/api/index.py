"""`/v1/index`: the status of each worker's index."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.fields import Moment
from app.middleware.scopes import AnyCaller
from app.observability.status import STATUS
from app.openapi.responses import answers as documented_answers
from app.state import CurrentState
from app.workers.peers import ask_all

router = APIRouter(prefix="/v1/index", tags=["index"])


class PoisonedChange(BaseModel):
    """A change that could not be applied; its object is left out until the next valid change."""

    rev: int
    kind: str
    object_id: str
    reason: str


class UsedStatistics(BaseModel):
    """The statistics that an index uses."""

    id: int
    checksum: str
    window_to: Moment = Field(description="end of the traffic that they cover")
    age_seconds: float = Field(description="seconds since then")
    wanted_id: int | None = Field(
        description="the active statistics; another id while the index is being replanned"
    )


class OwnPlans(BaseModel):
    """Plans by the events that the index has sampled itself, while there are no statistics."""

    replans: int = Field(description="times that all campaigns were planned by them")
    sampled_events: int = Field(description="size of the sample now")
    planned_events: int = Field(description="size of the sample in use; 0: the plans use none")
    drift: float = Field(description="how far the traffic has moved since, from 0 to 1")
    last_seconds: float | None = Field(description="how long the last time took")


class Worker(BaseModel):
    """The index of one process."""

    pid: int
    engine: str
    epoch: str | None = Field(description="the epoch that it follows; null while it loads")
    rev: int | None = Field(description="the index has every change up to this rev")
    applied_at: Moment | None = Field(description="when that change was applied")
    lag_revs: int = Field(description="number of known changes that are not applied yet")
    lag_seconds: float | None = Field(
        description="seconds since the database last confirmed that no change is missing"
    )
    digest: str | None = Field(
        description="digest of (id, version) of all campaigns in the index, 16 hex digits; "
        "`copse feed digest` prints that of the database"
    )
    campaigns: int
    memory_bytes: int = Field(description="memory of the index in the native core; else 0")
    memory_parts: dict[str, int] = Field(description="the same by part of the index")
    resident_bytes: int | None = Field(description="resident memory of the whole process")
    huge_page_bytes: int | None = Field(description="the part of it that lies in huge pages")
    loading: str = Field(description="why all campaigns are being loaded; empty if they are not")
    failing: list[str] = Field(description="what cannot be read now: stream, log, snapshot")
    resyncs: dict[str, int] = Field(
        description="times the log was read instead of the stream, by reason"
    )
    snapshots: dict[str, int] = Field(description="times all campaigns were loaded, by reason")
    applied: dict[str, int] = Field(description="number of applied changes, by source")
    poisoned: list[PoisonedChange]
    statistics: UsedStatistics | None = Field(
        description="the statistics in use; null: the index uses its own counts"
    )
    own_plans: OwnPlans
    postings_read: float | None = Field(
        description="postings that a match reads, a running mean; null unless the engine is native"
    )
    stats: dict[str, Any] = Field(description="statistics of the engine itself")


class IndexReport(BaseModel):
    """The workers of the service."""

    workers: list[Worker]
    silent: list[str] = Field(default=[], description="workers that run and did not answer")


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
    "memory_parts": {"programs": 4_194_304, "postings": 934_646},
    "resident_bytes": 98_041_856,
    "huge_page_bytes": 4_194_304,
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
    "own_plans": {
        "replans": 0,
        "sampled_events": 64,
        "planned_events": 0,
        "drift": 0.0,
        "last_seconds": None,
    },
    "postings_read": 310.5,
    "stats": {"engine": "native", "attributes": 40, "expressions": 1},
}
REPORT = {"workers": [WORKER], "silent": []}

ASK_SECONDS = 5.0


@router.get(
    "",
    summary="Status of the index of each worker",
    responses=documented_answers(REPORT, scope=None, store=False),
)
async def read_index(_: AnyCaller, state: CurrentState) -> IndexReport:
    """For each worker: its position in the log, its lag, and what its index contains. It does not
    use the database, so it answers while that is down."""
    answers = await ask_all(state["run_directory"], STATUS, ASK_SECONDS)
    workers = sorted(answers.heard.items())
    return IndexReport(
        workers=[Worker(**status) for _, status in workers], silent=list(answers.silent)
    )
