"""Traces, where the settings ask for them (`COPSE_TRACES`) and the extra `otel` is installed.

`spans.py` makes them. It imports OpenTelemetry, so it is loaded only when it is needed.
"""

from importlib import import_module
from types import ModuleType


class TracingUnavailable(RuntimeError):
    """The settings ask for traces, and a package for them is not installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"COPSE_TRACES needs {missing}: pip install 'copse[otel]'")
        self.missing = missing


def load_tracing() -> ModuleType:
    """The module `spans.py`, or `TracingUnavailable`."""
    try:
        return import_module("app.observability.tracing.spans")
    except ModuleNotFoundError as error:
        raise TracingUnavailable(error.name or "opentelemetry") from None
