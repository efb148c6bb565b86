"""The errors of the campaign routes, for the examples in the OpenAPI document."""

from app.api.resource import Errors
from campaigns.campaign.model import Campaign, check_window
from campaigns.campaign.service import no_advertiser
from campaigns.campaign.statuses import ACTIVE
from campaigns.campaign.targeting import check_texts
from campaigns.errors import Contended, FieldProblem, Final, InvalidFields, StillActive, Taken
from campaigns.fields import Moment
from campaigns.record import check_changes, check_new
from index import Attribute, Limits, Schema


def wrong_targeting() -> InvalidFields:
    """A misspelt attribute."""
    text = "contry = 'US'"
    found = check_texts([text], Schema([Attribute("country", "string")]), Limits())[text]
    assert isinstance(found, FieldProblem)
    return InvalidFields(found)


_WRONG_FIELDS = {"status": ACTIVE, "bid_micros": 1.5, "colour": "red"}
_NOON = Moment()("2026-11-20T12:00:00Z")

_FIELDS: Errors = {
    "wrong_targeting": wrong_targeting(),
    "wrong_fields": InvalidFields(*check_changes(Campaign, _WRONG_FIELDS)[1]),
    "empty_flight": InvalidFields(*check_window(_NOON, _NOON)),
    "unknown_advertiser": InvalidFields(no_advertiser(1)),
}
_WRITE: Errors = {
    "taken": Taken(Campaign.kind, "external_id", "spring-24"),
    "contended": Contended(10),
}
_ARCHIVED: Errors = {"archived": Final(1)}

NEW: Errors = _FIELDS | {"no_name": InvalidFields(*check_new(Campaign, {"advertiser_id": 1})[1])}
PREVIEW_CHANGE: Errors = _FIELDS | _ARCHIVED
CREATE = NEW | _WRITE
CHANGE = PREVIEW_CHANGE | _WRITE
DELETE: Errors = {"active": StillActive(1)}
