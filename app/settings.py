"""The settings: environment variables that begin with `COPSE_`, read once at start."""

import difflib
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from redis.connection import parse_url

from app.match.context import MatchSettings
from app.middleware.rate_limit import RateLimiter
from app.observability.masking import without_secrets
from app.openrtb.extension import read
from app.openrtb.mapping import TABLE
from campaigns.database.engine import driver_url
from campaigns.errors import BadDatabaseUrl
from campaigns.keys.model import MAX_BODY_BYTES, MAX_RATE
from index import Limits
from index.language.limits import MAX_DEPTH

PREFIX = "COPSE_"
_SERVICE_LINK = re.compile(
    r"COPSE_(\w+_)?(SERVICE_(HOST|PORT)\w*=.*|PORT_\d+_(TCP|UDP)\w*=.*|PORT=(tcp|udp)://.*)"
)
"""What Kubernetes sets in every pod beside a service whose name begins with `copse`."""

_LIMITS = Limits()


class SettingsError(ValueError):
    """A setting has a value that Copse cannot use."""


class Settings(BaseModel):
    """Every setting with its default and meaning (`copse settings`, `docs/settings.md`)."""

    model_config = ConfigDict(frozen=True)

    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(
        default=8080, ge=0, le=65535, description="port to listen on; 0 chooses a free one"
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="warning", description="lowest level of the log lines that are written"
    )
    log_format: Literal["text", "json"] = Field(
        default="json", description="log format: one JSON object per line, or text for people"
    )
    access_log: bool = Field(
        default=False,
        description="log each write and each error: request id, method, route, status, duration "
        "and id of the key",
    )
    traces: bool = Field(
        default=False,
        description="send OpenTelemetry traces; needs the extra `otel`, and OTEL_… variables for "
        "the destination",
    )
    workers: int = Field(
        default=1, ge=1, le=256, description="number of worker processes, each with its own index"
    )
    hung_seconds: float = Field(
        default=10,
        ge=0,
        description="seconds after which a worker whose event loop does not respond is killed and "
        "replaced; 0 turns this off",
    )
    drain_seconds: int = Field(
        default=10, ge=0, description="seconds to finish in-flight requests after SIGTERM"
    )
    longest_wait_ms: float = Field(
        default=250,
        gt=0,
        description="milliseconds that a match may wait in a busy worker before it is refused "
        "with 503; a twentieth of it in an overload",
    )
    ready_lag_revs: int = Field(
        default=1000,
        ge=0,
        description="number of missing changes up to which a starting worker reports ready",
    )
    request_seconds: float = Field(
        default=30,
        gt=0,
        description="seconds for a client to send a request, and to read the response; for an "
        "import, for each pause",
    )
    keep_alive_seconds: float = Field(
        default=75,
        gt=0,
        description="seconds that an idle connection stays open; longer than that of a proxy in "
        "front",
    )
    cors_origins: str = Field(
        default="",
        pattern=r"^(\*|https?://[^\s,/*]+(,https?://[^\s,/*]+)*)?$",
        description="allowed CORS origins, as in https://a.example,https://b.example; * allows all",
    )
    run_directory: Path | None = Field(
        default=None,
        description="directory for the sockets between the workers; without it a temporary one",
    )
    impressions_dir: Path | None = Field(
        default=None,
        description="directory of the impression log; without it nothing is logged",
    )
    impression_sample_rate: float = Field(
        default=1.0, ge=0, le=1, description="share of the requests that are logged as impressions"
    )
    delivery_share: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="most of a worker's CPU for sampling what becomes of requests, for "
        "/v1/campaigns/{id}/delivery; 0 turns it off",
    )
    delivery_campaigns: int = Field(
        default=5000,
        ge=1,
        le=1_000_000,
        description="most campaigns whose delivery is counted; of more, every k-th is",
    )
    delivery_seconds: float = Field(
        default=60, gt=0, description="least seconds between two writes of the delivery"
    )
    keep_delivery_hours: float = Field(
        default=72, ge=1, description="hours that the delivery is kept"
    )
    unknown_attributes: Literal["ignore", "report", "refuse"] = Field(
        default="ignore",
        description="what a match does with attributes that the catalogue does not have, unless "
        "the request says `strict`: ignore them, report them (as `strict: false`), or refuse the "
        "request (as `strict: true`)",
    )
    operator_hosts: str = Field(
        default="",
        description="hosts that operators may be called at (`models.example`, or one port of it "
        "with `models.example:8080`), separated by commas; none without it",
    )
    openrtb_limit: int = Field(
        default=10, ge=1, le=1000, description="most matches for each imp of a bid request"
    )
    openrtb_rates: str = Field(
        default="",
        pattern="^([A-Z]{3}=[0-9.]+(,[A-Z]{3}=[0-9.]+)*)?$",
        description="exchange rates of other currencies in USD, as in EUR=1.08,GBP=1.27",
    )
    openrtb_purposes: str = Field(
        default="1,2,3,4",
        pattern="^[0-9]+(,[0-9]+)*$",
        description="TCF purposes that need consent before user attributes are used",
    )
    openrtb_mapping: Path | None = Field(
        default=None,
        description="TOML file with more fields of bid requests and their attributes "
        "(docs/openrtb.md)",
    )
    console_host: str = Field(
        default="127.0.0.1", description="address that the console listens on"
    )
    console_port: int = Field(
        default=8081, ge=0, le=65535, description="port of the console; 0 chooses a free one"
    )
    console_api_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="where the console finds the API; default: this machine, COPSE_PORT",
    )
    console_root_path: str = Field(
        default="",
        pattern=r"^(/[\w./-]*)?$",
        description="path below which a proxy serves the console, as in /console",
    )
    console_session_minutes: float = Field(
        default=60, gt=0, description="minutes without a request after which a session ends"
    )
    database_url: str = Field(
        default="sqlite:///copse.sqlite3",
        description="database of the campaigns: postgresql://… or sqlite:///file",
    )
    database_connections: int = Field(
        default=5, ge=1, description="most Postgres connections of the admin API, for each worker"
    )
    database_seconds: float = Field(
        default=5,
        gt=0,
        description="seconds for a transaction of the admin API on Postgres, waiting included; "
        "then it is rolled back and answered with 503. Keep it below the timeout of the clients",
    )
    redis_url: str | None = Field(
        default=None,
        description="Redis for fast delivery of changes, with Postgres; without it workers poll "
        "the log",
    )
    feed_poll_seconds: float = Field(
        default=0.2, gt=0, le=60, description="seconds between two polls of the log without Redis"
    )
    index_directory: Path | None = Field(
        default=None,
        description="directory for snapshots of the index, with a subdirectory for each worker; "
        "without it each start loads all campaigns from the database",
    )
    index_save_minutes: float = Field(
        default=10, gt=0, description="minutes between two snapshots of the index"
    )
    keep_changes: int = Field(
        default=1_000_000,
        ge=1,
        description="most changes in the log; older ones are pruned",
    )
    keep_changes_hours: float = Field(
        default=168, gt=0, description="hours that the log keeps a change"
    )
    keep_answers_hours: float = Field(
        default=24, gt=0, description="hours that an Idempotency-Key is remembered"
    )
    prune_minutes: float = Field(
        default=10, gt=0, description="minutes between two prunings of old changes and answers"
    )
    key_rate: int | None = Field(
        default=None,
        ge=1,
        le=MAX_RATE,
        description="most requests a second from one key to one worker, unless the key has its own "
        "limit",
    )
    key_max_body: int | None = Field(
        default=None,
        ge=1,
        le=MAX_BODY_BYTES,
        description="most bytes in a request body, unless the key has its own limit; without it "
        f"{MAX_BODY_BYTES}",
    )
    max_expression_bytes: int = Field(
        default=_LIMITS.text_bytes, ge=1, description="most bytes of an expression, in UTF-8"
    )
    max_predicates: int = Field(
        default=_LIMITS.predicates, ge=1, description="most predicates in an expression"
    )
    max_depth: int = Field(
        default=_LIMITS.depth,
        ge=1,
        le=MAX_DEPTH,
        description=f"most levels of parentheses and `not` in an expression; at most {MAX_DEPTH}",
    )
    max_set_values: int = Field(
        default=_LIMITS.set_values, ge=1, description="most values in one set of an expression"
    )

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, url: str) -> str:
        try:
            driver_url(url)
        except BadDatabaseUrl as error:
            raise ValueError(str(error)) from None
        return url

    @field_validator("operator_hosts")
    @classmethod
    def _check_operator_hosts(cls, hosts: str) -> str:
        if "/" in hosts:
            raise ValueError("name hosts, not URLs: models.example, or models.example:8080")
        return hosts

    @field_validator("openrtb_mapping")
    @classmethod
    def _check_openrtb_mapping(cls, file: Path | None) -> Path | None:
        if file is not None:
            read(file)  # a ValueError says what is wrong
        return file

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, url: str | None) -> str | None:
        if url is not None:
            parse_url(url)  # type: ignore[no-untyped-call] # a ValueError says what is wrong
        return url

    @property
    def limits(self) -> Limits:
        """The limits of an expression."""
        return Limits(
            text_bytes=self.max_expression_bytes,
            predicates=self.max_predicates,
            depth=self.max_depth,
            set_values=self.max_set_values,
        )

    @property
    def match_settings(self) -> MatchSettings:
        """The settings of the match routes."""
        rates = (pair.partition("=") for pair in self.openrtb_rates.split(",") if pair)
        return MatchSettings(
            longest_wait=self.longest_wait_ms / 1000,
            strict={"ignore": None, "report": False, "refuse": True}[self.unknown_attributes],
            openrtb_limit=self.openrtb_limit,
            openrtb_rates=tuple((currency, float(rate)) for currency, _, rate in rates),
            openrtb_purposes=frozenset(map(int, self.openrtb_purposes.split(","))),
            openrtb_table=TABLE if self.openrtb_mapping is None else read(self.openrtb_mapping),
        )

    @property
    def operator_host_names(self) -> frozenset[str]:
        """The hosts that operators may be called at."""
        names = (each.strip().lower() for each in self.operator_hosts.split(","))
        return frozenset(filter(None, names))

    def rate_limiter(self) -> RateLimiter:
        """A new rate limiter with the limits of the settings."""
        return RateLimiter(self.key_rate, self.key_max_body)

    @property
    def keep_changes_for(self) -> timedelta:
        return timedelta(hours=self.keep_changes_hours)

    @property
    def keep_answers_for(self) -> timedelta:
        return timedelta(hours=self.keep_answers_hours)

    @property
    def keep_delivery_for(self) -> timedelta:
        return timedelta(hours=self.keep_delivery_hours)

    def shown(self, field: str) -> str:
        """The value for printing, without passwords."""
        return without_secrets(str(getattr(self, field)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read the `COPSE_…` variables; `SettingsError` names every wrong one, and every one that
        is misspelt. An empty variable counts as not set."""
        unknown = _unknown(environment)
        given = {
            field: environment[variable(field)]
            for field in cls.model_fields
            if environment.get(variable(field))
        }
        try:
            settings = cls.model_validate(given)
        except ValidationError as error:
            wrong = [_wrong(str(e["loc"][0]), e["input"], e["msg"]) for e in error.errors()]
            raise SettingsError("\n".join(wrong + unknown)) from None
        if unknown:
            raise SettingsError("\n".join(unknown))
        return settings


def variable(field: str) -> str:
    """The environment variable that sets a field."""
    return PREFIX + field.upper()


def _wrong(field: str, value: object, message: str) -> str:
    shown = without_secrets(str(value))
    return f"{variable(field)}={shown!r}: {message.removeprefix('Value error, ')}"


def _unknown(environment: Mapping[str, str]) -> list[str]:
    """A complaint about each variable that looks like a setting and is none."""
    known = [variable(field).removeprefix(PREFIX) for field in Settings.model_fields]
    found = []
    for name, value in sorted(environment.items()):
        short = name.removeprefix(PREFIX)
        if not name.startswith(PREFIX) or short in known:
            continue
        if not _SERVICE_LINK.fullmatch(f"{name}={value}"):
            near = difflib.get_close_matches(short, known, 1)
            hint = f"did you mean {PREFIX}{near[0]}?" if near else "`copse settings` lists them"
            found.append(f"{name}: there is no such setting; {hint}")
    return found
