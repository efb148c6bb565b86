"""Faults: how many events arrive when brokers or links are gone (figures 10.1.18 and 10.1.19)."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import fmean

from bench.routing.overlay import Graph, general, links_of, next_hops, path, without


def faults(seed: int, draws: int = 5) -> list[tuple[str, str, str]]:
    """Deliveries with half of the brokers or links gone."""
    found = {name: dict(shares)[0.5] for name, shares in deliveries(seed, draws, (0.5,)).items()}
    theirs = {
        "brokers gone, D-DBR": "21.8 %",
        "brokers gone, filter-based": "8.7 %",
        "links gone, D-DBR": "86.2 %",
        "links gone, filter-based": "17.5 %",
    }
    return [(f"half of the {name}", theirs[name], f"{found[name]:.1%}") for name in theirs]


def deliveries(
    seed: int, draws: int, gone: Sequence[float]
) -> dict[str, list[tuple[float, float]]]:
    """Figures 10.1.18 and 10.1.19: the share of events that arrive, by the share of brokers or
    links that are gone. D-DBR finds another way, the trees of filter-based routing do not."""
    found: dict[str, list[tuple[float, float]]] = {}
    for share in gone:
        arrived: dict[str, list[float]] = {}
        for draw in range(draws):
            rng = Random(f"faults {seed} {draw}")
            graph = general(100, 6, rng)
            trees = [_random_tree(graph, source, rng) for source in range(100)]
            dead = set(rng.sample(range(100), round(100 * share)))
            links = links_of(graph)
            cut = set(rng.sample(links, round(len(links) * share)))
            for what, left, missing in (
                ("brokers", without(graph, dead, set()), dead),
                ("links", without(graph, set(), cut), set()),
            ):
                routed, fixed = _arrivals(left, trees, missing)
                arrived.setdefault(f"{what} gone, D-DBR", []).append(routed)
                arrived.setdefault(f"{what} gone, filter-based", []).append(fixed)
        for name, shares in arrived.items():
            found.setdefault(name, []).append((share, fmean(shares)))
    return found


def _arrivals(left: Graph, trees: list[list[int]], missing: set[int]) -> tuple[float, float]:
    """The shares of pairs that have a way, and that have theirs of before."""
    brokers = range(len(left))
    routed = fixed = 0
    for source in brokers:
        now = next_hops(left, source)
        for to in brokers:
            if to == source or source in missing or to in missing:
                continue
            routed += path(now, source, to) is not None
            way = path(trees[source], source, to) or []
            fixed += all(other in left[one] for one, other in pairwise(way))
    pairs = len(left) * (len(left) - 1)
    return routed / pairs, fixed / pairs


def _random_tree(graph: Graph, root: int, rng: Random) -> list[int]:
    """Shortest paths with random choices among equals: advertisements race."""
    shuffled = [rng.sample(neighbours, len(neighbours)) for neighbours in graph]
    return next_hops(shuffled, root)
