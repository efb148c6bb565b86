"""Whether traces can be made: `tracing.py` needs packages that not everybody has."""

from importlib import import_module
from types import ModuleType


class NoTraces(RuntimeError):
    """Traces were asked for, and the packages for them are not there."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"COPSE_TRACES needs {missing}: pip install 'copse[otel]'")
        self.missing = missing


def find_tracing() -> ModuleType:
    """The module `app.tracing`, or `NoTraces`."""
    try:
        return import_module("app.observability.tracing")
    except ModuleNotFoundError as error:
        raise NoTraces(error.name or "opentelemetry") from None
