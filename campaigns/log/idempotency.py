"""Requests that must not be done twice: the first does it, a repeat is given the first's answer.

    claim ──▶ Claim ──▶ the write, with its answer, in one transaction ──▶ Answer
      │         └─ refused: release
      ├──▶ Answer       it was done: give the same answer again
      ├──▶ KeyReused    the same key with another request
      └──▶ InFlight     the first is still at it, and its time is not over

The answer is stored by the transaction of the write itself, so a crash leaves either both or
nothing. A holder that crashed is taken over after `LOCKED_FOR`; if it was only slow, it finds its
token gone when it wants to commit, and writes nothing (`ClaimLost`).
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.retry import retried
from campaigns.errors import ClaimLost, FieldProblem, InFlight, InvalidFields, KeyReused
from campaigns.log import idempotency_repository
from campaigns.log.idempotency_repository import Record
from campaigns.store import Store

T = TypeVar("T")

LOCKED_FOR = timedelta(seconds=60)
MAX_KEY = 255


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do what an idempotency key stands for."""

    key_id: int
    key: str
    token: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the first request was answered."""

    status: int
    body: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answering(Generic[T]):
    """A claim, and how the answer is made from what was written."""

    claim: Claim
    render: Callable[[T], Answer]

    async def store(self, connection: AsyncConnection, written: T) -> None:
        """Store the answer in the transaction of the write."""
        await _complete(connection, self.claim, self.render(written))


@retried
async def claim(store: Store, key_id: int, key: str, request_hash: str) -> Claim | Answer:
    """The claim to do it, or the answer if it was done."""
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        detail = f"a key has 1 to {MAX_KEY} printable ASCII characters"
        raise InvalidFields(FieldProblem("/idempotency-key", "idempotency.key", detail))
    now = store.now()
    mine = Record(request_hash, secrets.token_hex(16), None, None, None, now + LOCKED_FOR)
    async with store.database.write() as connection:
        while not await idempotency_repository.add(connection, key_id, key, mine, now):
            found = await idempotency_repository.lock(connection, key_id, key)
            if found is None:
                continue  # it was released in between
            if found.request_hash != request_hash:
                raise KeyReused(key)
            if found.status is not None:
                return Answer(found.status, found.body or "", found.headers or {})
            if found.locked_until > now:
                raise InFlight(key)
            await idempotency_repository.take_over(
                connection, key_id, key, mine.token, mine.locked_until
            )
            break
    return Claim(key_id, key, mine.token)


@retried
async def complete(store: Store, claim: Claim, answer: Answer) -> None:
    """Store an answer in a transaction of its own, where nothing was written."""
    async with store.database.write() as connection:
        await _complete(connection, claim, answer)


@retried
async def release(store: Store, claim: Claim) -> None:
    """Give a claim back, so that the key can be used again."""
    async with store.database.write() as connection:
        await idempotency_repository.release(connection, claim.key_id, claim.key, claim.token)


@retried
async def forget(store: Store, older_than: timedelta) -> int:
    """Remove old records; how many there were."""
    async with store.database.write() as connection:
        return await idempotency_repository.forget(connection, store.now() - older_than)


async def _complete(connection: AsyncConnection, claim: Claim, answer: Answer) -> None:
    stored = await idempotency_repository.complete(
        connection,
        claim.key_id,
        claim.key,
        claim.token,
        answer.status,
        answer.body,
        answer.headers,
    )
    if not stored:
        raise ClaimLost(claim.key)
