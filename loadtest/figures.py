"""What a run came to: the figures of the report, from what was written down while it ran."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadtest.checking import Checked
from loadtest.ledger import Account, Kinds, total
from loadtest.plan import RAMP_SECONDS, Plan
from loadtest.watching import Look

BUSY = 0.85
"""A process that ran, or wanted to, for this share of the time had little left to give."""

MUCH_MORE = 1.5
"""If wrk gets so many times as much with as many connections, the limit is not the service's."""

SHED = "503"
"""The documented refusal of a service that is too busy."""

CROWDED = 0.5
"""So many cores used by others make the times here longer than they would be."""

EVERYTHING = "all"
ASKING = ("match", "openrtb")
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


@dataclass(frozen=True, slots=True)
class Second:
    """One second of the plots, counted from the first that counts; times in milliseconds."""

    at: int
    asked: int
    written: int
    p50: float | None
    """This and the next are of matches."""

    p95: float | None
    p99: float | None
    write_p50: float | None
    write_p95: float | None
    wrong: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a second."""

    at: float
    label: str


@dataclass(frozen=True)
class Figures:
    """Everything that the report says."""

    plan: Plan
    machine: dict[str, str]
    begun: float
    rows: list[Row]
    seconds: list[Second]
    looks: list[tuple[float, Look]]
    marks: list[Mark]
    errors: dict[str, int]
    checked: Checked
    digest: str
    notes: list[str]
    wrk_rate: float | None
    wrk_refused: int
    unheard: int

    @property
    def all(self) -> Row:
        return self.rows[0]

    @property
    def main(self) -> Row:
        """What the run is about: the matches, or everything where there are none."""
        return next((row for row in self.rows if row.kind in ASKING), self.all)

    @property
    def server_cores(self) -> float:
        return _mean([look.server for _, look in self.looks])

    @property
    def server_cpu_us(self) -> float:
        """CPU of the service for a request, all workers together."""
        return 1e6 * self.server_cores / self.all.per_second if self.all.per_second else 0.0

    @property
    def memory(self) -> int:
        return max((look.memory for _, look in self.looks), default=0)

    @property
    def locust_cores(self) -> float:
        return _mean([look.locust for _, look in self.looks])

    @property
    def locust_wanted(self) -> float:
        return _mean([look.wanted for _, look in self.looks])

    @property
    def machine_cores(self) -> float:
        return _mean([look.machine for _, look in self.looks])

    @property
    def other_cores(self) -> float:
        return _mean([look.others for _, look in self.looks])

    @property
    def lag_seconds(self) -> float | None:
        return max(
            (s for _, look in self.looks if (s := look.lag_seconds) is not None), default=None
        )

    @property
    def lag_revs(self) -> float | None:
        return max((r for _, look in self.looks if (r := look.lag_revs) is not None), default=None)

    @property
    def matches_per_second(self) -> float:
        """Of the routes that wrk is sent to as well."""
        return sum(row.per_second for row in self.rows if row.kind in ASKING)

    @property
    def times_wrk(self) -> float | None:
        """How many times as much wrk got, where both asked for as much as they could get."""
        if self.wrk_rate is None or not self.matches_per_second or self.plan.rate is not None:
            return None
        return self.wrk_rate / self.matches_per_second

    @property
    def locust_is_the_bottleneck(self) -> bool:
        if self.plan.rate is not None:
            return False
        return self.locust_wanted >= BUSY or (self.times_wrk or 0.0) >= MUCH_MORE

    @property
    def bottleneck(self) -> str:
        """Whose limit the throughput is."""
        busy = (
            f"Its busiest process ran, or wanted to, {self.locust_wanted:.0%} of the time, and had "
            f"{self.locust_cores:.2f} of a core"
        )
        if self.plan.rate is not None:
            return f"Locust kept to the rate that was asked for. {busy}."
        if not self.locust_is_the_bottleneck:
            return f"Locust was not the bottleneck. {busy}."
        beside = "."
        if self.times_wrk is not None:
            alone = ", with nobody writing" if self.plan.scenario.writes else ""
            beside = (
                f": from the same service wrk got {self.wrk_rate:,.0f} matches a second over as "
                f"many connections{alone}, {self.times_wrk:.1f} times as many."
            )
        return (
            f"Locust itself is the bottleneck. {busy}. The throughput here is Locust's and not the "
            f"service's{beside}"
        )

    @property
    def refused(self) -> int:
        """Requests that the service shed since it was too busy."""
        return sum(count for what, count in self.errors.items() if what.endswith(f" {SHED}"))

    @property
    def warnings(self) -> list[str]:
        """What a reader of the figures must know."""
        found = [self.bottleneck] if self.locust_is_the_bottleneck else []
        if self.other_cores >= CROWDED:
            found.append(
                f"The machine was not ours alone: {self.other_cores:.1f} of its "
                f"{self.machine_cores:.1f} busy cores went to others (Postgres is among them). "
                "Alone, it would have been faster."
            )
        if self.refused:
            found.append(
                f"{self.refused:,} requests were refused with {SHED}: the service had no time for "
                "them before their deadline."
            )
        return found

    @property
    def problems(self) -> list[str]:
        """What must not be; a run with none has passed."""
        found = []
        if failed := sum(self.errors.values()) - self.refused:
            found.append(f"{failed:,} requests failed")
        if self.checked.wrong:
            found.append(self.checked.told)
        if not self.all.count:
            found.append("nothing was answered")
        return found


def rows_of(seconds: Mapping[int, Kinds], count: int) -> list[Row]:
    """A row for everything, then one for each kind, the most frequent first."""
    kinds: dict[str, Account] = {}
    for each in seconds.values():
        for kind, account in each.items():
            kinds.setdefault(kind, Account()).add(account)
    rows = [_row(kind, account, count) for kind, account in kinds.items()]
    ordered = sorted(rows, key=lambda row: -row.count)
    return [_row(EVERYTHING, total(kinds.values()), count), *ordered]


def seconds_of(seconds: Mapping[int, Kinds], first: int) -> list[Second]:
    """The seconds of the plots."""
    found = []
    for at in sorted(seconds):
        asked, written = Account(), Account()
        for kind, account in seconds[at].items():
            (asked if kind in ASKING else written).add(account)
        found.append(
            Second(
                at=at - first,
                asked=asked.count,
                written=written.count,
                p50=_milliseconds(asked, 0.5),
                p95=_milliseconds(asked, 0.95),
                p99=_milliseconds(asked, 0.99),
                write_p50=_milliseconds(written, 0.5),
                write_p95=_milliseconds(written, 0.95),
                wrong=asked.wrong + written.wrong,
            )
        )
    return found


def errors_of(seconds: Mapping[int, Kinds]) -> dict[str, int]:
    """What went wrong, and how often: `match 503`; 0 is no answer at all."""
    found: dict[str, int] = {}
    for kinds in seconds.values():
        for kind, account in kinds.items():
            for error, count in account.errors.items():
                found[f"{kind} {error}"] = found.get(f"{kind} {error}", 0) + count
    return found


def counted(seconds: Mapping[int, Kinds], first: int, plan: Plan) -> dict[int, Kinds]:
    """The seconds that count: after the users have arrived, for as long as was asked for."""
    start = first + RAMP_SECONDS
    return {at: kinds for at, kinds in seconds.items() if start <= at < start + plan.seconds}


def _row(kind: str, account: Account, seconds: int) -> Row:
    return Row(
        kind=kind,
        count=account.count,
        per_second=account.count / seconds if seconds else 0.0,
        p50=_milliseconds(account, 0.5),
        p95=_milliseconds(account, 0.95),
        p99=_milliseconds(account, 0.99),
        longest=_milliseconds(account, 1.0),
        wrong=account.wrong,
    )


def _milliseconds(account: Account, share: float) -> float | None:
    found = account.percentile(share)
    return None if found is None else 1000 * found


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0
