"""Operations that another transaction got in the way of are done again.

Postgres ends a transaction that is in a deadlock with another, or that cannot be put in an order
with it. Nothing of it has happened then, so the operation, which is one transaction, may simply be
run again: a few times, with pauses that grow and that are not the same for two rivals.
"""

import asyncio
import functools
import random
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from campaigns.database.engine import is_conflict
from campaigns.errors import DatabaseUnavailable

P = ParamSpec("P")
T = TypeVar("T")

Operation = Callable[P, Coroutine[Any, Any, T]]

ATTEMPTS = 5
FIRST_PAUSE = 0.01


def retried(operation: Operation[P, T]) -> Operation[P, T]:
    """The operation, again when it lost; `DatabaseUnavailable` if it always did."""

    @functools.wraps(operation)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(ATTEMPTS):
            try:
                return await operation(*args, **kwargs)
            except Exception as error:
                if not is_conflict(error):
                    raise
                last = error
            await asyncio.sleep(FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1.5))
        reason = f"another transaction was in the way {ATTEMPTS} times: {last}"
        raise DatabaseUnavailable(reason) from last

    return run
