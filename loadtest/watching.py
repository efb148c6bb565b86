"""The service and Locust, looked at every second: CPU, memory, lag of the feed."""

import os
import re
import threading
import time
from dataclasses import dataclass

from testkit.processes import Use, children_of, family_of, machine_cpu, use_of
from testkit.service import NotServing, Server

_GAUGE = re.compile(r"^(copse_feed_lag_(?:seconds|revs))\{[^}]*\} (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Look:
    """What one second was like; CPU in cores."""

    at: float
    server: float
    """All processes of the service together."""

    memory: int
    """Resident bytes of them, likewise."""

    locust: float
    """The busiest of the processes of Locust."""

    wanted: float
    """The share of the second in which that one ran or wanted to."""

    machine: float
    others: float
    """What the machine did beside this test and all that it has started; Postgres is in it."""

    lag_seconds: float | None
    """Of the worker that is behind the most; None if nobody said."""

    lag_revs: float | None


@dataclass(frozen=True, slots=True)
class _Readings:
    at: float
    machine: float
    server: dict[int, Use]
    locust: dict[int, Use]
    ours: dict[int, Use]


class Watch(threading.Thread):
    """Looks every second until it is stopped."""

    def __init__(self, server: Server, locust: int) -> None:
        super().__init__(name="watch", daemon=True)
        self.looks: list[Look] = []
        self.unheard = 0
        """How often the service did not say how far behind it is."""

        self._server, self._locust = server, locust
        self._stopped = threading.Event()

    def stop(self) -> None:
        """No further look; join it then."""
        self._stopped.set()

    def run(self) -> None:
        before = self._read()
        while not self._stopped.wait(1.0 - time.time() % 1.0):
            now = self._read()
            seconds, revs = self._lag()
            self.looks.append(_look(before, now, seconds, revs))
            before = now

    def _read(self) -> _Readings:
        server = [self._server.pid, *children_of(self._server.pid)]
        locust = children_of(self._locust)
        return _Readings(
            time.time(),
            machine_cpu(),
            _uses(server),
            _uses(locust),
            _uses(family_of(os.getpid())),
        )

    def _lag(self) -> tuple[float | None, float | None]:
        try:
            text = self._server.get("/metrics").decode()
        except (NotServing, OSError):
            self.unheard += 1
            return None, None
        found: dict[str, float] = {}
        for name, value in _GAUGE.findall(text):
            found[name] = max(found.get(name, 0.0), float(value))
        return found.get("copse_feed_lag_seconds"), found.get("copse_feed_lag_revs")


def _uses(pids: list[int]) -> dict[int, Use]:
    return {pid: use for pid in pids if (use := use_of(pid)) is not None}


def _look(
    before: _Readings, now: _Readings, lag_seconds: float | None, lag_revs: float | None
) -> Look:
    wall = max(now.at - before.at, 1e-3)
    server, ours = _grown(before.server, now.server), _grown(before.ours, now.ours)
    machine = now.machine - before.machine
    busiest, wanted = 0.0, 0.0
    for pid, use in now.locust.items():
        old = before.locust.get(pid)
        if old is not None:
            busiest = max(busiest, (use.cpu - old.cpu) / wall)
            wanted = max(wanted, (use.ran - old.ran + use.waited - old.waited) / wall)
    return Look(
        at=now.at,
        server=server / wall,
        memory=sum(use.memory for use in now.server.values()),
        locust=busiest,
        wanted=min(wanted, 1.0),
        machine=machine / wall,
        others=max(machine - ours, 0.0) / wall,
        lag_seconds=lag_seconds,
        lag_revs=lag_revs,
    )


def _grown(before: dict[int, Use], now: dict[int, Use]) -> float:
    """Seconds of CPU that some processes used in between, as far as they were there before."""
    return sum(use.cpu - before[pid].cpu for pid, use in now.items() if pid in before)
