"""Statistics: keep a version, record the findings of the gates, activate, roll back.

Each write locks the head first, so versions are written one after the other, and at most one is
active. The same content is kept once: keeping it again returns the version that exists.

A version is never removed, since the audit log names it. Its sample, which is nearly all of its
bytes, is removed when it is old: with each new version, in the same transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from campaigns.database.pagination import Page, check_limit, id_in, page_of
from campaigns.errors import (
    FieldProblem,
    GateClosed,
    InvalidFields,
    NoneActive,
    SampleGone,
)
from campaigns.log.changes import STATISTICS
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Writing, writing
from campaigns.record import found
from campaigns.statistics import repository as rows
from campaigns.statistics.document import canonical, check, checksum_of, moment_of
from campaigns.statistics.drift import drift
from campaigns.statistics.gates import Finding, passed
from campaigns.statistics.sample import unpack
from campaigns.statistics.versions import FAILED, PASSED, UNJUDGED, StatisticsVersion
from campaigns.store import Store

KEPT_SAMPLES = 30
"""The newest versions that keep their samples; the active one and the one before keep theirs."""

_PRUNED_AT_ONCE = 100
"""The most samples that are removed with a new version."""

_FILTERS = "statistics"
"""The list that its cursors belong to."""


class _Known(Exception):
    """Another writer kept the same content meanwhile, or activated the same version."""

    def __init__(self, version: StatisticsVersion) -> None:
        self.version = version


async def keep(
    store: Store,
    actor: str,
    document: Mapping[str, Any],
    sample: bytes,
    samples: int = KEPT_SAMPLES,
) -> StatisticsVersion:
    """Keep a document and its sample as a version that is not judged yet; the `samples` newest
    versions keep theirs. If the version exists and its sample was removed, the sample is restored.
    """
    check(document)
    _check_sample(document, sample)
    content = canonical(document)
    checksum = checksum_of(content)
    async with store.database.read() as connection:
        known = await rows.with_checksum(connection, checksum)
        before = await rows.newest(connection, None, 1)
        old = await rows.document(connection, before[0].id) if before else None
        whole = known is None or await rows.has_sample(connection, known.id)
    if known is not None:
        if not whole:
            await _restore_sample(store, actor, known.id, sample)
        return known
    changed = None
    if old is not None:
        drifts = drift(orjson.loads(old), document)
        attributes = {name: each.to_dict() for name, each in drifts.items()}
        changed = {"against": before[0].id, "attributes": attributes}
    try:
        async with writing(store, actor) as transaction:
            rev = await transaction.take(1)
            known = await rows.with_checksum(transaction.connection, checksum)
            if known is not None:
                raise _Known(known)
            values = {
                "checksum": checksum,
                "window_from": moment_of(document["window"]["from"]),
                "window_to": moment_of(document["window"]["to"]),
                "days": document["window"]["days"],
                "rows": document["rows"],
                "quarantined": document["quarantined"],
                "requests": document["requests"],
                "sample_rows": document["sample"]["rows"],
                "sample_rate": document["sample"]["rate"],
                "gates": UNJUDGED,
                "findings": [],
                "drift": changed,
                "document": content.decode(),
                "active": False,
                "created_at": transaction.at,
                "rev": rev,
            }
            version = await rows.add(transaction.connection, values, sample)
            await rows.prune_samples(transaction.connection, samples, _PRUNED_AT_ONCE)
            await transaction.append([LogEntry.of("create", None, version)])
    except _Known as known_by_now:
        return known_by_now.version
    return version


async def mark(store: Store, actor: str, id: int, findings: Sequence[Finding]) -> StatisticsVersion:
    """Record the findings of the gates, in place of earlier ones."""
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1)
        before = await _current(transaction, id)
        after = replace(
            before,
            gates=PASSED if passed(findings) else FAILED,
            findings=[finding.to_dict() for finding in findings],
            rev=rev,
        )
        await _write(transaction, "judge", before, after)
    return after


async def activate(store: Store, actor: str, id: int, force: bool = False) -> StatisticsVersion:
    """Make every index use a version; `GateClosed` if it did not pass the gates, unless with
    `force`. If it is active already, nothing is written."""
    current = await get(store, id)
    if current.active:
        return current
    try:
        async with writing(store, actor) as transaction:
            rev = await transaction.take(1)
            before = await _current(transaction, id)
            if before.active:
                raise _Known(before)
            if before.gates != PASSED and not force:
                against = [finding for finding in before.findings if not finding["passed"]]
                raise GateClosed(id, against)
            forced = before.gates != PASSED
            current_version = await rows.active(transaction.connection)
            previous = before.previous_id
            if current_version is not None and current_version.id != id:
                previous = current_version.id
            after = replace(
                before, active=True, previous_id=previous, activated_at=transaction.at, rev=rev
            )
            await rows.deactivate(transaction.connection)
            await _write(transaction, "force_activate" if forced else "activate", before, after)
    except _Known as known_by_now:
        return known_by_now.version
    return after


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The version that is active again, if any, and the rev of the roll-back."""

    active: StatisticsVersion | None
    rev: int

    def to_dict(self) -> dict[str, Any]:
        """The result as clients see it."""
        active = None if self.active is None else self.active.to_dict()
        return {"active": active, "rev": self.rev}


async def roll_back(store: Store, actor: str) -> RolledBack:
    """Make the version active that was before the active one. If there was none, every index uses
    only what it has seen itself. `NoneActive` if no version is active."""
    async with writing(store, actor) as transaction:
        rev = await transaction.take(1)
        current_version = await rows.active(transaction.connection)
        if current_version is None:
            raise NoneActive
        await rows.deactivate(transaction.connection)
        if current_version.previous_id is None:
            after = replace(current_version, active=False, rev=rev)
            await _write(transaction, "roll_back", current_version, after)
            return RolledBack(None, rev)
        before = await _current(transaction, current_version.previous_id)
        after = replace(before, active=True, activated_at=transaction.at, rev=rev)
        await _write(transaction, "roll_back", before, after)
    return RolledBack(after, rev)


async def page(store: Store, limit: int = 50, cursor: str | None = None) -> Page[StatisticsVersion]:
    """Versions, from the newest to the oldest."""
    check_limit(limit)
    below = id_in(cursor, _FILTERS)
    async with store.database.read() as connection:
        listed = await rows.newest(connection, below, limit + 1)
    return page_of(listed, limit, lambda version: version.id, _FILTERS)


async def get(store: Store, id: int) -> StatisticsVersion:
    """A version."""
    async with store.database.read() as connection:
        return found(await rows.get(connection, id), STATISTICS, id)


async def active(store: Store) -> StatisticsVersion | None:
    """The active version."""
    async with store.database.read() as connection:
        return await rows.active(connection)


async def document(store: Store, id: int) -> dict[str, Any]:
    """The document of a version."""
    async with store.database.read() as connection:
        text = await rows.document(connection, id)
    content: dict[str, Any] = orjson.loads(found(text, STATISTICS, id))
    return content


async def sample(store: Store, id: int) -> bytes:
    """The sampled requests of a version, compressed: `campaigns.statistics.sample.unpack`;
    `SampleGone` if they are no longer kept."""
    async with store.database.read() as connection:
        found(await rows.get(connection, id), STATISTICS, id)
        content = await rows.sample(connection, id)
    if content is None:
        raise SampleGone(id)
    return content


def _check_sample(document: Mapping[str, Any], sample: bytes) -> None:
    described = document["sample"]
    if checksum_of(sample) != described["checksum"]:
        detail = "the sample does not have the checksum in the document"
        raise InvalidFields(FieldProblem("/sample/checksum", "statistics.sample", detail))
    if len(unpack(sample)) != described["rows"]:
        detail = f"the sample does not have the {described['rows']} rows in the document"
        raise InvalidFields(FieldProblem("/sample/rows", "statistics.sample", detail))


async def _restore_sample(store: Store, actor: str, id: int, sample: bytes) -> None:
    async with writing(store, actor) as transaction:
        await transaction.take(0)  # only for the lock: of several writers, one restores it
        if not await rows.has_sample(transaction.connection, id):
            await rows.add_sample(transaction.connection, id, sample)


async def _current(transaction: Writing, id: int) -> StatisticsVersion:
    return found(await rows.get(transaction.connection, id), STATISTICS, id)


async def _write(
    transaction: Writing, action: str, before: StatisticsVersion, after: StatisticsVersion
) -> None:
    await rows.change(transaction.connection, after)
    await transaction.append([LogEntry.of(action, before, after)])
