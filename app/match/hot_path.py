"""What the settings say about the hot path."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HotPath:
    """Bounds, and what a bid request is read with."""

    longest_wait: float = 0.25
    """A request that has waited for so many seconds is refused."""

    openrtb_limit: int = 10
    openrtb_rates: tuple[tuple[str, float], ...] = ()
    openrtb_purposes: frozenset[int] = frozenset({1, 2, 3, 4})
