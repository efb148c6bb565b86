"""Overlays of brokers: undirected graphs, shortest paths, clusters."""

from collections import deque
from dataclasses import dataclass
from random import Random

Graph = list[list[int]]
"""The neighbours of each broker, ascending."""
Link = tuple[int, int]


def linear(brokers: int) -> Graph:
    """A line."""
    return [[b for b in (a - 1, a + 1) if 0 <= b < brokers] for a in range(brokers)]


def general(brokers: int, degree: float, rng: Random) -> Graph:
    """A connected random graph: a random tree, and random links up to the average degree."""
    links: set[Link] = set()
    order = rng.sample(range(brokers), brokers)
    for place in range(1, brokers):
        links.add(_link(order[place], order[rng.randrange(place)]))
    while len(links) < min(round(brokers * degree / 2), brokers * (brokers - 1) // 2):
        one, other = rng.sample(range(brokers), 2)
        links.add(_link(one, other))
    return _graph(brokers, links)


@dataclass(frozen=True)
class Clusters:
    """MERC's overlay: each cluster is a graph of its own, with one edge broker; the edge brokers
    are joined among themselves."""

    graph: Graph
    of: list[int]
    """The cluster of each broker."""
    edges: list[int]
    """The edge broker of each cluster."""


def clustered(clusters: int, size: int, degree: float, rng: Random) -> Clusters:
    """Random clusters whose first brokers are the edge brokers, all joined with each other."""
    links: set[Link] = set()
    for cluster in range(clusters):
        for one, others in enumerate(general(size, degree, rng)):
            links |= {_link(cluster * size + one, cluster * size + other) for other in others}
    edges = [cluster * size for cluster in range(clusters)]
    links |= {_link(one, other) for one in edges for other in edges if one != other}
    of = [broker // size for broker in range(clusters * size)]
    return Clusters(_graph(clusters * size, links), of, edges)


def line_of_two(brokers: int) -> Clusters:
    """The linear overlay as two clusters that share the middle broker as their edge."""
    middle = brokers // 2
    of = [0 if broker < middle else 1 for broker in range(brokers)]
    return Clusters(linear(brokers), of, [middle, middle])


def next_hops(graph: Graph, source: int) -> list[int]:
    """For each broker the one before it on a shortest path from `source`; -1 where there is none.
    Read from a destination, it is the path back."""
    before = [-1] * len(graph)
    seen = [False] * len(graph)
    seen[source] = True
    queue = deque([source])
    while queue:
        broker = queue.popleft()
        for other in graph[broker]:
            if not seen[other]:
                seen[other] = True
                before[other] = broker
                queue.append(other)
    return before


def path(before: list[int], source: int, to: int) -> list[int] | None:
    """The brokers from `source` to `to`; None if it is not reached."""
    found = [to]
    while found[-1] != source:
        if before[found[-1]] < 0:
            return None
        found.append(before[found[-1]])
    return found[::-1]


def links_of(graph: Graph) -> list[Link]:
    """Each link once."""
    return [(one, other) for one, others in enumerate(graph) for other in others if one < other]


def without(graph: Graph, brokers: set[int], links: set[Link]) -> Graph:
    """The graph without some brokers and links."""
    return [
        []
        if one in brokers
        else [b for b in others if b not in brokers and _link(one, b) not in links]
        for one, others in enumerate(graph)
    ]


def _link(one: int, other: int) -> Link:
    return (one, other) if one < other else (other, one)


def _graph(brokers: int, links: set[Link]) -> Graph:
    graph: Graph = [[] for _ in range(brokers)]
    for one, other in sorted(links):
        graph[one].append(other)
        graph[other].append(one)
    return [sorted(neighbours) for neighbours in graph]
