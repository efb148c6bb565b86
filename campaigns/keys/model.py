"""API keys: what one is made of, how it is checked, and what it allows.

    copse_1f6c2a9b04d7_KfP0b8…            the token, shown once
          └── prefix      └── 128 bits    only their SHA-256 is stored

The secret is random, not chosen, so one round of SHA-256 is as good as a slow hash and costs a
microsecond. Prefixes are public: they find the row and stand in the audit log.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from campaigns.errors import FieldProblem
from campaigns.fields import Check, check_fields, integer, missing, moment, text, texts
from campaigns.log.changes import KEY, NewChange, encode
from campaigns.timestamps import seconds, written

MAX_RATE = 1_000_000
MAX_BODY_BYTES = 256 * 1024
"""No key may send more in one body, an import excepted."""

SCOPES = ("match", "campaigns:read", "campaigns:write", "stats:write", "audit:read")

_TOKEN = "copse"
_PREFIX_BYTES = 6
_SECRET_BYTES = 16

FIELDS: dict[str, Check] = {
    "name": text(200),
    "scopes": texts(most=len(SCOPES), longest=100, known=SCOPES),
    "expires_at": moment,
    "rate": integer(1, MAX_RATE),
    "max_body": integer(1, MAX_BODY_BYTES),
}
DEFAULTS: dict[str, Any] = {"expires_at": None, "rate": None, "max_body": None}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored. It may send `rate` requests a second to a worker and `max_body` bytes
    in each; where it has no limit of its own, that of the settings counts."""

    id: int
    name: str
    prefix: str
    secret_hash: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    rate: int | None
    max_body: int | None
    version: int
    rev: int

    def to_dict(self) -> dict[str, Any]:
        """The key as people see it: without anything of its secret."""
        return {
            "id": self.id,
            "name": self.name,
            "prefix": self.prefix,
            "scopes": list(self.scopes),
            "created_at": written(self.created_at),
            "expires_at": written(self.expires_at),
            "revoked_at": written(self.revoked_at),
            "rate": self.rate,
            "max_body": self.max_body,
            "version": self.version,
            "rev": self.rev,
        }

    def change(self) -> NewChange:
        """What the replicas are told: enough to check a request without the database."""
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
    """A key that was just made, and its token, which nobody can read again."""

    key: ApiKey
    token: str


COLUMNS = tuple(field.name for field in fields(ApiKey))


def make() -> tuple[str, str]:
    """A new prefix and a new secret."""
    return secrets.token_hex(_PREFIX_BYTES), secrets.token_urlsafe(_SECRET_BYTES)


def token_of(prefix: str, secret: str) -> str:
    """What the owner of the key sends."""
    return f"{_TOKEN}_{prefix}_{secret}"


def split(token: str) -> tuple[str, str] | None:
    """The prefix and the secret of a token, or None if it is not one of ours."""
    kind, _, rest = token.partition("_")
    prefix, _, secret = rest.partition("_")
    return (prefix, secret) if kind == _TOKEN and prefix and secret else None


def hash_of(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def verify(secret: str, secret_hash: str) -> bool:
    """Whether this is the secret, in a time that does not depend on how much of it is right."""
    return hmac.compare_digest(hash_of(secret), secret_hash)


def check_new(sent: Mapping[str, Any], now: datetime) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields of a key to be, defaults included, and what is wrong with them."""
    values, problems = check_fields(sent, FIELDS, DEFAULTS, {})
    problems += missing(sent, FIELDS, DEFAULTS)
    if values.get("scopes") == ():
        problems.append(FieldProblem("/scopes", "list.empty", "a key needs a scope"))
    expires_at = values.get("expires_at")
    if expires_at is not None and expires_at <= now:
        problems.append(FieldProblem("/expires_at", "moment.past", "this moment has passed"))
    return DEFAULTS | values, problems
