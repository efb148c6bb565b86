"""How much a statistics document holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The defaults give a document of a few megabytes for a log of any size."""

    values: int = 1000
    """Common values of an attribute, or elements of a list."""

    ranges: int = 64
    """Ranges of a histogram."""

    sample: int = 20_000
    """Sampled requests."""
