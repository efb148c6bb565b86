"""The figures of a run, and its verdict, computed from what was recorded."""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from loadtest.feed_bytes import FeedBytes
from loadtest.latencies import Kinds, Latencies, total
from loadtest.monitor import Sample
from loadtest.plan import RAMP_SECONDS, Plan
from testkit.answers import Checked
from testkit.constant_rate import milliseconds

BUSY = 0.85
"""A process that ran, or was ready to run, for this share of the time is saturated."""

MUCH_MORE = 1.5
"""If wrk reaches this many times the throughput over as many connections, the service is not the
limit."""

SHED = "503"
"""The documented refusal of an overloaded service."""

CROWDED = 0.5
"""If other processes use this many cores, the measured times are too long."""

EVERYTHING = "all"
MATCHES = ("match", "openrtb")
"""The kinds of request that are matches; all others are writes."""


@dataclass(frozen=True, slots=True)
class Row:
    """Requests of one kind; times in milliseconds."""

    kind: str
    count: int
    per_second: float
    p50: float | None
    p95: float | None
    p99: float | None
    longest: float | None
    wrong: int


@dataclass(frozen=True)
class Figures:
    """Everything that the report contains."""

    plan: Plan
    machine: dict[str, str]
    rows: list[Row]
    samples: list[Sample]
    errors: dict[str, int]
    checked: Checked
    digest: str
    notes: list[str]
    change_bytes: FeedBytes | None
    wrk_rate: float | None
    wrk_refused: int
    missed: int
    """Readings of the service that failed."""

    @property
    def all(self) -> Row:
        return self.rows[0]

    def mean(self, field: str) -> float:
        """The mean of a field of the samples."""
        return statistics.fmean([getattr(s, field) for s in self.samples] or [0.0])

    def most(self, field: str) -> float | None:
        """The largest value of a field of the samples, if it was ever known."""
        values = [value for s in self.samples if (value := getattr(s, field)) is not None]
        return max(values, default=None)

    @property
    def server_cpu_us(self) -> float:
        """CPU of the service per request, all workers together."""
        return 1e6 * self.mean("server") / self.all.per_second if self.all.per_second else 0.0

    @property
    def times_wrk(self) -> float | None:
        """wrk's throughput as a multiple of Locust's, if both sent as much as they could."""
        matches = sum(row.per_second for row in self.rows if row.kind in MATCHES)
        if self.wrk_rate is None or not matches or self.plan.rate is not None:
            return None
        return self.wrk_rate / matches

    @property
    def locust_is_the_bottleneck(self) -> bool:
        if self.plan.rate is not None:
            return False
        return self.mean("wanted") >= BUSY or (self.times_wrk or 0.0) >= MUCH_MORE

    @property
    def bottleneck(self) -> str:
        """What limits the throughput."""
        busy = (
            f"Its busiest process ran, or was ready to run, {self.mean('wanted'):.0%} of the time, "
            f"and had {self.mean('locust'):.2f} of a core"
        )
        if self.plan.rate is not None:
            return f"Locust kept to the requested rate. {busy}."
        if not self.locust_is_the_bottleneck:
            return f"Locust was not the bottleneck. {busy}."
        comparison = "."
        if self.times_wrk is not None:
            alone = ", without writes" if self.plan.scenario.writes else ""
            comparison = (
                f": wrk got {self.wrk_rate:,.0f} matches a second from the same service over as "
                f"many connections{alone}, {self.times_wrk:.1f} times as many."
            )
        return (
            f"Locust itself is the bottleneck. {busy}. The throughput is Locust's and not the "
            f"service's{comparison}"
        )

    @property
    def refused(self) -> int:
        """Requests that the overloaded service shed."""
        return sum(count for what, count in self.errors.items() if what.endswith(f" {SHED}"))

    @property
    def warnings(self) -> list[str]:
        """What a reader of the figures must know."""
        found = [self.bottleneck] if self.locust_is_the_bottleneck else []
        if self.mean("others") >= CROWDED:
            found.append(
                f"The machine was busy: other processes (including Postgres) used "
                f"{self.mean('others'):.1f} of the {self.mean('machine'):.1f} busy cores. The "
                "service alone would be faster."
            )
        if self.refused:
            found.append(
                f"{self.refused:,} requests were refused with {SHED}: the service could not answer "
                "them before their deadline."
            )
        return found

    @property
    def problems(self) -> list[str]:
        """Reasons to fail the run; a run without any has passed."""
        found = []
        if failed := sum(self.errors.values()) - self.refused:
            found.append(f"{failed:,} requests failed")
        if self.checked.wrong:
            found.append(self.checked.summary)
        if not self.all.count:
            found.append("no request was answered")
        return found


def rows_of(seconds: Mapping[int, Kinds], count: int) -> list[Row]:
    """A row for all requests, then one per kind, the most frequent first."""
    kinds: Kinds = {}
    for each in seconds.values():
        for kind, latencies in each.items():
            kinds.setdefault(kind, Latencies()).add(latencies)
    rows = [_row(kind, latencies, count) for kind, latencies in kinds.items()]
    ordered = sorted(rows, key=lambda row: -row.count)
    return [_row(EVERYTHING, total(kinds.values()), count), *ordered]


def errors_of(seconds: Mapping[int, Kinds]) -> dict[str, int]:
    """Errors and their counts, for example `match 503`; status 0 is no answer."""
    found: Counter[str] = Counter()
    for kinds in seconds.values():
        for kind, latencies in kinds.items():
            found.update({f"{kind} {error}": count for error, count in latencies.errors.items()})
    return found


def counted(seconds: Mapping[int, Kinds], first: int, plan: Plan) -> dict[int, Kinds]:
    """The seconds that count: after the ramp, for the planned duration."""
    start = first + RAMP_SECONDS
    return {at: kinds for at, kinds in seconds.items() if start <= at < start + plan.seconds}


def _row(kind: str, latencies: Latencies, seconds: int) -> Row:
    times = sorted(latencies.times)
    p50, p95, p99, longest = (milliseconds(times, share) for share in (0.5, 0.95, 0.99, 1.0))
    errors = latencies.errors.total()
    return Row(kind, len(times), len(times) / seconds, p50, p95, p99, longest, errors)
