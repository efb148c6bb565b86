"""Random draws of the workloads, all from `Random.random`, which Python keeps stable."""

import heapq
import math
from bisect import bisect
from collections.abc import Callable
from itertools import accumulate
from random import Random


def ranks(rng: Random, count: int, alpha: float) -> Callable[[], int]:
    """A generator of ranks 0 … count - 1, where rank r has the share C / (r + 1) ** alpha."""
    random = rng.random
    if alpha == 0:
        return lambda: int(random() * count)
    cumulative = list(accumulate((r + 1) ** -alpha for r in range(count)))
    total = cumulative[-1]
    return lambda: min(bisect(cumulative, random() * total), count - 1)


def distinct_ranks(rng: Random, count: int, alpha: float, size: int) -> list[int]:
    """`size` different ranks out of `count`, drawn one by one with those shares."""
    size = min(size, count)
    if alpha == 0:
        return rng.sample(range(count), size)
    # Efraimidis and Spirakis: an exponential waiting time for each, shortest first.
    random = rng.random
    waits = ((-math.log(1.0 - random()) * (r + 1) ** alpha, r) for r in range(count))
    return [r for _, r in heapq.nsmallest(size, waits)]
