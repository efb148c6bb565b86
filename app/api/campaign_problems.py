"""What can go wrong with campaigns, for the OpenAPI page: the errors themselves."""

from app.errors.http_errors import VersionRequired, WrongIfMatch
from app.openapi.responses import WRONG_ID, WRONG_LIMIT
from campaigns.campaign.service import no_advertiser
from campaigns.campaign.targeting import check_texts
from campaigns.errors import (
    BadCursor,
    ClaimLost,
    Contended,
    FieldProblem,
    Final,
    InFlight,
    InvalidFields,
    KeyReused,
    NotFound,
    StillActive,
    Taken,
    TransitionRefused,
    VersionConflict,
)
from index import Attribute, Limits, Schema

Errors = dict[str, Exception]


def wrong_targeting() -> InvalidFields:
    text = "contry = 'US'"
    found = check_texts([text], Schema([Attribute("country", "string")]), Limits())[text]
    assert isinstance(found, FieldProblem)
    return InvalidFields(found)


_FIELDS: Errors = {
    "wrong_targeting": wrong_targeting(),
    "wrong_fields": InvalidFields(
        FieldProblem(
            "/status", "field.read_only", "the status changes by activate, pause and archive"
        ),
        FieldProblem("/bid_micros", "type.integer", "expected an integer, not a number"),
        FieldProblem("/colour", "field.unknown", "there is no field colour"),
    ),
    "empty_flight": InvalidFields(
        FieldProblem("/ends_at", "window.empty", "ends_at must be later than starts_at")
    ),
    "unknown_advertiser": InvalidFields(no_advertiser(3)),
}

MISSING: Errors = {"missing": NotFound("campaign", 7), "wrong_id": WRONG_ID}
STALE: Errors = {"stale": VersionConflict("campaign", 7, 4, 5), "wrong_if_match": WrongIfMatch("4")}
VERSION: Errors = STALE | {"no_version": VersionRequired()}

ONCE: Errors = {
    "key_in_flight": InFlight("0d1c6f6e"),
    "key_lost": ClaimLost("0d1c6f6e"),
    "key_reused": KeyReused("0d1c6f6e"),
}

CREATE: Errors = (
    _FIELDS
    | ONCE
    | {
        "no_name": InvalidFields(FieldProblem("/name", "field.missing", "name is required")),
        "taken": Taken("campaign", "external_id", "spring-24"),
        "contended": Contended(10),
    }
)
LIST: Errors = {"wrong_cursor": BadCursor("abc"), "wrong_limit": WRONG_LIMIT}
PATCH: Errors = (
    _FIELDS
    | MISSING
    | VERSION
    | {
        "archived": Final(7),
        "taken": Taken("campaign", "external_id", "spring-24"),
        "contended": Contended(10),
    }
)
DELETE: Errors = MISSING | VERSION | {"active": StillActive(7)}


def _refused(current: str, wanted: str) -> Errors:
    return MISSING | STALE | {"refused": TransitionRefused("campaign", 7, current, wanted)}


ACTIVATE = _refused("archived", "active")
PAUSE = _refused("draft", "paused")
ARCHIVE = _refused("archived", "archived")

PREVIEW_NEW: Errors = _FIELDS | {
    "no_name": InvalidFields(FieldProblem("/name", "field.missing", "name is required"))
}
PREVIEW_CHANGE: Errors = _FIELDS | MISSING | {"archived": Final(7)}
