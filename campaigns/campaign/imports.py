"""The import: many campaigns at once, with a result for each line.

A line has the fields of a campaign, and may have a status. A line with an `external_id` can be
repeated: the first time it creates the campaign, later it updates it or changes nothing. A batch is
one transaction (two if it has an external id twice). An invalid line fails alone.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from campaigns.advertiser import repository as advertiser
from campaigns.campaign import repository as rows
from campaigns.campaign.model import Campaign, check_window, new_campaign
from campaigns.campaign.service import no_advertiser
from campaigns.campaign.statuses import ARCHIVED, CAMPAIGN_TRANSITIONS, DRAFT
from campaigns.campaign.targeting import EVERYTHING, Targeting, check_texts
from campaigns.catalogue.model import Catalogue
from campaigns.database.retry import retried
from campaigns.errors import FieldProblem, Final, TransitionRefused
from campaigns.log.changes import CAMPAIGN
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import Moved, Writing, checked, writing
from campaigns.record import check_fields, missing_fields
from campaigns.store import Store
from index.language import ExpressionWarning

MAX_BATCH = 5000

CREATED, UPDATED, UNCHANGED, FAILED = "created", "updated", "unchanged", "failed"


@dataclass(frozen=True, slots=True)
class LineResult:
    """The result of a line; a failed one has problems, and no id, version or rev. `changes` are the
    fields of an existing campaign that change. In a dry run a new campaign has no id. Warnings are
    about a targeting that the campaign did not have before."""

    outcome: str
    external_id: str | None = None
    id: int | None = None
    version: int | None = None
    rev: int | None = None
    changes: tuple[str, ...] = ()
    problems: tuple[FieldProblem, ...] = ()
    warnings: tuple[ExpressionWarning, ...] = ()


@dataclass(slots=True)
class _Work:
    """A line in progress: its values, the campaign before, and the campaign after."""

    values: dict[str, Any]
    problems: list[FieldProblem]
    before: Campaign | None = None
    after: Campaign | None = None

    @property
    def external_id(self) -> str | None:
        external_id: str | None = self.values.get("external_id")
        return external_id

    @property
    def text(self) -> str:
        text: str = self.values.get("targeting", EVERYTHING)
        return text


async def import_batch(
    store: Store, actor: str, lines: Sequence[object], dry_run: bool = False
) -> list[LineResult]:
    """Create or update a campaign for each line; returns one result each, in order. A line is the
    fields of a campaign, or the `FieldProblem` of a line that could not be parsed. A dry run checks
    everything and writes nothing; each line is compared with what is there now."""
    if len(lines) > MAX_BATCH:
        raise ValueError(f"a batch has at most {MAX_BATCH} lines, not {len(lines)}")
    works = [_read(line) for line in lines]
    for wave in _waves(works):
        await _import(store, actor, wave, dry_run)
    return [_result(work) for work in works]


def _read(line: object) -> _Work:
    if isinstance(line, FieldProblem):
        return _Work({}, [line])
    if not isinstance(line, Mapping):
        return _Work({}, [FieldProblem("", "type.object", "expected an object")])
    values, problems = check_fields(Campaign, line, allowed=["status"])
    return _Work(values, problems)


def _waves(works: Sequence[_Work]) -> Iterator[list[_Work]]:
    """Groups of lines that can be written together: each external id once in a group."""
    left = [work for work in works if not work.problems]
    while left:
        seen: set[str] = set()
        wave: list[_Work] = []
        later: list[_Work] = []
        for work in left:
            again = work.external_id is not None and work.external_id in seen
            (later if again else wave).append(work)
            if work.external_id is not None:
                seen.add(work.external_id)
        yield wave
        left = later


@retried
async def _import(store: Store, actor: str, works: Sequence[_Work], dry_run: bool) -> None:
    external_ids = {work.external_id for work in works if work.external_id is not None}
    advertiser_ids = {w.values["advertiser_id"] for w in works if "advertiser_id" in w.values}

    async def attempt(catalogue: Catalogue) -> None:
        texts = await _new_texts(store, works, external_ids)
        size = sum(map(len, texts))
        arguments = (texts, catalogue.schema, store.limits, await store.knowledge(catalogue))
        found = await store.analyse(size, check_texts, *arguments)
        async with writing(store, actor) as transaction:
            connection, at = transaction.connection, transaction.at
            known = await rows.lock_by_external_id(connection, external_ids)
            held = await advertiser.hold(connection, advertiser_ids)
            for work in works:
                work.before = known.get(work.external_id) if work.external_id else None
                work.after, work.problems = _planned(work, found, held, at)
            changed = [work for work in works if work.after not in (None, work.before)]
            if changed and not dry_run:
                first = await transaction.take(len(changed), checked=catalogue)
                await _write(transaction, changed, first)

    await checked(store, attempt)


async def _new_texts(
    store: Store, works: Sequence[_Work], external_ids: Collection[str]
) -> list[str]:
    """The texts to check: those that their campaign does not have already."""
    async with store.database.read() as connection:
        known = await rows.targeting_by_external_id(connection, external_ids)
    return [work.text for work in works if known.get(work.external_id or "") != work.text]


def _planned(
    work: _Work, found: Mapping[str, Targeting | FieldProblem], held: Collection[int], at: datetime
) -> tuple[Campaign | None, list[FieldProblem]]:
    """The campaign after the line, without id and rev; or the problems of the line."""
    before, values = work.before, work.values
    problems = [] if before else missing_fields(Campaign, values)
    if (id := values.get("advertiser_id")) is not None and id not in held:
        problems.append(no_advertiser(id))
    targeting = None
    if before is None or before.targeting != values.get("targeting", before.targeting):
        if work.text not in found:
            raise Moved  # another writer changed the campaign since the texts were checked
        checked = found[work.text]
        if isinstance(checked, FieldProblem):
            problems.append(checked)
        else:
            targeting = checked
    if problems:
        return None, problems
    if before is not None:
        after = before.changed(values, targeting)
        problems = _transition_problems(before, after)
    else:
        assert targeting is not None
        status = values.get("status", DRAFT)
        after = new_campaign(Campaign.defaults() | values, status, targeting, 0, at)
    problems += check_window(after.starts_at, after.ends_at)
    return (None, problems) if problems else (after, [])


def _transition_problems(before: Campaign, after: Campaign) -> list[FieldProblem]:
    if after == before:
        return []
    if before.status == ARCHIVED:
        return [FieldProblem("", "campaign.final", str(Final(before.id)))]
    if after.status in (before.status, *CAMPAIGN_TRANSITIONS[before.status]):
        return []
    refused = TransitionRefused(CAMPAIGN, before.id, before.status, after.status)
    return [FieldProblem("/status", "status.transition", str(refused))]


async def _write(transaction: Writing, works: Sequence[_Work], first: int) -> None:
    """Write the changed campaigns, with the revs from `first` on. The caller holds the head."""
    connection = transaction.connection
    new = [work for work in works if work.before is None]
    external_ids = [work.external_id for work in new if work.external_id is not None]
    if external_ids and await rows.any_external_id(connection, external_ids):
        raise Moved  # another import created the campaign in the meantime
    ids = iter(await rows.new_ids(connection, len(new)) if new else ())
    entries = []
    for rev, work in enumerate(works, first):
        assert work.after is not None
        if work.before is None:
            work.after = replace(work.after, id=next(ids), rev=rev)
        else:
            work.after = work.after.written(rev, transaction.at)
        entries.append(LogEntry.of("import", work.before, work.after))
    await rows.insert_all(connection, [w.after for w in works if w.after and not w.before])
    await rows.update_all(connection, [w.after for w in works if w.after and w.before])
    await transaction.append(entries)


def _result(work: _Work) -> LineResult:
    after = work.after
    if after is None:
        return LineResult(FAILED, work.external_id, problems=tuple(work.problems))
    if work.before is None:
        if not after.id:
            return LineResult(CREATED, after.external_id, warnings=after.warnings)
        return LineResult(
            CREATED,
            after.external_id,
            after.id,
            after.version,
            after.rev,
            warnings=after.warnings,
        )
    changes = tuple(
        name
        for name in Campaign.writable().keys() | {"status"}
        if getattr(after, name) != getattr(work.before, name)
    )
    outcome = UPDATED if changes else UNCHANGED
    return LineResult(
        outcome,
        after.external_id,
        after.id,
        after.version,
        after.rev,
        tuple(sorted(changes)),
        warnings=after.warnings,
    )
