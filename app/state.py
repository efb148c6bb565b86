"""What the service holds while it runs: made by the lifespan, handed to the routes."""

from typing import Annotated, TypedDict, cast

from fastapi import Depends, Request

from app.engine import Engine
from index import Limits


class State(TypedDict):
    """The lifespan's state; there are no global clients."""

    engine: Engine
    limits: Limits


def _state(request: Request) -> State:
    return cast(State, request.scope["state"])


CurrentState = Annotated[State, Depends(_state)]
