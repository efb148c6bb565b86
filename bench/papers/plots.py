"""The plots of a sweep, as SVG, if matplotlib (the extra `bench`) is installed."""

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Curve:
    """One line of a plot."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


def is_possible() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(
    path: Path,
    title: str,
    x_label: str,
    curves: Sequence[Curve],
    matches: Curve,
    log_x: bool,
) -> None:
    """Times on the left logarithmic axis, matches on the right one."""
    figure, left = _pyplot().subplots(figsize=(7, 4), layout="constrained")
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
    _save(figure, path)


def lines(path: Path, title: str, x_label: str, y_label: str, curves: Sequence[Curve]) -> None:
    """Curves over linear axes that begin at 0."""
    figure, axes = _pyplot().subplots(figsize=(7, 4), layout="constrained")
    for curve in curves:
        axes.plot(curve.x, curve.y, marker="o", label=curve.label)
    axes.set(title=title, xlabel=x_label, ylabel=y_label, xlim=(0, None), ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(loc="best")
    _save(figure, path)


def bars(path: Path, title: str, x_label: str, values: dict[str, float]) -> None:
    """One bar per name, and a line at the end of the first."""
    size = (7, 0.8 + 0.28 * len(values))
    figure, axes = _pyplot().subplots(figsize=size, layout="constrained")
    lengths = list(values.values())
    drawn = axes.barh(list(values), lengths, color=["grey", *["tab:blue"] * (len(lengths) - 1)])
    axes.bar_label(drawn, fmt="%.2f", padding=3)
    axes.axvline(lengths[0], color="grey", linestyle=":")
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set(title=title, xlabel=x_label)
    _save(figure, path)


def _pyplot() -> Any:
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "copse"  # the same picture is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text, not a path for each letter
    return importlib.import_module("matplotlib.pyplot")


def _save(figure: Any, path: Path) -> None:
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    _pyplot().close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Powers of ten name this font alone, which few machines have.
    path.write_text(drawn.getvalue().replace("'DejaVu Sans'\"", "'DejaVu Sans', sans-serif\""))
