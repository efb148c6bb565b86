"""Idempotency keys: the first request with a key is done, a repeat gets the first's answer.

    find ──▶ None         do it: the write stores its answer, in one transaction
      ├────▶ Answer       it was done: give the same answer again
      └────▶ KeyReused    the same key with another request

Nothing is stored before the write commits, so a request that fails, whatever fails with it, leaves
its key free at once. Of two requests with one key at the same time, the second waits for the head,
then finds the answer of the first where it wants to store its own (`InFlight`), and writes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.retry import retried
from campaigns.errors import FieldProblem, InFlight, InvalidFields, KeyReused
from campaigns.log import repository as rows
from campaigns.log.repository import Answer, RequestKey
from campaigns.store import Store

T = TypeVar("T")

MAX_KEY = 255


@dataclass(frozen=True, slots=True)
class Answering(Generic[T]):
    """A request with a key, and how to make its answer from the record that was written."""

    request: RequestKey
    render: Callable[[T], Answer]

    async def store(self, connection: AsyncConnection, written: T) -> None:
        """Store the answer in the transaction of the write, which holds the head."""
        if not await rows.add_answer(connection, self.request, self.render(written)):
            raise InFlight(self.request.key)


async def find(store: Store, request: RequestKey) -> Answer | None:
    """The answer to the request, if it was done."""
    key = request.key
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        detail = f"a key has 1 to {MAX_KEY} printable ASCII characters"
        raise InvalidFields(FieldProblem("/idempotency-key", "idempotency.key", detail))
    async with store.database.read() as connection:
        found = await rows.answer_of(connection, request)
    if found is None:
        return None
    request_hash, answer = found
    if request_hash != request.request_hash:
        raise KeyReused(key)
    return answer


@retried
async def forget(store: Store, older_than: timedelta) -> int:
    """Remove old keys; returns how many."""
    async with store.database.write() as connection:
        return await rows.forget_answers(connection, store.now() - older_than)
