"""The plots of a sweep, as SVG. matplotlib is in the extra `bench`; without it there are none."""

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Curve:
    """One line of a plot."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


def is_possible() -> bool:
    """Whether matplotlib is here."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(
    path: Path,
    title: str,
    x_label: str,
    curves: Sequence[Curve],
    matches: Curve,
    log_x: bool,
) -> None:
    """Times on the left axis, logarithmic, and the matches on the right one."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "copse"  # the same picture is the same file
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, left = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for curve in curves:
        left.plot(curve.x, curve.y, marker="o", label=curve.label)
    left.set(title=title, xlabel=x_label, ylabel="µs per event", yscale="log")
    if log_x:
        left.set_xscale("log")
    left.grid(alpha=0.3)
    right = left.twinx()
    right.plot(matches.x, matches.y, color="grey", linestyle=":", marker=".", label=matches.label)
    right.set_ylabel(matches.label)
    if all(y > 0 for y in matches.y):
        right.set_yscale("log")
    handles = [*left.get_lines(), *right.get_lines()]
    left.legend(handles=handles, loc="best")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
