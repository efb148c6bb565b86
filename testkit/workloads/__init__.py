"""The workloads: seeded, endless, reproducible streams of expressions and events.

    abe                 arbitrary expressions, as the thesis's ABE-Gen makes them
    be-dense, be-sparse conjunctions, as BE-Gen makes them, over few or many attributes
    ads, ads-conj       campaigns like those of an ad exchange; the same as conjunctions only

One workload per file; `workload.py` has the interface, `cache.py` stores generated expressions.
"""

from collections.abc import Callable
from typing import Any

from testkit.workloads.abe import Abe
from testkit.workloads.ads import Ads
from testkit.workloads.be import Be
from testkit.workloads.workload import Workload

_MAKERS: dict[str, Callable[..., Workload]] = {
    "abe": Abe,
    "ads": Ads,
    "ads-conj": lambda **parameters: Ads(conjunctive=True, **parameters),
    "be-dense": lambda **parameters: Be(**{"dimensions": 100, **parameters}),
    "be-sparse": lambda **parameters: Be(**{"dimensions": 30_000, **parameters}),
}

NAMES = tuple(_MAKERS)


def make(name: str, **parameters: Any) -> Workload:
    """The workload with this name, with some parameters changed."""
    return _MAKERS[name](**parameters)
