"""A server at maximum load: its rate, and its CPU for a request."""

import statistics
from dataclasses import dataclass, field

from bench.index.measure import Result
from testkit import wrk
from testkit.service import NotServing, Server
from testkit.stage import Stage

ROUNDS = 3


@dataclass
class Figures:
    """One value per round: requests per second in `rates`, else microseconds per request."""

    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    thread: list[float] = field(default_factory=list)
    """CPU of the first thread, which serves."""

    match: list[float] = field(default_factory=list)
    had: list[float] = field(default_factory=list)
    """Share of the time in which it had a CPU when it wanted one."""

    refused: int = 0
    """Requests that the service shed because they had waited too long."""


def drive(
    server: Server,
    ground: Stage,
    seconds: int,
    connections: int,
    into: Figures,
    warm: bool,
    path: str = "/v1/match",
) -> None:
    """Load a server for some seconds, and add the figures."""

    def load(seconds: int) -> wrk.Driven:
        return wrk.drive(server.url, ground.bodies, ground.token, seconds, connections, path)

    if warm:
        load(max(1, seconds // 5))
    counted = server.metrics()
    before = server.use()
    driven = load(seconds)
    after = server.use()
    if driven.failed:
        raise NotServing(f"{server.name}: {driven.failed} requests have no answer")
    into.refused += driven.refused
    into.rates.append(driven.rate)
    ran, waited = after.ran - before.ran, after.waited - before.waited
    into.cpu.append(1e6 * (after.cpu - before.cpu) / driven.requests)
    into.thread.append(1e6 * ran / driven.requests)
    into.had.append(ran / (ran + waited))
    now = server.metrics()
    total, count = (
        now[name] - counted[name]
        for name in (f"copse_match_duration_seconds_{what}" for what in ("sum", "count"))
    )
    into.match.append(1e6 * total / count)


def result_of(figures: Figures) -> Result:
    """The medians over the rounds."""
    return {
        "requests_per_s": round(statistics.median(figures.rates)),
        "cpu_us": round(statistics.median(figures.cpu), 1),
        "cpu_us_rounds": [round(each, 1) for each in figures.cpu],
        "thread_us": round(statistics.median(figures.thread), 1),
        "had_cpu": round(statistics.median(figures.had), 2),
        "refused": figures.refused,
    }


def median(texts: list[bytes]) -> bytes:
    """One of the median length."""
    return sorted(texts, key=len)[len(texts) // 2]
