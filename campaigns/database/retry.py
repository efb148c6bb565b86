"""Operations that conflict with another transaction run again.

Postgres aborts a transaction that is in a deadlock with another, or that cannot be serialized with
it. Then nothing of it was written, so the operation, which is one transaction, can run again.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from campaigns.backoff import Backoff
from campaigns.database.engine import is_conflict
from campaigns.errors import DatabaseUnavailable

P = ParamSpec("P")
T = TypeVar("T")

Operation = Callable[P, Coroutine[Any, Any, T]]

ATTEMPTS = 5
BACKOFF = Backoff(0.01, 0.2)


def retried(operation: Operation[P, T]) -> Operation[P, T]:
    """Run the operation again after a conflict; `DatabaseUnavailable` if every attempt fails."""

    @functools.wraps(operation)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(ATTEMPTS):
            try:
                return await operation(*args, **kwargs)
            except Exception as error:
                if not is_conflict(error):
                    raise
                last = error
            await asyncio.sleep(BACKOFF.delay(attempt))
        reason = f"conflicts with other transactions, {ATTEMPTS} times: {last}"
        raise DatabaseUnavailable(reason) from last

    return run
