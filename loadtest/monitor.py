"""CPU, memory and feed lag of the service, and the CPU of Locust and of the machine."""

import os
import re
import time
from dataclasses import dataclass

from testkit.processes import Use, children_of, family_of, machine_cpu, use_of
from testkit.service import Server

_LAG = re.compile(r"^copse_feed_lag_(seconds|revs)\{[^}]*\} (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sample:
    """One second; CPU in cores."""

    at: float
    server: float
    """All processes of the service together."""

    memory: int
    """Resident bytes of all processes of the service."""

    locust: float
    """The busiest Locust process."""

    wanted: float
    """The share of the second in which that process ran or was ready to run."""

    machine: float
    others: float
    """Processes that this test did not start as children; Postgres is among them."""

    lag_seconds: float | None
    """Of the worker with the largest lag; None if it is unknown."""

    lag_revs: float | None


@dataclass(frozen=True, slots=True)
class _Reading:
    at: float
    machine: float
    server: dict[int, Use]
    locust: dict[int, Use]
    ours: dict[int, Use]


class Monitor:
    """Each call measures the time since the previous one; for a `Sampler`."""

    def __init__(self, server: Server, locust: int) -> None:
        self._server, self._locust = server, locust
        self._before = self._read()

    def __call__(self) -> Sample:
        lag: dict[str, float] = {}
        for name, value in _LAG.findall(self._server.get("/metrics").decode()):
            lag[name] = max(lag.get(name, 0.0), float(value))
        before, now = self._before, self._read()
        self._before = now
        wall = max(now.at - before.at, 1e-3)
        machine, ours = now.machine - before.machine, _cpu(before.ours, now.ours)
        busiest, wanted = 0.0, 0.0
        for pid, use in now.locust.items():
            if old := before.locust.get(pid):
                busiest = max(busiest, (use.cpu - old.cpu) / wall)
                wanted = max(wanted, (use.ran - old.ran + use.waited - old.waited) / wall)
        return Sample(
            at=now.at,
            server=_cpu(before.server, now.server) / wall,
            memory=sum(use.memory for use in now.server.values()),
            locust=busiest,
            wanted=min(wanted, 1.0),
            machine=machine / wall,
            others=max(machine - ours, 0.0) / wall,
            lag_seconds=lag.get("seconds"),
            lag_revs=lag.get("revs"),
        )

    def _read(self) -> _Reading:
        return _Reading(
            time.time(),
            machine_cpu(),
            _uses([self._server.pid, *children_of(self._server.pid)]),
            _uses(children_of(self._locust)),
            _uses(family_of(os.getpid())),
        )


def _uses(pids: list[int]) -> dict[int, Use]:
    return {pid: use for pid in pids if (use := use_of(pid)) is not None}


def _cpu(before: dict[int, Use], now: dict[int, Use]) -> float:
    """Seconds of CPU between two readings, of the processes that are in both."""
    return sum(use.cpu - before[pid].cpu for pid, use in now.items() if pid in before)
