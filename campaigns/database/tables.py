"""The tables. Each noun's `repository.py` has its SQL, and its `model.py` the rules of its fields.

    advertisers ◀── campaigns
    attributes                           what targeting can use
    operators                            what targeting can call
    api_keys                             who may call the API
    changes, feed_head                   the change log and its head
    audit_log                            who did what
    idempotency                          answers to repeat
    statistics ◀── statistics_samples    statistics about the traffic
    delivery, delivery_reasons           what became of sampled requests

`version` counts the writes of a row; `rev` is the position of the last one in the log. The one row
of `feed_head` is the lock under which revs are assigned.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from campaigns.fields import MAX_DOMAIN, MAX_NAME


class UtcTime(TypeDecorator[datetime]):
    """A time, aware and in UTC in Python, also where the database has no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# SQLite assigns row numbers only in a column that is declared INTEGER.
Id = BigInteger().with_variant(Integer(), "sqlite")


class Base(DeclarativeBase):
    """The metadata that the migrations are checked against; every constraint has a name."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class AdvertiserRow(Base):
    __tablename__ = "advertisers"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (SQLAlchemy's own idiom)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_NAME))
    domain: Mapped[str | None] = mapped_column(String(MAX_DOMAIN))
    seat: Mapped[str | None] = mapped_column(String(MAX_NAME))
    apps: Mapped[list[str] | None] = mapped_column(JSON)
    status: Mapped[str] = mapped_column(String(16))
    version: Mapped[int] = mapped_column(BigInteger)
    rev: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class CampaignRow(Base):
    """`tree` is the checked tree as written, in compact JSON, `attribute_names` the JSON array of
    the attributes in it, `fingerprint` the hash of its normal form."""

    __tablename__ = "campaigns"
    __table_args__ = (
        Index(None, "status", "id"),
        Index(None, "advertiser_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    external_id: Mapped[str | None] = mapped_column(String(MAX_NAME), unique=True)
    advertiser_id: Mapped[int] = mapped_column(ForeignKey("advertisers.id"), type_=Id)
    name: Mapped[str] = mapped_column(String(MAX_NAME))
    status: Mapped[str] = mapped_column(String(16))
    starts_at: Mapped[datetime | None] = mapped_column(UtcTime)
    ends_at: Mapped[datetime | None] = mapped_column(UtcTime)
    priority: Mapped[int] = mapped_column(Integer)
    bid_micros: Mapped[int] = mapped_column(BigInteger)
    categories: Mapped[list[str]] = mapped_column(JSON)
    targeting: Mapped[str] = mapped_column(Text)
    tree: Mapped[str] = mapped_column(Text)
    attribute_names: Mapped[str] = mapped_column(Text)
    fingerprint: Mapped[str] = mapped_column(String(64), index=True)
    version: Mapped[int] = mapped_column(BigInteger)
    rev: Mapped[int] = mapped_column(BigInteger, index=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class AttributeRow(Base):
    __tablename__ = "attributes"

    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    type: Mapped[str] = mapped_column(String(16))
    description: Mapped[str] = mapped_column(Text)
    values: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    version: Mapped[int] = mapped_column(BigInteger)
    rev: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class OperatorRow(Base):
    __tablename__ = "operators"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    type: Mapped[str] = mapped_column(String(16))
    url: Mapped[str | None] = mapped_column(Text)
    entry_point: Mapped[str | None] = mapped_column(String(200))
    arguments: Mapped[list[str]] = mapped_column(JSON)
    result: Mapped[str] = mapped_column(String(16))
    description: Mapped[str] = mapped_column(Text)
    timeout_ms: Mapped[int] = mapped_column(Integer)
    budget_ms: Mapped[int] = mapped_column(Integer)
    cache_seconds: Mapped[int] = mapped_column(Integer)
    cache_entries: Mapped[int] = mapped_column(Integer)
    cost_us: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(BigInteger)
    rev: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class ApiKeyRow(Base):
    """Only a hash of the secret is stored; the prefix identifies the row."""

    __tablename__ = "api_keys"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (SQLAlchemy's own idiom)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(MAX_NAME))
    prefix: Mapped[str] = mapped_column(String(32), unique=True)
    secret_hash: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[list[str]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcTime)
    rate: Mapped[int | None] = mapped_column(Integer)
    max_body: Mapped[int | None] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(BigInteger)
    rev: Mapped[int] = mapped_column(BigInteger)


class AuditRow(Base):
    __tablename__ = "audit_log"
    __table_args__ = (
        Index(None, "kind", "object_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcTime)
    actor: Mapped[str] = mapped_column(String(200))
    action: Mapped[str] = mapped_column(String(32))
    kind: Mapped[str] = mapped_column(String(16))
    object_id: Mapped[str] = mapped_column(String(200))
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    rev: Mapped[int] = mapped_column(BigInteger)


class ChangeRow(Base):
    """`payload` is JSON text, `null` for a removed object; `at` is in epoch seconds."""

    __tablename__ = "changes"

    rev: Mapped[int] = mapped_column(Id, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(16))
    object_id: Mapped[str] = mapped_column(String(200))
    nonce: Mapped[str] = mapped_column(String(16))
    payload: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Double)


class FeedHeadRow(Base):
    """One row. Changes with a rev up to `pruned_rev` are removed; the catalogue last changed at
    `catalogue_rev`. With `stream_secret` the changes in Redis are proven to come from here."""

    __tablename__ = "feed_head"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    epoch: Mapped[str] = mapped_column(String(32))
    rev: Mapped[int] = mapped_column(BigInteger)
    catalogue_rev: Mapped[int] = mapped_column(BigInteger)
    pruned_rev: Mapped[int] = mapped_column(BigInteger)
    stream_secret: Mapped[str | None] = mapped_column(String(64))


class IdempotencyRow(Base):
    """An idempotency key with the answer of its request. Only earlier versions use `token` and
    `locked_until`, for requests without an answer."""

    __tablename__ = "idempotency"

    key_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    token: Mapped[str] = mapped_column(String(32))
    status: Mapped[int | None] = mapped_column(Integer)
    body: Mapped[str | None] = mapped_column(Text)
    headers: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    locked_until: Mapped[datetime] = mapped_column(UtcTime)
    created_at: Mapped[datetime] = mapped_column(UtcTime, index=True)


class StatisticsRow(Base):
    """A version: `document` is its canonical JSON, and `checksum` the SHA-256 of that. At most one
    is `active`; `previous_id` was active before it."""

    __tablename__ = "statistics"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (SQLAlchemy's own idiom)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    checksum: Mapped[str] = mapped_column(String(64), unique=True)
    window_from: Mapped[datetime] = mapped_column(UtcTime)
    window_to: Mapped[datetime] = mapped_column(UtcTime)
    days: Mapped[list[str]] = mapped_column(JSON)
    rows: Mapped[int] = mapped_column(BigInteger)
    quarantined: Mapped[int] = mapped_column(BigInteger)
    requests: Mapped[float] = mapped_column(Double)
    sample_rows: Mapped[int] = mapped_column(Integer)
    sample_rate: Mapped[float] = mapped_column(Double)
    gates: Mapped[str] = mapped_column(String(16))
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    drift: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    document: Mapped[str] = mapped_column(Text)
    active: Mapped[bool] = mapped_column(Boolean)
    previous_id: Mapped[int | None] = mapped_column(ForeignKey("statistics.id"), type_=Id)
    activated_at: Mapped[datetime | None] = mapped_column(UtcTime)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    rev: Mapped[int] = mapped_column(BigInteger)


class StatisticsSampleRow(Base):
    """The sampled requests of a version, compressed; apart from it, since they are rarely read."""

    __tablename__ = "statistics_samples"

    statistics_id: Mapped[int] = mapped_column(
        ForeignKey("statistics.id"), type_=Id, primary_key=True, autoincrement=False
    )
    content: Mapped[bytes] = mapped_column(LargeBinary)


class DeliveryRow(Base):
    """Counts of sampled requests for a campaign in an hour since 1970. The campaign may be gone."""

    __tablename__ = "delivery"

    campaign_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hour: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False, index=True)
    considered: Mapped[int] = mapped_column(BigInteger)
    matched: Mapped[int] = mapped_column(BigInteger)
    answered: Mapped[int] = mapped_column(BigInteger)


class DeliveryReasonRow(Base):
    """How often a reason kept a campaign out in an hour; `predicate` is empty unless the reason is
    its targeting."""

    __tablename__ = "delivery_reasons"

    campaign_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hour: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False, index=True)
    code: Mapped[str] = mapped_column(String(32), primary_key=True)
    predicate: Mapped[str] = mapped_column(String(200), primary_key=True)
    misses: Mapped[int] = mapped_column(BigInteger)
