"""Simulates overlays of brokers and prints the thesis's routing figures beside ours."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.papers import plots
from bench.papers.plots import Curve
from bench.routing.faults import deliveries
from bench.routing.figures import all_figures, latencies, line_latencies, list_sizes
from bench.routing.regions import NODES, RATE, REGIONS, measured_costs, regions
from testkit.arguments import positive
from testkit.markdown import table

_EVENTS = 2000
_TENTHS = tuple(tenth / 10 for tenth in range(10))


def run(arguments: argparse.Namespace) -> None:
    """Print the section, or the regions alone."""
    if arguments.json:
        found = regions(arguments.seed, arguments.events)
        names = asdict(found[0])
        print(json.dumps({name: [asdict(each)[name] for each in found] for name in names}))
        return
    print(routing_page(arguments.seed, arguments.events))


def routing_page(seed: int = 1, events: int = _EVENTS, pictures: Path | None = None) -> str:
    """A table for each figure, and plots if there is a folder for them."""
    command = f"python -m bench routing --seed {seed} --events {events}"
    parts = [_TEXT.format(command=command)]
    for title, rows in all_figures(seed, events).items():
        parts += [f"### {title}", table(["", "thesis", "ours"], rows)]
    if pictures is not None and plots.is_possible():
        parts += _plots(pictures, seed, events)
    costs = measured_costs()
    text = _REGIONS.format(
        regions=REGIONS,
        nodes=NODES,
        rate=RATE,
        match=costs.subscription_ms * 1000,
        rest=costs.forward_ms * 1000,
    )
    regional = [
        [
            each.algorithm,
            f"{each.matches:.2f}",
            f"{each.crossings:.2f}",
            f"{each.latency_ms:.1f}",
            f"{each.busiest:.2f}",
            f"{each.cpu_ms:.2f}",
        ]
        for each in regions(seed, events)
    ]
    header = ["", "matches a request", "messages between regions", "latency, ms", "busiest node"]
    header += ["CPU of a request, ms"]
    return "\n\n".join([*parts, "### Copse in four regions", text, table(header, regional)])


def _plots(folder: Path, seed: int, events: int) -> list[str]:
    """The thesis's figures as pictures."""
    found = [
        _plot(
            folder / "routing-line.svg",
            "A line of brokers, 2,000 subscriptions (10.1.3)",
            ("brokers", "ms"),
            line_latencies(events),
        ),
        _plot(
            folder / "routing.svg",
            "Latency of 100 brokers (10.1.9)",
            ("messages per minute", "ms"),
            {name: _below(points) for name, points in latencies(seed, events).items()},
        ),
        _plot(
            folder / "routing-lists.svg",
            "Destinations of a message, D-DBR (10.1.13)",
            ("brokers", "destinations"),
            list_sizes(seed, events),
        ),
        _plot(
            folder / "routing-faults.svg",
            "Events that arrive (10.1.18, 10.1.19)",
            ("share of brokers or links that are gone", "share of events"),
            deliveries(seed, 2, _TENTHS),
        ),
    ]
    return ["### Plots", *found]


def _plot(
    path: Path,
    title: str,
    labels: tuple[str, str],
    curves: Mapping[str, Sequence[tuple[float, float]]],
) -> str:
    drawn = [Curve(name, [x for x, _ in ps], [y for _, y in ps]) for name, ps in curves.items()]
    plots.lines(path, title, *labels, drawn)
    return f"![{title}](benchmarks/{path.name})"


def _below(points: Sequence[tuple[int, float]], most: float = 5000.0) -> list[tuple[int, float]]:
    """Without the points of an overlay that is overrun."""
    return [(x, y) for x, y in points if y <= most]


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `routing` on the command line."""
    command = commands.add_parser("routing", help="simulate overlays of brokers")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--events", type=positive, default=_EVENTS, help="events of a run")
    command.add_argument("--json", action="store_true", help="print the regions alone, as JSON")
    command.set_defaults(run=run)


_TEXT = """\
A seeded discrete-event simulation (`{command}`) of filter-based routing, D-DBR and MERC,
chapters 4 and 5 of the thesis: brokers serve one message at a time, links take 0.5 ms,
forwarding a copy 0.4 ms, a match 6.3 µs for each stored entry, which is what the thesis's own
utilisation says (2,000 subscriptions, 50 messages a second, 63 % busy). Overlays are connected
random graphs. The thesis does not say how many of 100 brokers want an event: with half of them its
destination lists come out, so that is taken for the latencies, too. They follow from these
constants; what the simulation shows is how they grow, and which of the three gives in first."""

_REGIONS = """\
The same simulation with Copse's own parameters: {regions} regions of {nodes} nodes, links of
0.25 ms within a region and 40 ms between, {match:,.0f} µs of CPU for a match among a million
campaigns and {rest:.0f} µs for the rest of a request ([measured.json](benchmarks/measured.json)),
{rate:.0f} requests a second in all. Each request is wanted by its own node and by one in another
region, so half of the latency is one crossing. Matching at every hop costs the most where all
traffic passes, at the edges; D-DBR matches nowhere but at the two ends; MERC also at both edges,
which need the cores for it, in exchange for nodes that know only their region.
[scaling.md](scaling.md) sizes a deployment by it."""
