"""The first tables, the head of the log, and a catalogue for OpenRTB traffic.

Revision: 0001.
"""

import secrets
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)

CATALOGUE = (
    # The user.
    ("segments", "int list", "audience segments of the user, by number"),
    ("age", "int", "years, from user.yob"),
    ("user.gender", "string", "M, F or O"),
    ("user.segments", "string list", "user.data segments as provider|taxonomy:segment"),
    # Where the user is.
    ("country", "string", "ISO 3166-1 alpha-2, from device.geo or user.geo"),
    ("geo.region", "string", "ISO 3166-2 subdivision without the country"),
    ("geo.metro", "string", "metro code of geo"),
    ("geo.city", "string", "city of geo"),
    ("geo.zip", "string", "postal code of geo"),
    ("geo.lat", "float", "latitude, -90 to 90"),
    ("geo.lon", "float", "longitude, -180 to 180"),
    ("local.hour", "int", "the hour where the user is, 0 to 23, from geo.utcoffset"),
    # On what.
    ("device.type", "string", "phone, tablet, desktop, tv, console, set_top_box or other"),
    ("device.os", "string", "operating system, lower case: ios, android, windows …"),
    ("device.os_version", "string", "version of the operating system"),
    ("device.make", "string", "maker of the device"),
    ("device.model", "string", "model of the device"),
    ("device.language", "string", "ISO 639-1, lower case"),
    ("device.connection", "string", "ethernet, wifi, cellular, 2g, 3g, 4g or 5g"),
    # In which place.
    ("categories", "string list", "IAB categories of the site or app, section and page included"),
    ("site.domain", "string", "domain of the site, lower case"),
    ("site.page", "string", "address of the page"),
    ("site.categories", "string list", "IAB categories of the site"),
    ("app.bundle", "string", "bundle or package of the app"),
    ("app.name", "string", "name of the app"),
    ("app.categories", "string list", "IAB categories of the app"),
    ("publisher.id", "string", "the exchange's id of the publisher"),
    ("publisher.name", "string", "name of the publisher"),
    # For which impression.
    ("imp.media", "string list", "banner, video, native, audio: what may be shown"),
    ("imp.sizes", "string list", "sizes as 300x250"),
    ("imp.position", "int", "ad position, OpenRTB's list"),
    ("imp.secure", "bool", "whether everything must come by HTTPS"),
    ("imp.floor_micros", "int", "lowest bid for a thousand, in micros"),
    ("imp.deals", "string list", "ids of the deals that are offered"),
    ("imp.private_auction", "bool", "whether only deals may bid"),
    # Under which rules.
    ("privacy.gdpr", "bool", "whether the GDPR applies"),
    ("privacy.coppa", "bool", "whether the COPPA applies"),
    ("privacy.us", "string", "the US privacy string"),
)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "advertisers",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("domain", sa.String(253), nullable=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_advertisers"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "campaigns",
        sa.Column("id", ID, nullable=False),
        sa.Column("external_id", sa.String(200), nullable=True),
        sa.Column("advertiser_id", ID, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("starts_at", TIME, nullable=True),
        sa.Column("ends_at", TIME, nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("bid_micros", sa.BigInteger(), nullable=False),
        sa.Column("categories", sa.JSON(), nullable=False),
        sa.Column("targeting", sa.Text(), nullable=False),
        sa.Column("tree", sa.Text(), nullable=False),
        sa.Column("attribute_names", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["advertiser_id"], ["advertisers.id"], name="fk_campaigns_advertiser_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
        sa.UniqueConstraint("external_id", name="uq_campaigns_external_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_campaigns_status_id", "campaigns", ["status", "id"])
    op.create_index("ix_campaigns_advertiser_id_id", "campaigns", ["advertiser_id", "id"])
    op.create_index("ix_campaigns_fingerprint", "campaigns", ["fingerprint"])
    op.create_index("ix_campaigns_rev", "campaigns", ["rev"])
    attributes = op.create_table(
        "attributes",
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_attributes"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("prefix", sa.String(32), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("prefix", name="uq_api_keys_prefix"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "audit_log",
        sa.Column("id", ID, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("object_id", sa.String(200), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_log_kind_object_id_id", "audit_log", ["kind", "object_id", "id"])
    op.create_table(
        "changes",
        sa.Column("rev", ID, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("object_id", sa.String(200), nullable=False),
        sa.Column("nonce", sa.String(16), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("rev", name="pk_changes"),
    )
    feed_head = op.create_table(
        "feed_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.String(32), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("catalogue_rev", sa.BigInteger(), nullable=False),
        sa.Column("pruned_rev", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_feed_head_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_feed_head"),
    )
    op.create_table(
        "idempotency",
        sa.Column("key_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("request_hash", sa.String(64), nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("headers", sa.JSON(), nullable=True),
        sa.Column("locked_until", TIME, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("key_id", "key", name="pk_idempotency"),
    )
    op.create_index("ix_idempotency_created_at", "idempotency", ["created_at"])
    op.bulk_insert(
        feed_head,
        [{"id": 1, "epoch": secrets.token_hex(8), "rev": 0, "catalogue_rev": 0, "pruned_rev": 0}],
    )
    now = datetime.now(UTC)
    op.bulk_insert(
        attributes,
        [
            {
                "name": name,
                "type": type,
                "description": description,
                "version": 1,
                "rev": 0,
                "created_at": now,
                "updated_at": now,
            }
            for name, type, description in CATALOGUE
        ],
    )


def downgrade() -> None:
    """Remove the tables, campaigns and all."""
    for table in (
        "idempotency",
        "feed_head",
        "changes",
        "audit_log",
        "api_keys",
        "attributes",
        "campaigns",
        "advertisers",
    ):
        op.drop_table(table)
