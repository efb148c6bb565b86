"""Plots over time, as SVG that stands in the page: lines, a grid, marks, and nothing to load.

┌ title ─────────────── legend ┐
│ 2,000 ┤      ╭─╮             │     colours are the page's own variables (--c0 … --c5),
│ 1,000 ┤──────╯ ╰────┊───     │     so that they follow its light and its dark
│     0 └──────────────────    │
└──────────────────────────────┘
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 230
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 14, 28
_TICKS = 5
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One line; its place among the lines of a chart gives it its colour, if it has none."""

    label: str
    points: Sequence[Point]
    filled: bool = False
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a value to a place in the picture."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = (math.log10(max(each, 1e-9)) for each in (value, low, high))
        share = (value - low) / (high - low) if high > low else 0.0
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def chart(
    title: str,
    unit: str,
    lines: Sequence[Line],
    seconds: float,
    marks: Sequence[tuple[float, str]] = (),
    logarithmic: bool = False,
) -> str:
    """A figure of the page; a line without points is left out."""
    drawn = [line for line in lines if line.points]
    colours = [place if line.colour is None else line.colour for place, line in enumerate(drawn)]
    values = [y for line in drawn for _, y in line.points]
    ticks = _log_ticks(values) if logarithmic else _ticks(max(values, default=0.0))
    x = _Scale(0.0, max(seconds, 1.0), LEFT, WIDTH - RIGHT)
    y = _Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP, logarithmic)
    parts = [
        *(_grid_line(y(tick), shown(tick)) for tick in ticks),
        *(_moment(x(tick), tick) for tick in _ticks(seconds) if tick <= seconds),
        *(_mark(x(at), label) for at, label in marks),
        *(_line(line, colour, x, y) for line, colour in zip(drawn, colours, strict=True)),
    ]
    described = f"{title}, {unit}"
    legend = "".join(
        f'<span><i style="background:var(--c{colour})"></i>{escape(line.label)}</span>'
        for line, colour in zip(drawn, colours, strict=True)
    )
    return (
        f"<figure><figcaption><b>{escape(title)}</b> <small>{escape(unit)}</small>"
        f'<span class="legend">{legend}</span></figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(described)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def shown(value: float) -> str:
    """A number as an axis and a table have it: three digits are enough."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _ticks(highest: float) -> list[float]:
    """Round numbers from 0 to at least the highest."""
    if highest <= 0:
        return [0.0, 1.0]
    rough = highest / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in _STEPS if power * each >= rough * 0.999)
    return [step * place for place in range(math.ceil(highest / step - 1e-9) + 1)]


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Powers of ten around the values."""
    some = [value for value in values if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(some))), math.ceil(math.log10(max(some)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _grid_line(y: float, label: str) -> str:
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    )


def _moment(x: float, seconds: float) -> str:
    label = f"{seconds:.3g} s"
    return f'<text x="{x:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{label}</text>'


def _mark(x: float, label: str) -> str:
    return (
        f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        f'<text class="mark" x="{x + 4:.1f}" y="{TOP + 9}">{escape(label)}</text>'
    )


def _line(line: Line, colour: int, x: _Scale, y: _Scale) -> str:
    points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in line.points)
    path = f'<polyline points="{points}" style="stroke:var(--c{colour})"/>'
    if not line.filled:
        return path
    first, last = x(line.points[0][0]), x(line.points[-1][0])
    floor = HEIGHT - BOTTOM
    corners = f"{first:.1f},{floor} {points} {last:.1f},{floor}"
    return f'<polygon points="{corners}" style="fill:var(--c{colour})"/>{path}'
