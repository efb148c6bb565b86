"""The schedule of a run: which fault happens when, as a pure function of a seed.

    ├── burst: faults, some at once ──┤── quiet: all repaired ──┤── burst …

Kinds are drawn from a bag that is refilled when empty, so all kinds are equally frequent. Faults of
one target never overlap. In a quiet period every worker must catch up, and the checker enforces
the limits in `bounds.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from tests.faults.bounds import CALM_SECONDS, STOPPED_SECONDS

BUSY_SECONDS = 14.0
FIRST_SECONDS = 2.0
APART_SECONDS = 1.0
"""Pause between two faults of the same target."""

HOSTS = 2
WORKERS = 2
"""Of each host."""

SECOND = 1
"""The host in a network namespace of its own, which can be cut off."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its kind, start and duration, in seconds of the run."""

    at: float
    kind: str
    seconds: float = 0.0
    host: int = 0
    worker: int = 0
    """The numbers of the host and of its worker, for faults of a worker."""

    amount: float = 0.0
    """Seconds that the clock steps, seconds of delay, entries left in the stream, or requests a
    second."""

    @property
    def target(self) -> str:
        """The component it affects."""
        return self.kind.partition(".")[0]

    @property
    def end(self) -> float:
        return self.at + self.seconds

    def __str__(self) -> str:
        message = f"{self.at:8.2f} s  {self.kind:<16}"
        if self.target == "worker":
            message += f"  {self.worker} of host {self.host}"
        if self.seconds:
            message += f"  for {self.seconds:.2f} s"
        if self.amount:
            message += f"  by {self.amount:g}"
        return message


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault: the range of its duration, and the possible amounts."""

    name: str
    meaning: str
    seconds: tuple[float, float] = (0.0, 0.0)
    amounts: tuple[float, ...] = (0.0,)


KINDS = (
    Kind("worker.kill", "kill -9 of a worker"),
    Kind("worker.stop", "SIGSTOP of a worker, then SIGCONT", (1.0, STOPPED_SECONDS)),
    Kind("worker.gap", "a worker stops now and then, the stream is trimmed meanwhile", (2.0, 6.0)),
    Kind("worker.drain", "SIGTERM of a worker; another one starts"),
    Kind("relay.kill", "kill -9 of the worker that holds the relay's lease"),
    Kind("relay.stop", "SIGSTOP of that worker, then SIGCONT", (1.0, STOPPED_SECONDS)),
    Kind("host.cut", "the network drops all packets of a host, then is healed", (3.0, 12.0)),
    Kind("host.kill", "a host is cut off and dies, and a new one starts", (6.0, 9.0)),
    Kind("host.drain", "SIGTERM of the service on a host, then a start"),
    Kind("host.burst", "matches on new connections, more than can be served", (2.0, 5.0), (800,)),
    Kind("command.migrate", "`copse migrate` beside the running service"),
    Kind("key.revoke", "a key is revoked during an import that it sends"),
    Kind("postgres.kill", "kill -9 of Postgres with all its processes, then a start", (0.5, 5.0)),
    Kind("postgres.crash", "kill -9 of one of its processes; it recovers"),
    Kind("postgres.stop", "SIGSTOP of Postgres, then SIGCONT", (0.5, 5.0)),
    Kind("redis.kill", "kill -9 of Redis, then an empty one", (0.2, 5.0)),
    Kind("redis.stop", "SIGSTOP of Redis, then SIGCONT", (0.5, 5.0)),
    Kind("redis.flush", "FLUSHALL"),
    Kind("redis.trim", "XTRIM of the stream to a few entries", amounts=(0.0, 1.0, 5.0)),
    Kind("redis.foreign", "an entry in the stream that no relay wrote", amounts=(1.0, 1e9)),
    Kind("redis.forge", "an entry in the stream that makes a key with all scopes"),
    Kind("postgres.cut", "every connection to Postgres is reset"),
    Kind("postgres.refuse", "connections to Postgres are reset and refused", (0.5, 5.0)),
    Kind("postgres.hang", "nothing passes to or from Postgres, then a reset", (0.5, 6.0)),
    Kind("postgres.deaf", "what Postgres answers is dropped, then a reset", (0.2, 4.0)),
    Kind("postgres.slow", "every packet takes longer", (2.0, 6.0), (0.01, 0.05, 0.2)),
    Kind("redis.cut", "every connection to Redis is reset"),
    Kind("redis.refuse", "connections to Redis are reset and refused", (0.5, 5.0)),
    Kind("redis.hang", "nothing passes to or from Redis, then a reset", (0.5, 6.0)),
    Kind("redis.deaf", "what Redis answers is dropped, then a reset", (0.2, 4.0)),
    Kind("redis.slow", "every packet takes longer", (2.0, 6.0), (0.01, 0.05, 0.5)),
    Kind("disk.full", "no room for the impression log", (2.0, 8.0)),
    Kind("clock.step", "the service's clock steps, and back", (2.0, 8.0), (7200, -7200, 90, -90)),
)


@dataclass
class _Draw:
    """Draws faults from a bag of kinds."""

    random: Random
    bag: list[Kind] = field(default_factory=list)

    def next(self, at: float) -> Fault:
        """The next fault, starting at `at`."""
        if not self.bag:
            self.bag = list(KINDS)
            self.random.shuffle(self.bag)
        kind = self.bag.pop()
        return Fault(
            at,
            kind.name,
            round(self.random.uniform(*kind.seconds), 2),
            self.random.randrange(HOSTS) if kind.name.startswith("worker.") else SECOND,
            self.random.randrange(WORKERS),
            self.random.choice(kind.amounts),
        )


def schedule(seed: int, seconds: float) -> tuple[Fault, ...]:
    """The faults of a run, by start time; the run ends with a quiet period."""
    draw = _Draw(Random(f"faults {seed}"))
    faults: list[Fault] = []
    begin = FIRST_SECONDS
    while begin + CALM_SECONDS < seconds:
        faults += _busy(draw, begin)
        begin = max(fault.end for fault in faults) + CALM_SECONDS
    whole = [fault for fault in faults if fault.end + CALM_SECONDS <= seconds]
    return tuple(sorted(whole, key=lambda fault: (fault.at, fault.kind)))


def _busy(draw: _Draw, begin: float) -> Iterator[Fault]:
    free: dict[str, float] = {}
    at = begin
    while at < begin + BUSY_SECONDS:
        fault = draw.next(at)
        fault = replace(fault, at=round(max(at, free.get(fault.target, 0.0)), 2))
        free[fault.target] = fault.end + APART_SECONDS
        yield fault
        at += draw.random.uniform(0.5, 3.5)
