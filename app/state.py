"""What the service holds while it runs: made by the lifespan, handed to the routes."""

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypedDict, cast

from fastapi import Depends, Request

from app.api.forecaster import Forecaster
from app.match.recorder import Watching
from app.observability.engine import Engine
from app.observability.logging import START
from app.workers.peers import Peer
from app.workers.readiness import Readiness
from campaigns.feed.service import WorkerFeed
from campaigns.store import Store
from index import Limits

log = logging.getLogger(START)

FIRST_WORD_SECONDS = 2.0
NEXT_WORD_SECONDS = 5.0
"""A load that takes long is told of, but not too often."""


@dataclass
class Loading:
    """How far a load of the index is: `(loaded, total)` campaigns."""

    so_far: tuple[int, int | None] = (0, None)
    _due: float = field(default_factory=lambda: time.monotonic() + FIRST_WORD_SECONDS)

    def tell(self, loaded: int, total: int) -> None:
        """The index has so many of so many."""
        if loaded < (self.so_far[0] or 0):  # another load
            self._due = time.monotonic() + FIRST_WORD_SECONDS
        self.so_far = (loaded, total)
        if time.monotonic() >= self._due:
            log.info("loading %s of %s campaigns", f"{loaded:,}", f"{total:,}")
            self._due = time.monotonic() + NEXT_WORD_SECONDS


class State(TypedDict):
    """The lifespan's state; there are no global clients."""

    engine: Engine
    limits: Limits
    store: Store
    feed: WorkerFeed
    loading: Loading
    readiness: Readiness
    watching: Watching
    peer: Peer
    run_directory: Path
    forecaster: Forecaster


# Asynchronous, though they wait for nothing: others are run in a thread, which takes longer.
async def _state(request: Request) -> State:
    return cast(State, request.scope["state"])


async def _store(request: Request) -> Store:
    return cast(State, request.scope["state"])["store"]


CurrentState = Annotated[State, Depends(_state)]
CurrentStore = Annotated[Store, Depends(_store)]
