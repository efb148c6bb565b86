"""A discrete-event simulation: brokers that serve one message at a time, and links that take time.

Everything is drawn from a seed, so a run is the same every time.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

from bench.routing.algorithms import Message, Step


@dataclass(frozen=True)
class Costs:
    """Milliseconds. A match costs `subscription_ms` for each stored entry."""

    subscription_ms: float = 0.0063
    forward_ms: float = 0.4
    link_ms: float = 0.5


@dataclass(frozen=True)
class Publication:
    """An event: when it is published, where, and which brokers want it."""

    at_ms: float
    source: int
    wanted: frozenset[int]


@dataclass
class Outcome:
    """What a run shows."""

    latencies_ms: list[float] = field(default_factory=list)
    """From publication to each broker that wanted the event."""
    lists: list[int] = field(default_factory=list)
    """Destinations of each message between brokers."""
    source_lists: list[int] = field(default_factory=list)
    """Destinations of each message that a source sends."""
    busy_ms: list[float] = field(default_factory=list)
    """Of each broker."""
    ended_ms: float = 0.0
    matches: int = 0

    @property
    def latency_ms(self) -> float:
        """The average."""
        return sum(self.latencies_ms) / max(len(self.latencies_ms), 1)

    @property
    def list_size(self) -> float:
        """The average."""
        return sum(self.lists) / max(len(self.lists), 1)


def simulate(
    publications: Sequence[Publication],
    step: Step,
    stored: Sequence[float],
    costs: Costs,
    link_ms: Callable[[int, int], float] | None = None,
) -> Outcome:
    """Run until every message has arrived. `stored` are the entries that a match at each broker
    goes through; `link_ms` is the time of a link, where links differ."""
    outcome = Outcome(busy_ms=[0.0] * len(stored))
    free = [0.0] * len(stored)
    numbers = count()
    queue: list[tuple[float, int, int, Message, Publication]] = [
        (event.at_ms, next(numbers), event.source, Message(event.wanted), event)
        for event in publications
    ]
    heapq.heapify(queue)
    while queue:
        now, _, broker, message, event = heapq.heappop(queue)
        matched, copies = step(broker, message, event.wanted)
        service = costs.subscription_ms * stored[broker] * matched + costs.forward_ms * len(copies)
        done = max(now, free[broker]) + service
        free[broker] = done
        outcome.busy_ms[broker] += service
        outcome.matches += matched
        outcome.ended_ms = max(outcome.ended_ms, done)
        if broker in message.to and broker in event.wanted:
            outcome.latencies_ms.append(done - event.at_ms)
        outcome.lists += [len(copy.to) for _, copy in copies]
        if not message.sent:
            outcome.source_lists += [len(copy.to) for _, copy in copies]
        for hop, copy in copies:
            way = costs.link_ms if link_ms is None else link_ms(broker, hop)
            heapq.heappush(queue, (done + way, next(numbers), hop, copy, event))
    return outcome
