"""How much a statistics document holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The defaults make a document of a few megabytes, whatever the log's size."""

    values: int = 1000
    """So many common values of an attribute, or elements of a list, are listed."""

    ranges: int = 64
    """So many ranges a histogram has."""

    pairs: int = 30
    """So many pairs of attributes are counted: those that the index uses together most."""

    pair_values: int = 100
    """So many common values of each attribute are paired."""

    pair_shares: int = 300
    """So many pairs of values are listed for a pair of attributes."""

    sample: int = 20_000
    """So many requests are kept as they were."""
