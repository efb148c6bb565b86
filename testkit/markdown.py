"""Markdown tables that are readable as text, too."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """The first column is aligned left, the others right. Short rows are filled up, and None is a
    dash."""
    cells = [[_text(each) for each in line] for line in (header, *rows)]
    cells = [[*line, *[""] * (len(header) - len(line))] for line in cells]
    first, *others = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        f"| {line[0]:<{first}} | "
        + " | ".join(f"{text:>{width}}" for text, width in zip(line[1:], others, strict=True))
        + " |"
        for line in cells
    ]
    rule = "|".join(["-" * (first + 2), *("-" * (width + 1) + ":" for width in others)])
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float) and (abs(value) >= 1000 or value == int(value)):
        return f"{value:,.0f}"
    return f"{value:,}" if type(value) is int else str(value)
