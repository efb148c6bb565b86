"""Applies changes to the view, one after the other.

Consecutive changes that insert campaigns go into the index together. A change that cannot be
applied is *poisoned*: it is kept with its reason and logged as an error, and the changes after it
are applied. The old state of its object must not be served: until a good change comes, a campaign
is removed, an advertiser muted, a key rejected, an operator not called. Statistics change no
answer, so those in use stay.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from campaigns.campaign.categories import labels_of
from campaigns.campaign.statuses import ACTIVE
from campaigns.feed.view import NamedStatistics, Poisoned, ServedKey, View
from campaigns.log.changes import CAMPAIGN, OPERATOR, STATISTICS, Change
from campaigns.operators.model import served
from index import Attribute, RowError, SchemaError
from index.score import score_of

log = logging.getLogger(__name__)

_ID = re.compile("[1-9][0-9]{0,17}")

IndexRow = tuple[int, bytes | str, int, float | None, float | None, int, int, tuple[str, ...]]


class UnknownKind(ValueError):
    """A change of a kind that this version of Copse does not have."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"unknown kind of change: {kind!r}")
        self.kind = kind


class NeedsFreshView(Exception):
    """A valid change that an index cannot apply in place."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def apply(view: View, changes: Sequence[Change]) -> None:
    """Apply the changes that follow the view's place, and move it to the last of them.

    It stops before a change that the index cannot apply in place, and sets `view.stalled`.
    """
    if view.stalled:
        return
    waiting: dict[int, tuple[Change, IndexRow]] = {}
    last = None
    for change in changes:
        try:
            _apply(view, change, waiting)
        except NeedsFreshView as error:
            view.stalled = error.reason
            break
        except Exception as error:
            # Whatever the error is, the other changes go on; earlier ones are inserted first.
            _insert(view, waiting)
            poison(view, Poisoned(change.rev, change.kind, change.object_id, _reason(error)))
        last = change
    _insert(view, waiting)
    if last is not None:
        view.arrive(view.place.epoch, last.rev, last.nonce)


def poison(view: View, poisoned: Poisoned) -> None:
    """Take the object out, and log an error."""
    log.error(
        "change %d cannot be applied: %s %s: %s",
        poisoned.rev,
        poisoned.kind,
        poisoned.object_id,
        poisoned.reason,
    )
    view.poisoned[poisoned.kind, poisoned.object_id] = poisoned
    if poisoned.kind == OPERATOR:
        _apply_operator(view, poisoned.object_id, None)
    if not _ID.fullmatch(poisoned.object_id):
        return
    id = int(poisoned.object_id)
    match poisoned.kind:
        case "campaign":
            view.index.remove(id)
        case "advertiser":
            view.index.mute(id)
        case "key":
            view.drop_key(id)


def insert_rows(view: View, rows: list[IndexRow], revs: Sequence[int]) -> None:
    """Insert rows into the index; rows that it rejects are poisoned, with their revs."""
    first = 0
    while first < len(rows):
        try:
            view.index.insert_json(rows[first:])
            return
        except RowError as error:
            wrong = first + error.position
            view.index.insert_json(rows[first:wrong])
            id, reason = str(rows[wrong][0]), _reason(error.problem)
            poison(view, Poisoned(revs[wrong], CAMPAIGN, id, reason))
            first = wrong + 1


def _apply(view: View, change: Change, waiting: dict[int, tuple[Change, IndexRow]]) -> None:
    content = orjson.loads(change.payload)
    if change.kind == CAMPAIGN and content is not None and content["status"] == ACTIVE:
        row = _index_row(content, int(change.object_id))
        if row[0] in waiting:
            _insert(view, waiting)
        waiting[row[0]] = (change, row)
        view.poisoned.pop((CAMPAIGN, change.object_id), None)
        return
    # Any other change must not overtake the waiting rows.
    _insert(view, waiting)
    match change.kind:
        case "campaign":
            view.index.remove(int(change.object_id))
        case "advertiser":
            _apply_advertiser(view, int(change.object_id), content)
        case "attribute":
            _apply_attribute(view, change.object_id, content)
        case "key":
            _apply_key(view, int(change.object_id), content)
        case "statistics":
            _apply_statistics(view, content)
        case "operator":
            _apply_operator(view, change.object_id, content)
        case _:
            raise UnknownKind(change.kind)
    view.poisoned.pop((change.kind, change.object_id), None)


def _index_row(content: dict[str, Any], id: int) -> IndexRow:
    return (
        id,
        orjson.dumps(content["tree"]),
        score_of(content["priority"], content["bid_micros"]),
        content["starts_at"],
        content["ends_at"],
        content["advertiser_id"],
        content["version"],
        labels_of(content["categories"]),
    )


def _insert(view: View, waiting: dict[int, tuple[Change, IndexRow]]) -> None:
    if waiting:
        pairs = list(waiting.values())
        waiting.clear()
        insert_rows(view, [row for _, row in pairs], [change.rev for change, _ in pairs])


def _apply_advertiser(view: View, id: int, content: dict[str, Any] | None) -> None:
    if content is None:
        view.put_advertiser(id, ACTIVE, None)
    else:
        # Changes from before advertisers had seats and apps lack them.
        seat, apps = content.get("seat"), content.get("apps", ())
        view.put_advertiser(id, content["status"], content["domain"], seat, apps)


def _apply_attribute(view: View, name: str, content: dict[str, Any] | None) -> None:
    """A removed attribute stays in the index, where no campaign uses it. A new type for the same
    name needs a new index."""
    if content is None:
        view.catalogue.pop(name, None)
        return
    attribute = Attribute(name, content["type"])
    try:
        view.index.add_attribute(attribute)
    except SchemaError as error:
        raise NeedsFreshView("catalogue") from error
    view.catalogue[name] = attribute.type.value


def _apply_operator(view: View, name: str, content: dict[str, Any] | None) -> None:
    others = (each for each in view.operators.values() if each.name != name)
    view.use_operators(others if content is None else [*others, served(content)])


def _apply_key(view: View, id: int, content: dict[str, Any] | None) -> None:
    view.drop_key(id)
    if content is not None and not content["revoked"]:
        key = ServedKey.of(content)
        view.keys[key.prefix] = key


def _apply_statistics(view: View, content: dict[str, Any]) -> None:
    """Name the version to use. It is fetched and applied aside, so later changes do not wait."""
    named = NamedStatistics(
        int(content["id"]), str(content["checksum"]), float(content["from"]), float(content["to"])
    )
    if content["active"]:
        view.statistics = named
    elif view.statistics == named:
        view.statistics = None
    for kind, id in list(view.poisoned):
        if kind == STATISTICS:
            del view.poisoned[kind, id]


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def size(changes: Iterable[Change]) -> int:
    """The bytes to apply."""
    return sum(len(change.payload) for change in changes)
