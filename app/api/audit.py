"""`/v1/audit`: who changed what."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api import responses
from app.api.campaign_models import CAMPAIGN
from app.api.fields import Id, Listing, Moment, NextCursor
from app.api.resource import LIST_ERRORS
from app.middleware.scopes import Auditor
from app.openapi.responses import answers
from app.state import CurrentStore
from campaigns.log import audit as service
from campaigns.log.audit import AuditFilter

router = APIRouter(prefix="/v1/audit", tags=["audit"])


class AuditEntry(BaseModel):
    """One write; `before` is null if it created the object, `after` if it removed it."""

    id: Id
    at: Moment
    actor: str = Field(description="`key:<prefix>` over HTTP, `cli` on the command line")
    actor_name: str | None = Field(description="the name of that key; null without a key")
    action: str
    kind: str
    object_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    rev: int


class AuditPage(BaseModel):
    """Entries from the newest to the oldest."""

    items: list[AuditEntry]
    next_cursor: NextCursor


class AuditListing(Listing):
    """Which entries to list."""

    kind: str | None = Field(
        default=None, description="campaign, advertiser, attribute, operator, key, feed"
    )
    object_id: str | None = Field(default=None, description="an id, or the name of an attribute")
    actor: str | None = None
    action: str | None = Field(default=None, description="create, patch, activate, import …")


ENTRY: dict[str, Any] = {
    "id": 61,
    "at": "2026-11-16T10:00:00Z",
    "actor": "key:1f6c2a9b04d7",
    "actor_name": "Ada",
    "action": "patch",
    "kind": "campaign",
    "object_id": "1",
    "before": CAMPAIGN | {"bid_micros": 900_000, "version": 3, "rev": 40},
    "after": CAMPAIGN,
    "rev": 42,
}
PAGE = {"items": [ENTRY], "next_cursor": "WzYxLCJkYzQ2YzRiYTE4NjMiXQ"}


@router.get(
    "",
    summary="List changes and who made them",
    response_model=AuditPage,
    responses=answers(PAGE, scope="audit:read", errors=LIST_ERRORS),
)
async def list_audit_entries(
    _: Auditor, store: CurrentStore, asked: Annotated[AuditListing, Query()]
) -> Response:
    """Lists audit entries from the newest to the oldest. Each was written in the transaction of the
    change itself."""
    filters = AuditFilter(asked.kind, asked.object_id, asked.actor, asked.action)
    return responses.page(await service.page(store, filters, asked.limit, asked.cursor))
