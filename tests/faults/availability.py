"""Checks that the service stays available: on each host, and whatever happens to the other one.

A host is *excused* while a fault of its own is in effect, and for `SETTLE_SECONDS` after it. The
rest of the time it is healthy: it must answer matches and acknowledge writes, each with no pause
longer than `HEALTHY_SECONDS`. A fault of the other host is no excuse.

    faults of the host     ────██████░░░░──────────       █ in effect  ░ settling
    answers                ─x─x──────────x──x──x─x─
    counted as a pause                   ▔▔            the longest part of a pause without excuse
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.faults.bounds import HEALTHY_SECONDS, REPEAT_SECONDS, SETTLE_SECONDS, SILENCE_SECONDS
from tests.faults.history import (
    ACKNOWLEDGED,
    ANSWERED,
    BEHIND,
    LOST,
    REFUSED,
    Injected,
    Match,
    Write,
)
from tests.faults.schedule import HOSTS
from tests.faults.verdict import Pause, Verdict, Violation

Span = tuple[float, float]

_WORKERS = ("worker.kill", "worker.stop", "worker.gap", "relay.kill", "relay.stop")
NO_MATCHES = (*_WORKERS, "host.kill", "host.burst")
"""Faults after which a host may refuse or lose matches. A host that is cut off, or has lost
Postgres, Redis or its disk, must answer them."""

DRAINS = ("worker.drain", "host.drain")
"""Only new connections may be refused then, and only if the whole service ends."""

_POSTGRES = ("kill", "crash", "stop", "cut", "refuse", "hang", "deaf", "slow")
NO_WRITES = (
    *_WORKERS,
    *("host.cut", "host.kill", "host.drain"),
    *(f"postgres.{fault}" for fault in _POSTGRES),
)


@dataclass(frozen=True, slots=True)
class Availability:
    """The faults of a run, and what the clients of each host saw."""

    faults: Sequence[Injected]
    matches: Sequence[Match]
    writes: Sequence[Write]

    def check(self, verdict: Verdict) -> None:
        """Add pauses and violations to the verdict."""
        self._check_refusals(verdict)
        self._check_repeats(verdict)
        self._check_broken(verdict)
        end = max([0.0, *(match.end for match in self.matches)])
        for host in range(HOSTS):
            answered = [
                match.end
                for match in self.matches
                if match.host == host and match.outcome in (ANSWERED, BEHIND)
            ]
            written = [
                write.end
                for write in self.writes
                if write.host == host and write.outcome == ACKNOWLEDGED
            ]
            if answered:
                excused = self._spans((*NO_MATCHES, "host.drain"), host)
                pause = _pause([*answered, end], excused)
                _judge("silence", f"match of host {host}", pause, HEALTHY_SECONDS, verdict)
                # Even if every worker of a running service is stopped.
                running = _pause([*answered, end], self._spans(("host.kill", "host.drain"), host))
                _judge("silence", f"match of host {host}", running, SILENCE_SECONDS, verdict)
                verdict.pauses[f"match of host {host}"] = pause
            if written:
                pause = _pause([*written, end], self._spans(NO_WRITES, host))
                _judge("writeless", f"write of host {host}", pause, HEALTHY_SECONDS, verdict)
                verdict.pauses[f"write of host {host}"] = pause

    def _spans(self, kinds: Iterable[str], host: int) -> list[Span]:
        """When faults of these kinds affected a host, or had done so recently."""
        return [
            (fault.begin, fault.end + SETTLE_SECONDS)
            for fault in self.faults
            if fault.kind in kinds and fault.host in (None, host)
        ]

    def _during(self, match: Match, kinds: Iterable[str]) -> bool:
        return any(
            begin <= match.end and match.begin <= end
            for begin, end in self._spans(kinds, match.host)
        )

    def _check_refusals(self, verdict: Verdict) -> None:
        answered: set[tuple[str, int]] = set()
        for match in sorted(self.matches, key=lambda match: match.begin):
            verdict.counts[f"matches {match.outcome}"] += 1
            if match.outcome not in (REFUSED, LOST):
                answered.add((match.client, match.connection))
                continue
            if self._during(match, NO_MATCHES):
                continue
            # A service that starts again refuses all requests of a connection until it is ready.
            is_new = (match.client, match.connection) not in answered
            if is_new and self._during(match, ("host.drain",)):
                continue
            kind = "drained" if self._during(match, DRAINS) else "refused"
            message = f"{match.client}: {match.outcome} {match.status} {match.message}"
            verdict.add(Violation(kind, match.begin, message))

    def _check_broken(self, verdict: Verdict) -> None:
        """Promises that the injector saw broken. Those about time need a healthy host."""
        excuses = {"import": NO_WRITES, "health": _WORKERS}
        for fault in self.faults:
            kind, _, message = fault.broken.partition(": ")
            spans = self._spans(excuses.get(kind, ()), fault.host or 0)
            if kind and not any(begin <= fault.end and fault.begin <= end for begin, end in spans):
                verdict.add(Violation(kind, fault.begin, message))

    def _check_repeats(self, verdict: Verdict) -> None:
        """A create may be repeated with its Idempotency-Key soon after its answer was lost, unless
        the first request is still held by a worker that is stopped, or was killed with it."""
        conflicts: dict[str, list[Write]] = {}
        for write in self.writes:
            if write.action == "create" and write.status == 409:
                conflicts.setdefault(write.token, []).append(write)
        for token, found in conflicts.items():
            seconds = found[-1].end - found[0].end
            held = self._spans((*_WORKERS, "host.cut", "host.kill"), found[0].host)
            if any(begin <= found[-1].end and found[0].begin <= end for begin, end in held):
                continue
            if seconds > REPEAT_SECONDS:
                message = f"create {token} was repeated for {seconds:.1f} s and got 409"
                verdict.add(Violation("repeat", found[0].begin, message))


def _judge(kind: str, what: str, pause: Pause, bound: float, verdict: Verdict) -> None:
    if pause.healthy > bound:
        message = f"no {what} was answered for {pause.healthy:.1f} s"
        verdict.add(Violation(kind, pause.at, message))


def _pause(times: Sequence[float], excused: Sequence[Span]) -> Pause:
    """The longest pause, and the longest part of one without an excuse."""
    longest, healthy, at = 0.0, 0.0, 0.0
    for begin, end in pairwise([0.0, *sorted(times)]):
        longest = max(longest, end - begin)
        for first, last in _without(begin, end, excused):
            if last - first > healthy:
                healthy, at = last - first, first
    return Pause(longest, healthy, at)


def _without(begin: float, end: float, spans: Iterable[Span]) -> Iterable[Span]:
    """What is left of an interval without the spans."""
    at = begin
    for first, last in sorted(spans):
        if last <= at or first >= end:
            continue
        if first > at:
            yield at, first
        at = max(at, last)
    if at < end:
        yield at, end
