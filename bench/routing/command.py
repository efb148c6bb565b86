"""Simulates overlays of brokers and prints the thesis's routing figures beside ours."""

import argparse
from pathlib import Path

from bench.papers import plots
from bench.papers.plots import Curve
from bench.routing.figures import all_figures, latencies, regions
from testkit.arguments import positive
from testkit.markdown import table

_EVENTS = 2000


def run(arguments: argparse.Namespace) -> None:
    """Print the section."""
    print(routing_page(arguments.seed, arguments.events))


def routing_page(seed: int = 1, events: int = _EVENTS, picture: Path | None = None) -> str:
    """A table for each figure, and the plot of latencies if there is a place for it."""
    command = f"python -m bench routing --seed {seed} --events {events}"
    parts = [_TEXT.format(command=command)]
    for title, rows in all_figures(seed, events).items():
        parts += [f"### {title}", table(["", "thesis", "ours"], rows)]
    if picture is not None and plots.is_possible():
        curves = [
            Curve(name, [rate for rate, _ in points], [ms for _, ms in points])
            for name, points in latencies(seed, events).items()
        ]
        curves = [_below(curve) for curve in curves]
        title = "Latency of 100 brokers"
        plots.lines(picture, title, "messages per minute", "ms", curves)
        parts.append(f"![{title}](benchmarks/{picture.name})")
    header = ["", "matches a request", "messages between regions", "latency", "busiest node"]
    parts += ["### Copse in four regions", _REGIONS, table(header, regions(seed, events))]
    return "\n\n".join(parts)


def _below(curve: Curve, most: float = 5000.0) -> Curve:
    """Without the points of an overlay that is overrun."""
    kept = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if y <= most]
    return Curve(curve.label, [x for x, _ in kept], [y for _, y in kept])


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `routing` on the command line."""
    command = commands.add_parser("routing", help="simulate overlays of brokers")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--events", type=positive, default=_EVENTS, help="events of a run")
    command.set_defaults(run=run)


_TEXT = """\
A seeded discrete-event simulation (`{command}`) of filter-based routing, D-DBR and MERC,
chapters 4 and 5 of the thesis: brokers serve one message at a time, links take 0.5 ms,
forwarding a copy 0.4 ms, a match 6.3 µs for each stored entry, which is what the thesis's own
utilisation says (2,000 subscriptions, 50 messages a second, 63 % busy). Overlays are connected
random graphs. Latencies are therefore ours by construction of one constant; what the simulation
shows is how they grow."""

_REGIONS = """\
The same simulation with Copse's own parameters: four regions of eight nodes, links of 0.25 ms
within a region and 40 ms between, 0.4 ms for all matches of a request among a million ads-like
campaigns, 2,000 requests a second in all. Each request is wanted by its own node and by one in
another region, so half of the latency is one crossing. Matching at every hop costs the most
where all traffic passes, at the edges; D-DBR matches nowhere but at the two ends; MERC also at
both edges, which need the cores for it, in exchange for nodes that know only their region."""
