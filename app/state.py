"""What the service holds while it runs: made by the lifespan, handed to the routes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict, cast

from fastapi import Depends, Request

from app.engine import Engine
from app.forecasting import Forecaster
from app.matching.watching import Watching
from app.peers import Peer
from campaigns.feed.worker import WorkerFeed
from campaigns.store import Store
from index import Limits


@dataclass
class Loading:
    """How far the first load of the index is: `(loaded, total)` campaigns."""

    so_far: tuple[int, int | None] = (0, None)

    def tell(self, loaded: int, total: int) -> None:
        self.so_far = (loaded, total)


class State(TypedDict):
    """The lifespan's state; there are no global clients."""

    engine: Engine
    limits: Limits
    store: Store
    feed: WorkerFeed
    loading: Loading
    watching: Watching
    peer: Peer
    run_directory: Path
    forecaster: Forecaster


def _state(request: Request) -> State:
    return cast(State, request.scope["state"])


def _store(request: Request) -> Store:
    return _state(request)["store"]


CurrentState = Annotated[State, Depends(_state)]
CurrentStore = Annotated[Store, Depends(_store)]
