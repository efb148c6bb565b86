"""Idempotency keys: the first request with a key is done, a repeat gets the first's answer.

    claim ──▶ Claim ──▶ the write, with its answer, in one transaction ──▶ Answer
      │         └─ refused: release
      ├──▶ Answer       the request was done: give the same answer again
      ├──▶ KeyReused    the same key with another request
      └──▶ InFlight     the first request is still running, and its time is not over

The transaction of the write also stores the answer, so a crash leaves either both or neither. If a
holder crashed, another request takes the key over after `LOCKED_FOR`. If it was only slow, it finds
its token replaced when it commits, and writes nothing (`ClaimLost`).
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.retry import retried
from campaigns.errors import ClaimLost, FieldProblem, InFlight, InvalidFields, KeyReused
from campaigns.log import repository as rows
from campaigns.log.repository import Claim
from campaigns.store import Store

T = TypeVar("T")

LOCKED_FOR = timedelta(seconds=60)
MAX_KEY = 255


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the first request."""

    status: int
    body: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answering(Generic[T]):
    """A claim, and how to make the answer from the record that was written."""

    claim: Claim
    render: Callable[[T], Answer]

    async def store(self, connection: AsyncConnection, written: T) -> None:
        """Store the answer in the transaction of the write."""
        answer = self.render(written)
        stored = await rows.store_answer(
            connection, self.claim, answer.status, answer.body, answer.headers
        )
        if not stored:
            raise ClaimLost(self.claim.key)


@retried
async def claim(store: Store, key_id: int, key: str, request_hash: str) -> Claim | Answer:
    """The right to do the request, or its answer if it was done."""
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        detail = f"a key has 1 to {MAX_KEY} printable ASCII characters"
        raise InvalidFields(FieldProblem("/idempotency-key", "idempotency.key", detail))
    now = store.now()
    mine = Claim(key_id, key, secrets.token_hex(16))
    locked_until = now + LOCKED_FOR
    async with store.database.write() as connection:
        while not await rows.add_claim(connection, mine, request_hash, locked_until, now):
            found = await rows.lock_claim(connection, mine)
            if found is None:
                continue  # it was released in between
            if found["request_hash"] != request_hash:
                raise KeyReused(key)
            if found["status"] is not None:
                return Answer(found["status"], found["body"], found["headers"])
            if found["locked_until"] > now:
                raise InFlight(key)
            await rows.take_over(connection, mine, locked_until)
            break
    return mine


@retried
async def release(store: Store, claim: Claim) -> None:
    """Give a claim back, so that the key can be used again."""
    async with store.database.write() as connection:
        await rows.remove_claim(connection, claim)


@retried
async def forget(store: Store, older_than: timedelta) -> int:
    """Remove old keys; returns how many."""
    async with store.database.write() as connection:
        return await rows.forget_claims(connection, store.now() - older_than)
