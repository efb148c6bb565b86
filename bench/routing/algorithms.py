"""What a broker does with a message: filter-based routing, D-DBR and MERC (chapters 4 and 5).

    filter-based   match at every broker on the way; the tree of shortest paths from the source
    D-DBR          match at the source, which makes the list of destinations; forward one copy for
                   each next hop; match again only at the destinations
    MERC           D-DBR within a cluster; the edge broker stands for all others, matches, and
                   sends to the edge brokers of clusters that match, which match again

A message is the list of brokers that it still has to reach. Algorithm 2, line 16, removes the
destination itself from the list; algorithm 3, line 9, matches the subscription tables.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from bench.routing.overlay import Clusters, Graph, next_hops


@dataclass(frozen=True)
class Message:
    """A copy of an event, on its way to some brokers. `stage` is MERC's: 0 in the cluster of the
    source, 1 between edge brokers, 2 in a cluster of destinations."""

    to: frozenset[int]
    stage: int = 0
    sent: bool = False
    """Whether it has left its source, which matches it."""
    home: int = -1
    """MERC: the cluster of the source."""


Done = tuple[bool, list[tuple[int, Message]]]
Step = Callable[[int, Message, frozenset[int]], Done]
"""What a broker does: whether it matches, and the copies by next hop. The last argument are the
brokers that want the event."""


class Routes:
    """Next hops by shortest paths."""

    def __init__(self, graph: Graph) -> None:
        self._before = lru_cache(maxsize=None)(lambda to: next_hops(graph, to))

    def next_hop(self, at: int, to: int) -> int:
        """The neighbour of `at` on a shortest path to `to`."""
        return self._before(to)[at]

    def copies(self, at: int, message: Message) -> list[tuple[int, Message]]:
        """One copy for each next hop, with the destinations behind it."""
        behind: dict[int, set[int]] = {}
        for to in message.to - {at}:
            behind.setdefault(self.next_hop(at, to), set()).add(to)
        return [
            (hop, Message(frozenset(to), message.stage, True, message.home))
            for hop, to in sorted(behind.items())
        ]


def filter_based(routes: Routes) -> Step:
    """Every broker matches, and forwards where its tables say."""

    def step(
        at: int, message: Message, _: frozenset[int]
    ) -> tuple[bool, list[tuple[int, Message]]]:
        return True, routes.copies(at, message)

    return step


def d_dbr(routes: Routes) -> Step:
    """The source matches (its message has not been sent yet), and so do the destinations."""

    def step(at: int, message: Message, _: frozenset[int]) -> Done:
        return at in message.to or not message.sent, routes.copies(at, message)

    return step


def merc(routes: Routes, clusters: Clusters) -> Step:
    """Edge brokers match for their clusters."""

    def local(brokers: Iterable[int], cluster: int) -> frozenset[int]:
        return frozenset(broker for broker in brokers if clusters.of[broker] == cluster)

    def step(at: int, message: Message, wanted: frozenset[int]) -> Done:
        matched = at in message.to or not message.sent
        if not message.sent:
            home = clusters.of[at]
            near = local(wanted, home)
            edge = {clusters.edges[home]} if wanted - near else set()
            message = Message(near | edge, home=home)
        copies = routes.copies(at, message)
        edge_of_home = clusters.edges[message.home]
        remote = {clusters.of[broker] for broker in wanted} - {message.home}
        if message.stage == 0 and at == edge_of_home and at in message.to and remote:
            edges = frozenset(clusters.edges[cluster] for cluster in remote) - {at}
            copies += routes.copies(at, Message(edges, 1, home=message.home))
            entered = {cluster for cluster in remote if clusters.edges[cluster] == at}
        elif message.stage == 1 and at in message.to:
            entered = {clusters.of[at]}
        else:
            entered = set()
        for cluster in sorted(entered):
            copies += routes.copies(at, Message(local(wanted, cluster), 2, home=message.home))
        return matched, copies

    return step
