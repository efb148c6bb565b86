"""Seats and apps of advertisers, and more attributes of OpenRTB traffic.

Revision: 0006.
"""

import json
import secrets
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"

TIME = sa.DateTime(timezone=True)

CATALOGUE = (
    ("imp.instl", "bool", "whether the ad is full screen"),
    ("imp.tagid", "string", "the publisher's id of the ad slot"),
    ("imp.ext.gpid", "string", "the global placement id of the ad slot"),
    ("imp.rwdd", "bool", "whether the user gets a reward for the ad"),
    ("imp.banner.mimes", "string list", "content types that the banner may have"),
    ("imp.banner.api", "int list", "API frameworks of the banner, OpenRTB's list"),
    ("imp.banner.btype", "int list", "blocked types of banners, OpenRTB's list"),
    ("imp.banner.battr", "int list", "blocked attributes of creatives, OpenRTB's list"),
    ("imp.video.mimes", "string list", "content types that the video may have"),
    ("imp.video.minduration", "int", "shortest video in seconds"),
    ("imp.video.maxduration", "int", "longest video in seconds"),
    ("imp.video.protocols", "int list", "video protocols, OpenRTB's list"),
    ("imp.video.api", "int list", "API frameworks of the video, OpenRTB's list"),
    ("imp.video.battr", "int list", "blocked attributes of creatives, OpenRTB's list"),
    ("imp.video.plcmt", "int", "where the video plays, OpenRTB's list"),
    ("imp.video.linearity", "int", "1 linear, 2 overlay"),
    ("imp.video.skip", "bool", "whether the player lets the user skip the video"),
    ("imp.video.startdelay", "int", "seconds before the video; 0 pre-roll, -1 mid, -2 post"),
    ("imp.video.playbackmethod", "int list", "how the video starts, OpenRTB's list"),
    ("imp.audio.mimes", "string list", "content types that the audio may have"),
    ("imp.audio.minduration", "int", "shortest audio in seconds"),
    ("imp.audio.maxduration", "int", "longest audio in seconds"),
    ("imp.audio.api", "int list", "API frameworks of the audio, OpenRTB's list"),
    ("content.title", "string", "title of the content"),
    ("content.series", "string", "series of the content"),
    ("content.genre", "string", "genre of the content"),
    ("content.rating", "string", "rating of the content"),
    ("content.language", "string", "language of the content, two letters"),
    ("content.live", "bool", "whether the content is live"),
    ("keywords", "string list", "keywords of the site or app and its content, lower case"),
    ("device.carrier", "string", "carrier or provider"),
    ("dooh.venues", "string list", "types of the venue of a screen"),
    ("schain.complete", "bool", "whether the supply chain is complete"),
    ("schain.nodes", "int", "length of the supply chain"),
    ("schain.asis", "string list", "the systems in the supply chain"),
    ("user.id_sources", "string list", "who has ids of the user, without the ids"),
)


def upgrade() -> None:
    """Add the columns, and the attributes whose names are free."""
    op.add_column("advertisers", sa.Column("seat", sa.String(200), nullable=True))
    op.add_column("advertisers", sa.Column("apps", sa.JSON(), nullable=True))
    connection = op.get_bind()
    attributes = sa.table(
        "attributes",
        sa.column("name"),
        sa.column("type"),
        sa.column("description"),
        sa.column("version"),
        sa.column("rev"),
        sa.column("created_at", TIME),
        sa.column("updated_at", TIME),
    )
    head = sa.table("feed_head", sa.column("rev"), sa.column("catalogue_rev"))
    # Writers wait for this row, so the log stays dense.
    connection.execute(head.update().values(rev=head.c.rev))
    rev = connection.execute(sa.select(head.c.rev)).scalar_one()
    taken = set(connection.execute(sa.select(attributes.c.name)).scalars())
    new = [each for each in CATALOGUE if each[0] not in taken]
    if not new:
        return
    # In an empty database the catalogue is there from the start; in another one it changes.
    revs = [rev + n for n in range(1, len(new) + 1)] if rev else [0] * len(new)
    now = datetime.now(UTC)
    op.bulk_insert(
        attributes,
        [
            {
                "name": name,
                "type": type,
                "description": description,
                "version": 1,
                "rev": at,
                "created_at": now,
                "updated_at": now,
            }
            for at, (name, type, description) in zip(revs, new, strict=True)
        ],
    )
    if not rev:
        return
    changes = sa.table(
        "changes",
        sa.column("rev"),
        sa.column("kind"),
        sa.column("object_id"),
        sa.column("nonce"),
        sa.column("payload"),
        sa.column("at"),
    )
    op.bulk_insert(
        changes,
        [
            {
                "rev": at,
                "kind": "attribute",
                "object_id": name,
                "nonce": secrets.token_hex(8),
                "payload": json.dumps({"name": name, "type": type}),
                "at": now.timestamp(),
            }
            for at, (name, type, _) in zip(revs, new, strict=True)
        ],
    )
    connection.execute(head.update().values(rev=revs[-1], catalogue_rev=revs[-1]))


def downgrade() -> None:
    """Remove the columns. The attributes stay: campaigns may use them."""
    op.drop_column("advertisers", "apps")
    op.drop_column("advertisers", "seat")
