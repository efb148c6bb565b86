"""Copse in regions: the simulation with the parameters that we measure of Copse.

The CPU times of a match and of the rest of a request are those of `docs/benchmarks/measured.json`
(a million campaigns). The distances are assumptions: 0.25 ms within a region, 40 ms between two.
"""

import json
from dataclasses import dataclass
from random import Random

from bench.routing.algorithms import Routes, Step, d_dbr, filter_based, merc
from bench.routing.overlay import clustered
from bench.routing.publications import publications
from bench.routing.simulation import Costs, simulate
from testkit import ROOT

REGIONS, NODES = 4, 8
RATE = 800.0
"""Requests a second, of all regions together."""
_NEAR_MS, _FAR_MS = 0.25, 40.0
_DEGREE = 4
_MEASURED = ROOT / "docs" / "benchmarks" / "measured.json"


@dataclass(frozen=True)
class Regional:
    """What an algorithm costs."""

    algorithm: str
    matches: float
    """For each request."""
    crossings: float
    """Messages between regions for each request."""
    latency_ms: float
    busiest: float
    """The share of time that the busiest node works."""
    cpu_ms: float
    """Of all nodes together, for each request."""


def measured_costs() -> Costs:
    """A match, and what a node does beside it with every copy."""
    result = json.loads(_MEASURED.read_text())["http_1m"]["result"]
    match_ms = result["match_us"] / 1000
    return Costs(subscription_ms=match_ms, forward_ms=result["cpu_us"] / 1000 - match_ms)


def regions(seed: int, events: int) -> list[Regional]:
    """Four regions of eight nodes. A request is wanted by its own node and by one node of another
    region."""
    rng = Random(f"regions {seed}")
    clusters = clustered(REGIONS, NODES, _DEGREE, rng)
    routes = Routes(clusters.graph)
    nodes = range(REGIONS * NODES)

    def is_far(one: int, other: int) -> bool:
        return clusters.of[one] != clusters.of[other]

    def draw() -> tuple[int, frozenset[int]]:
        source = rng.choice(nodes)
        others = [node for node in nodes if is_far(source, node)]
        return source, frozenset({source, rng.choice(others)})

    requests = publications(rng, events, RATE, draw)
    steps: dict[str, Step] = {
        "filter-based": filter_based(routes),
        "D-DBR": d_dbr(routes),
        "MERC": merc(routes, clusters),
    }
    found = []
    for name, step in steps.items():
        crossed = 0

        def link(one: int, other: int) -> float:
            nonlocal crossed
            crossed += is_far(one, other)
            return _FAR_MS if is_far(one, other) else _NEAR_MS

        outcome = simulate(requests, step, [1.0] * len(nodes), measured_costs(), link)
        found.append(
            Regional(
                algorithm=name,
                matches=round(outcome.matches / events, 2),
                crossings=round(crossed / events, 2),
                latency_ms=round(outcome.latency_ms, 1),
                busiest=round(max(outcome.busy_ms) / outcome.ended_ms, 2),
                cpu_ms=round(sum(outcome.busy_ms) / events, 2),
            )
        )
    return found
