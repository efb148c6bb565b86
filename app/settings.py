"""The settings: environment variables that begin with `COPSE_`, read once at start."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.match.hot_path import HotPath
from app.middleware.rate_limit import Throttle
from campaigns.campaign.eligibility import for_targeting
from campaigns.keys.model import MAX_BODY_BYTES, MAX_RATE
from index import Limits

PREFIX = "COPSE_"
_LIMITS = Limits()
DEEPEST = for_targeting(_LIMITS).depth


class SettingsError(ValueError):
    """A setting has a value that Copse cannot use."""


class Settings(BaseModel):
    """Every setting with its default; `copse settings` prints them with their meaning."""

    model_config = ConfigDict(frozen=True)

    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(
        default=8080, ge=0, le=65535, description="the port to listen on; 0 takes a free one"
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="warning", description="how much the server logs"
    )
    log_format: Literal["text", "json"] = Field(
        default="json", description="how it logs: a line of JSON a record, or one for people"
    )
    traces: bool = Field(
        default=False,
        description="send traces by OpenTelemetry (the extra `otel`; OTEL_… says where to)",
    )
    workers: int = Field(
        default=1, ge=1, le=256, description="how many processes serve, each with its own index"
    )
    hung_seconds: float = Field(
        default=10,
        ge=0,
        description="a worker whose event loop is silent for so long is killed and replaced; "
        "0 leaves it alone",
    )
    drain_seconds: int = Field(
        default=10, ge=0, description="how long SIGTERM waits for what has been begun"
    )
    longest_wait_ms: float = Field(
        default=250,
        gt=0,
        description="a match that has waited so long in a busy worker is refused: 503",
    )
    ready_lag_revs: int = Field(
        default=1000,
        ge=0,
        description="a worker becomes ready when its index lacks no more changes than this",
    )
    request_seconds: float = Field(
        default=30,
        gt=0,
        description="how long a request may take to arrive, and its answer to be taken; "
        "for an import, each pause",
    )
    cors_origins: str = Field(
        default="",
        pattern=r"^(\*|https?://[^\s,/*]+(,https?://[^\s,/*]+)*)?$",
        description="whose pages may call the API from a browser, as in "
        "https://a.example,https://b.example; * is everyone's",
    )
    run_directory: Path | None = Field(
        default=None,
        description="where the workers find each other; without it a temporary directory",
    )
    impressions_dir: Path | None = Field(
        default=None, description="where impressions are logged; without it they are not"
    )
    impression_sample_rate: float = Field(
        default=1.0, ge=0, le=1, description="the share of requests that are logged"
    )
    openrtb_limit: int = Field(
        default=10, ge=1, le=1000, description="how many matches an imp of a bid request gets"
    )
    openrtb_rates: str = Field(
        default="",
        pattern="^([A-Z]{3}=[0-9.]+(,[A-Z]{3}=[0-9.]+)*)?$",
        description="what other currencies are worth in USD, as in EUR=1.08,GBP=1.27",
    )
    openrtb_purposes: str = Field(
        default="1,2,3,4",
        pattern="^[0-9]+(,[0-9]+)*$",
        description="the TCF purposes that need consent before user attributes are used",
    )
    database_url: str = Field(
        default="sqlite:///copse.sqlite3",
        pattern="^(sqlite|postgres(ql)?)([+]\\w+)?://",
        description="where the campaigns are: postgresql://… or sqlite:///file",
    )
    database_connections: int = Field(
        default=5, ge=1, description="how many connections the admin API has at most, on Postgres"
    )
    redis_url: str | None = Field(
        default=None,
        pattern="^(rediss?|unix)://",
        description="the fast lane of the feed, with Postgres; without it the log is polled",
    )
    feed_poll_seconds: float = Field(
        default=0.2, gt=0, le=60, description="how often the log is polled where there is no Redis"
    )
    index_directory: Path | None = Field(
        default=None,
        description="where the index is kept between starts, a directory for each worker; "
        "without it every campaign is read at each start",
    )
    index_save_minutes: float = Field(
        default=10, gt=0, description="how often the index is kept there"
    )
    keep_changes: int = Field(
        default=1_000_000, ge=1, description="how many changes the log keeps; older ones are pruned"
    )
    keep_changes_hours: float = Field(
        default=168, gt=0, description="how long the log keeps a change"
    )
    keep_answers_hours: float = Field(
        default=24, gt=0, description="how long an Idempotency-Key is remembered"
    )
    prune_minutes: float = Field(
        default=10, gt=0, description="how often old changes and answers are pruned"
    )
    key_rate: int | None = Field(
        default=None,
        ge=1,
        le=MAX_RATE,
        description="the most requests a second of a key to a worker, unless the key has its own",
    )
    key_max_body: int | None = Field(
        default=None,
        ge=1,
        le=MAX_BODY_BYTES,
        description="the most bytes in a body, unless the key has its own limit; "
        f"without it {MAX_BODY_BYTES}",
    )
    max_expression_bytes: int = Field(
        default=_LIMITS.text_bytes, ge=1, description="the longest expression, in bytes of UTF-8"
    )
    max_predicates: int = Field(
        default=_LIMITS.predicates, ge=1, description="the most predicates in an expression"
    )
    max_depth: int = Field(
        default=DEEPEST,
        ge=1,
        le=DEEPEST,
        description=f"how deep parentheses and `not` may nest; at most {DEEPEST}",
    )
    max_set_values: int = Field(
        default=_LIMITS.set_values, ge=1, description="the most values in one set of an expression"
    )

    @property
    def limits(self) -> Limits:
        """What an expression may cost."""
        return Limits(
            text_bytes=self.max_expression_bytes,
            predicates=self.max_predicates,
            depth=self.max_depth,
            set_values=self.max_set_values,
        )

    @property
    def hot_path(self) -> HotPath:
        """What the match routes go by."""
        rates = (pair.partition("=") for pair in self.openrtb_rates.split(",") if pair)
        return HotPath(
            longest_wait=self.longest_wait_ms / 1000,
            openrtb_limit=self.openrtb_limit,
            openrtb_rates=tuple((currency, float(rate)) for currency, _, rate in rates),
            openrtb_purposes=frozenset(map(int, self.openrtb_purposes.split(","))),
        )

    def throttle(self) -> Throttle:
        """What keys may send: fresh buckets, all full."""
        return Throttle(self.key_rate, self.key_max_body)

    @property
    def keep_changes_for(self) -> timedelta:
        return timedelta(hours=self.keep_changes_hours)

    @property
    def keep_answers_for(self) -> timedelta:
        return timedelta(hours=self.keep_answers_hours)

    def shown(self, field: str) -> str:
        """A value as it may be printed: without the password of a URL."""
        value = str(getattr(self, field))
        return without_password(value) if field.endswith("_url") else value

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read `COPSE_…`; raises `SettingsError` naming every variable that is wrong. An empty
        variable is one that is not set."""
        given = {
            field: environment[variable(field)]
            for field in cls.model_fields
            if environment.get(variable(field))
        }
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            wrong = [_wrong(str(e["loc"][0]), e["input"], e["msg"]) for e in error.errors()]
            raise SettingsError("\n".join(wrong)) from None


def variable(field: str) -> str:
    """The environment variable that sets a field."""
    return PREFIX + field.upper()


def without_password(url: str) -> str:
    """The URL with stars for its password, if it has one."""
    parts = urlsplit(url)
    user, separator, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    if not colon:
        return url
    return urlunsplit(parts._replace(netloc=f"{name}:***{separator}{host}"))


def _wrong(field: str, value: object, message: str) -> str:
    shown = without_password(str(value)) if field.endswith("_url") else str(value)
    return f"{variable(field)}={shown!r}: {message}"
