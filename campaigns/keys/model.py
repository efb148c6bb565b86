"""API keys: their fields, their token, and how a token is verified.

    copse_1f6c2a9b04d7_KfP0b8…            the token, shown once
          └── prefix      └── 128 bits    only their SHA-256 is stored

The secret is random, not chosen by a person, so one round of SHA-256 is as safe as a slow hash and
costs a microsecond. Prefixes are public: they identify the row, and appear in the audit log.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar

from campaigns.errors import FieldProblem
from campaigns.fields import MAX_NAME, Integer, Moment, Text, Texts
from campaigns.log.changes import KEY, NewChange, encode
from campaigns.record import Checked, CreatedAt, Field, Id, Record, Rev, Version, check_new
from campaigns.timestamps import seconds

MAX_RATE = 1_000_000
MAX_BODY_BYTES = 256 * 1024
"""The largest body that any key may send; imports have no limit."""

SCOPES = (
    "match",
    "campaigns:read",
    "campaigns:write",
    "stats:write",
    "audit:read",
    "keys:write",
)

_TOKEN = "copse"
_PREFIX_BYTES = 6
_SECRET_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(Record):
    """A key as it is stored. `rate` (requests a second to each worker) and `max_body` (bytes) are
    its own limits; where one is null, the setting applies."""

    kind: ClassVar = KEY

    id: Id
    name: Annotated[str, Field(Text(MAX_NAME), "its owner or purpose", "ad server")]
    prefix: Annotated[
        str,
        Field(
            Text(), "the public part of the token", "1f6c2a9b04d7", read_only="prefix is read-only"
        ),
    ]
    secret_hash: str
    scopes: Annotated[
        tuple[str, ...],
        Field(
            Texts(most=len(SCOPES), longest=100, known=SCOPES),
            f"what it may do: {', '.join(SCOPES)}",
            ["match"],
        ),
    ]
    created_at: CreatedAt
    expires_at: Annotated[datetime | None, Field(Moment(), "null: never")] = None
    revoked_at: Annotated[
        datetime | None, Field(Moment(), "null: it is not", read_only="a key is revoked by a route")
    ] = None
    rate: Annotated[
        int | None, Field(Integer(1, MAX_RATE), "most requests a second to each worker", 500)
    ] = None
    max_body: Annotated[
        int | None, Field(Integer(1, MAX_BODY_BYTES), "most bytes in a request body")
    ] = None
    version: Version
    rev: Rev

    def change(self) -> NewChange:
        """What a worker needs to check a request without the database."""
        content = {
            "id": self.id,
            "prefix": self.prefix,
            "secret_hash": self.secret_hash,
            "scopes": self.scopes,
            "expires_at": seconds(self.expires_at),
            "revoked": self.revoked_at is not None,
            "rate": self.rate,
            "max_body": self.max_body,
        }
        return NewChange(KEY, str(self.id), encode(content))


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key and its token, which cannot be read again."""

    key: ApiKey
    token: str


def make() -> tuple[str, str]:
    """A new prefix and a new secret."""
    return secrets.token_hex(_PREFIX_BYTES), secrets.token_urlsafe(_SECRET_BYTES)


def token_of(prefix: str, secret: str) -> str:
    """The token that the owner of the key sends."""
    return f"{_TOKEN}_{prefix}_{secret}"


def split(token: str) -> tuple[str, str] | None:
    """The prefix and the secret of a token; None if it is not a Copse token."""
    kind, _, rest = token.partition("_")
    prefix, _, secret = rest.partition("_")
    return (prefix, secret) if kind == _TOKEN and prefix and secret else None


def hash_of(secret: str) -> str:
    """The hash that is stored instead of the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def verify(secret: str, secret_hash: str) -> bool:
    """Whether this is the secret, in constant time."""
    return hmac.compare_digest(hash_of(secret), secret_hash)


def check_new_key(sent: Mapping[str, Any], now: datetime) -> Checked:
    """Check the fields of a new key; the values include defaults."""
    values, problems = check_new(ApiKey, sent)
    if values.get("scopes") == ():
        problems.append(FieldProblem("/scopes", "list.empty", "a key needs at least one scope"))
    expires_at = values.get("expires_at")
    if expires_at is not None and expires_at <= now:
        problems.append(FieldProblem("/expires_at", "moment.past", "this time has passed"))
    return values, problems
