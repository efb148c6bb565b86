"""Which requests are logged: a share of them, at random."""

from collections.abc import Callable


class Sampler:
    """Takes a request with the probability `rate`, decided by the random numbers it is given,
    from [0, 1): the same numbers, the same decisions."""

    __slots__ = ("_random", "rate")

    def __init__(self, rate: float, random: Callable[[], float]) -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"a sample rate is between 0 and 1, not {rate}")
        self.rate = rate
        self._random = random

    def takes(self, wanted: bool = True) -> bool:
        """Whether to log a request; `wanted` is the request's own `log`, whose false leaves it
        out and uses up no random number."""
        return wanted and self._random() < self.rate
