"""Which requests are logged: a random share of them."""

from collections.abc import Callable


class Sampler:
    """Chooses a request with the probability `rate`. `random` gives numbers from [0, 1): the same
    numbers give the same choices."""

    __slots__ = ("_random", "rate")

    def __init__(self, rate: float, random: Callable[[], float]) -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"expected a sample rate between 0 and 1, got {rate}")
        self.rate = rate
        self._random = random

    def takes(self, wanted: bool = True) -> bool:
        """Whether to log a request; `wanted` is the request's own `log`: false needs no random
        number."""
        return wanted and self._random() < self.rate
