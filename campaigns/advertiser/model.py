"""An advertiser: its fields, and its change for the feed."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from campaigns.campaign.statuses import ACTIVE, ADVERTISER_STATUSES
from campaigns.fields import MAX_NAME, Domain, OneOf, StoreIds, Text
from campaigns.log.changes import ADVERTISER, NewChange, encode
from campaigns.record import CreatedAt, Field, Id, Record, Rev, UpdatedAt, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertiser(Record):
    """An advertiser as it is stored."""

    kind: ClassVar = ADVERTISER

    id: Id
    name: Annotated[str, Field(Text(MAX_NAME), example="Shop")]
    domain: Annotated[
        str | None,
        Field(Domain(), "a domain name; non-ASCII names as punycode", "shop.example"),
    ] = None
    seat: Annotated[
        str | None,
        Field(
            Text(MAX_NAME),
            "the buyer's seat that an exchange knows; `wseat` and `bseat` of bid requests name it",
            "seat-7",
        ),
    ] = None
    apps: Annotated[
        tuple[str, ...],
        Field(
            StoreIds(most=100, longest=MAX_NAME),
            "store ids of the apps that it advertises, which `bapp` of bid requests blocks",
            ["com.shop.example"],
        ),
    ] = ()
    status: Annotated[
        str,
        Field(
            OneOf(ADVERTISER_STATUSES),
            example=ACTIVE,
            read_only="the status changes by pause and resume",
        ),
    ]
    version: Version
    rev: Rev
    created_at: CreatedAt
    updated_at: UpdatedAt

    def change(self) -> NewChange:
        """What the index needs: whether to mute its campaigns, and what excludes them."""
        content = {
            "id": self.id,
            "version": self.version,
            "status": self.status,
            "domain": self.domain,
            "seat": self.seat,
            "apps": self.apps,
        }
        return NewChange(ADVERTISER, str(self.id), encode(content))
