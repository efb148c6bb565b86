"""The state of a running service: the lifespan makes it, the routes get it."""

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypedDict, cast

from fastapi import Depends, Request

from app.api.forecaster import Forecaster
from app.match.context import MatchSettings
from app.match.names import CampaignNames
from app.match.recorder import Recorder
from app.observability.engine import EngineInfo
from app.observability.logging import START
from app.operators.runtime import Operators
from app.workers.standby import Standby
from campaigns.feed.service import WorkerFeed
from campaigns.store import Store

log = logging.getLogger(START)

FIRST_REPORT_SECONDS = 2.0
NEXT_REPORT_SECONDS = 5.0
"""How often the progress of a long load is logged."""


@dataclass
class Loading:
    """The progress of a load of the index: `(loaded, total)` campaigns."""

    progress: tuple[int, int | None] = (0, None)
    _due: float = field(default_factory=lambda: time.monotonic() + FIRST_REPORT_SECONDS)

    def update(self, loaded: int, total: int) -> None:
        """Progress callback: `loaded` of `total` campaigns are in the index."""
        if loaded < (self.progress[0] or 0):  # another load
            self._due = time.monotonic() + FIRST_REPORT_SECONDS
        self.progress = (loaded, total)
        if time.monotonic() >= self._due:
            log.info("loading %s of %s campaigns", f"{loaded:,}", f"{total:,}")
            self._due = time.monotonic() + NEXT_REPORT_SECONDS


class State(TypedDict):
    """The lifespan's state; there are no global clients."""

    engine: EngineInfo
    store: Store
    feed: WorkerFeed
    loading: Loading
    standby: Standby
    recorder: Recorder
    names: CampaignNames
    match_settings: MatchSettings
    run_directory: Path
    forecaster: Forecaster
    operators: Operators


# These are coroutines because FastAPI would run plain functions in a thread, which takes longer.
async def _state(request: Request) -> State:
    return cast(State, request.scope["state"])


async def _store(request: Request) -> Store:
    return cast(State, request.scope["state"])["store"]


CurrentState = Annotated[State, Depends(_state)]
CurrentStore = Annotated[Store, Depends(_store)]
