"""The thesis's routing figures (section 10.1), repeated by simulation.

Each function returns rows of (what, the thesis's figure, ours).
"""

from collections.abc import Sequence
from random import Random
from statistics import fmean

from bench.routing.algorithms import Routes, Step, d_dbr, filter_based, merc
from bench.routing.faults import faults
from bench.routing.overlay import (
    Clusters,
    Graph,
    clustered,
    general,
    line_of_two,
    linear,
    next_hops,
    path,
)
from bench.routing.publications import anywhere, publications
from bench.routing.simulation import Costs, Outcome, Publication, simulate

Figure = tuple[str, str, str]

INTERESTED = 50
"""Of 100 brokers, in an event. The thesis does not say how many; with half of them the destination
lists are as long as there (2.12 and 1.18)."""
COSTS = Costs()
"""From the thesis: with 2,000 subscriptions and 50 messages a second a broker is 63 % busy."""


def all_figures(seed: int = 1, events: int = 2000) -> dict[str, list[Figure]]:
    """All tables by title. `events` bounds the length of the runs."""
    return {
        "A line of brokers (10.1.1 to 10.1.4)": line(events),
        "20 brokers (10.1.5 to 10.1.8)": twenty(seed, events),
        "Destination lists (10.1.10, 10.1.13 to 10.1.16)": destination_lists(seed, events),
        "Stored entries (10.1.11, 10.1.12)": stored_entries(seed),
        "Faults (10.1.18, 10.1.19)": faults(seed),
        "Throughput and latency, 100 brokers (10.1.9)": throughput(seed, events),
    }


NAMES = ("filter-based", "D-DBR", "MERC")
_SUBSCRIPTIONS = (100, 800, 2000)


def line(events: int) -> list[Figure]:
    """One publisher at the head, all subscribers at the tail, 3,000 messages a minute."""
    last = {name: line_outcome(name, 10, 2000, events) for name in NAMES}
    ratio = last["MERC"].latency_ms / last["D-DBR"].latency_ms

    def busy(name: str, broker: int) -> str:
        return f"{100 * last[name].busy_ms[broker] / last[name].ended_ms:.0f} %"

    rows = [
        ("MERC's latency, times D-DBR's, 2,000", "1.5 (3 matches against 2)", f"{ratio:.2f}"),
        ("a broker is busy, filter-based", "63 %", busy("filter-based", 4)),
        ("the first, D-DBR", "> 60 %", busy("D-DBR", 0)),
        ("one between, D-DBR", "2 %", busy("D-DBR", 4)),
        ("the middle one, MERC", "> 60 %", busy("MERC", 5)),
    ]
    for subscriptions, theirs in zip(
        _SUBSCRIPTIONS,
        ("all grow, filter-based most", "filter-based rapidly, others slightly", "more so"),
        strict=True,
    ):
        for brokers in (2, 6, 10):
            what = f"{brokers} brokers, {subscriptions:,} subscriptions: latencies, ms"
            outcomes = (line_outcome(name, brokers, subscriptions, events) for name in NAMES)
            rows.append((what, theirs, " / ".join(f"{o.latency_ms:.1f}" for o in outcomes)))
    return rows


def line_latencies(events: int) -> dict[str, list[tuple[int, float]]]:
    """Figure 10.1.3: latency with 2,000 subscriptions by number of brokers. MERC needs two."""
    return {
        name: [
            (brokers, line_outcome(name, brokers, 2000, events).latency_ms)
            for brokers in range(2 if name == "MERC" else 1, 11)
        ]
        for name in NAMES
    }


def line_outcome(name: str, brokers: int, subscriptions: int, events: int) -> Outcome:
    """A run on the line. Every event goes from head to tail, one each 20 ms."""
    graph = linear(brokers)
    routes = Routes(graph)
    step: Step = {
        "filter-based": filter_based(routes),
        "D-DBR": d_dbr(routes),
        "MERC": merc(routes, line_of_two(brokers)),
    }[name]
    wanted = frozenset({brokers - 1})
    sent = [Publication(20.0 * number, 0, wanted) for number in range(events)]
    return simulate(sent, step, [subscriptions] * brokers, COSTS)


_TWENTY, _STORED, _BUSY = 20, 2500.0, 0.754


def twenty(seed: int, events: int) -> list[Figure]:
    """20 brokers of degree 3, 20 publishers and 30 subscribers at random brokers. Every broker
    matches against 2,500 entries, which is what the thesis's 35 ms for two matches say; events come
    at the rate that makes filter-based routing's busiest broker as busy as in the thesis."""
    rng = Random(f"twenty {seed}")
    routes = Routes(general(_TWENTY, 3, rng))
    publishers = [rng.randrange(_TWENTY) for _ in range(20)]
    subscribers = [rng.randrange(_TWENTY) for _ in range(30)]

    def outcomes(per_second: float) -> tuple[Outcome, Outcome]:
        draw = Random(f"twenty events {seed}")
        drawn = publications(
            draw,
            events,
            per_second,
            lambda: (draw.choice(publishers), frozenset(draw.sample(subscribers, 2))),
        )
        stored = [_STORED] * _TWENTY
        steps = filter_based(routes), d_dbr(routes)
        first, second = (simulate(drawn, step, stored, COSTS) for step in steps)
        return first, second

    slow, _ = outcomes(0.1)
    busiest = max(range(_TWENTY), key=slow.busy_ms.__getitem__)
    filtered, direct = outcomes(_BUSY * 1000 * events / slow.busy_ms[busiest])
    busy = [f"{100 * o.busy_ms[busiest] / o.ended_ms:.0f} %" for o in (filtered, direct)]
    return [
        ("the busiest broker, filter-based (sets the rate)", "75.4 %", busy[0]),
        ("the same broker, D-DBR", "6 %", busy[1]),
        ("latency, filter-based", "77 to 200 ms", f"{filtered.latency_ms:.0f} ms"),
        ("latency, D-DBR", "about 35 ms", f"{direct.latency_ms:.0f} ms"),
    ]


def destination_lists(seed: int, events: int) -> list[Figure]:
    """How many destinations a message carries, on average."""
    rows: list[Figure] = []
    for brokers, degree, share, theirs in (
        (70, 6, 1.0, "2.51"),
        (700, 6, 1.0, "3.8"),
        (700, 9, 1.0, "3.2"),
    ):
        outcome = _lists(brokers, degree, share, seed, events // 20)
        what = f"D-DBR, {brokers} brokers, degree {degree}, {share:.0%} interested"
        rows.append((what, theirs, f"{outcome.list_size:.2f}"))
    hundred, half = clustered(10, 10, 6, Random(f"hundred {seed}")), INTERESTED / 100
    lists = _lists(100, 6, half, seed, events), _clustered_lists(hundred, half, seed, events)
    rows += [
        ("D-DBR, 100 brokers, degree 6, 50% interested", "2.12", f"{lists[0].list_size:.2f}"),
        ("MERC, the same in 10 clusters", "1.18", f"{lists[1].list_size:.2f}"),
    ]
    some = _lists(700, 6, 0.1, seed, events // 10).lists
    for size, theirs in ((5, "> 95 %"), (12, "> 99 %")):
        share = sum(each < size for each in some) / len(some)
        what = f"D-DBR, 700 brokers, 10 % interested: lists below {size}"
        rows.append((what, theirs, f"{share:.1%}"))
    clusters = clustered(10, 100, 9, Random(f"clusters {seed}"))
    outcome = _clustered_lists(clusters, 0.5, seed, events // 20)
    rows.append(
        ("MERC, 1,000 brokers, clusters of 100, degree 9, 50 %", "1.92", f"{outcome.list_size:.2f}")
    )
    whole = _lists(1000, 9, 0.5, seed, events // 20)
    rows += [
        ("D-DBR, the same", "grows with the overlay", f"{whole.list_size:.2f}"),
        ("MERC, at the source", "8.6", f"{fmean(outcome.source_lists):.1f}"),
        ("D-DBR, at the source", "grows linearly", f"{fmean(whole.source_lists):.0f}"),
    ]
    return rows


def list_sizes(seed: int, events: int) -> dict[str, list[tuple[int, float]]]:
    """Figure 10.1.13: destinations of a message by number of brokers, degree 6."""
    return {
        f"{share:.0%} interested": [
            (brokers, _lists(brokers, 6, share, seed, events // 40).list_size)
            for brokers in (70, 200, 400, 700)
        ]
        for share in (0.1, 0.5, 1.0)
    }


def stored_entries(seed: int) -> list[Figure]:
    """Entries of a broker: 100 brokers, 30 subscriptions each."""
    rng = Random(f"stored {seed}")
    graph = general(100, 6, rng)
    advertisers = rng.sample(range(100), 60)
    sixty = _copies(graph, advertisers)
    merc_entries = (90 * 60 / 100 * 3000 + 10 * 3000) / 100
    eighty = _copies(graph, rng.sample(range(100), 80))
    return [
        ("filter-based, a broker, 60 % match", "5,005", f"{sixty * 30:,.0f}"),
        ("D-DBR", "1,800", f"{0.6 * 3000:,.0f}"),
        ("MERC (edge brokers hold all of their cluster's)", "1,945", f"{merc_entries:,.0f}"),
        ("copies of a subscription, filter-based, 60 %", "167 (5,005 / 30)", f"{sixty:.0f}"),
        ("copies of a subscription, filter-based, 80 %", "221", f"{eighty:.0f}"),
    ]


def _copies(graph: Graph, advertisers: Sequence[int]) -> float:
    """Copies of a subscription, on average: one at each broker of the way back along the tree of
    each advertisement, since overlays with cycles tell the trees apart."""
    hops = 0
    for advertiser in advertisers:
        before = next_hops(graph, advertiser)
        ways = (path(before, advertiser, subscriber) for subscriber in range(len(graph)))
        hops += sum(len(way) - 1 for way in ways if way)
    return hops / len(graph)


RATES = (500, 1000, 2000, 2500, 3500, 5000, 8000, 11_000, 14_000, 20_000, 28_000)
"""Messages a minute, of the whole overlay."""
_ENOUGH_MS = 1000.0


def throughput(seed: int, events: int) -> list[Figure]:
    """Latency at growing rates; each event is wanted by half of the brokers."""
    found = {name: dict(rates) for name, rates in latencies(seed, events).items()}

    def ms(name: str, rate: int) -> str:
        return f"{found[name][rate]:,.0f} ms"

    def most(name: str) -> int:
        return max(rate for rate, latency in found[name].items() if latency < _ENOUGH_MS)

    ratio = most("D-DBR") / most("filter-based")
    return [
        (
            f"highest rate below {_ENOUGH_MS:,.0f} ms, D-DBR, times filter-based",
            "7 (14,000 / 2,000)",
            f"{ratio:.1f} ({most('D-DBR'):,} / {most('filter-based'):,})",
        ),
        ("filter-based, 2,000 messages a minute", "1,087 ms", ms("filter-based", 2000)),
        ("filter-based, 2,500", "2,843 ms", ms("filter-based", 2500)),
        ("D-DBR, 2,500", "below 491 ms", ms("D-DBR", 2500)),
        ("D-DBR, 14,000", "491 ms", ms("D-DBR", 14_000)),
        ("MERC, 11,000", "slightly above D-DBR", ms("MERC", 11_000)),
        ("D-DBR, 11,000", "", ms("D-DBR", 11_000)),
    ]


def latencies(seed: int, events: int) -> dict[str, list[tuple[int, float]]]:
    """The average latency by algorithm and rate. Edge brokers have eight cores."""
    rng = Random(f"throughput {seed}")
    graph = general(100, 6, rng)
    routes = Routes(graph)
    clusters = clustered(10, 10, 6, rng)
    cores = [8 if broker in clusters.edges else 1 for broker in range(100)]
    merc_stored = [3000 / 8 if cores[b] == 8 else 1800.0 for b in range(100)]
    setups: dict[str, tuple[Step, list[float]]] = {
        "filter-based": (filter_based(routes), [5005.0] * 100),
        "D-DBR": (d_dbr(routes), [1800.0] * 100),
        "MERC": (merc(Routes(clusters.graph), clusters), merc_stored),
    }
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in setups}
    for rate in RATES:
        draw = Random(f"events {seed} {rate}")
        drawn = publications(draw, events, rate / 60, anywhere(draw, 100, INTERESTED))
        for name, (step, stored) in setups.items():
            found[name].append((rate, simulate(drawn, step, stored, COSTS).latency_ms))
    return found


def _lists(brokers: int, degree: float, share: float, seed: int, events: int) -> Outcome:
    rng = Random(f"lists {brokers} {degree} {share} {seed}")
    step = d_dbr(Routes(general(brokers, degree, rng)))
    return _unloaded(step, brokers, share, events, rng)


def _clustered_lists(clusters: Clusters, share: float, seed: int, events: int) -> Outcome:
    rng = Random(f"clustered lists {seed}")
    step = merc(Routes(clusters.graph), clusters)
    return _unloaded(step, len(clusters.graph), share, events, rng)


def _unloaded(step: Step, brokers: int, share: float, events: int, rng: Random) -> Outcome:
    wanted = round(brokers * share)
    drawn = publications(rng, events, 1e-3, anywhere(rng, brokers, wanted))
    return simulate(drawn, step, [0.0] * brokers, COSTS)
