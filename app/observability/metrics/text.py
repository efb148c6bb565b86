"""The text format of Prometheus, version 0.0.4."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from app.observability.metrics.merge import Samples
from app.observability.metrics.metric import Kind, Metric

_Labels = tuple[tuple[str, str], ...]


def expose(merged: Iterable[tuple[Metric, Samples]]) -> bytes:
    """The metrics that have samples."""
    lines: list[str] = []
    for metric, samples in merged:
        if samples:
            lines.append(f"# HELP {metric.name} {_escape_help(metric.help)}")
            lines.append(f"# TYPE {metric.name} {metric.kind.value}")
        for labels, number in samples.items():
            if metric.kind is Kind.HISTOGRAM:
                lines.extend(_histogram(metric, labels, *number))
            else:
                lines.append(_line(metric.name, labels, number))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _histogram(metric: Metric, labels: _Labels, counts: list[int], total: float) -> Iterator[str]:
    """Buckets are cumulative in this format: a bucket includes all smaller ones."""
    bounds = [*(f"{bound:g}" for bound in metric.buckets), "+Inf"]
    for bound, so_far in zip(bounds, accumulate(counts), strict=True):
        yield _line(f"{metric.name}_bucket", (*labels, ("le", bound)), so_far)
    yield _line(f"{metric.name}_sum", labels, total)
    yield _line(f"{metric.name}_count", labels, sum(counts))


def _line(name: str, labels: _Labels, number: float) -> str:
    written = ",".join(f'{label}="{_escape(value)}"' for label, value in labels)
    return f"{name}{{{written}}} {number!r}" if written else f"{name} {number!r}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _escape_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
