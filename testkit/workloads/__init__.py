"""The workloads: expressions and events to measure with, seeded, endless, the same every time.

    abe                 arbitrary expressions, as the thesis's ABE-Gen makes them
    be-dense, be-sparse conjunctions, as BE-Gen makes them, over few or many attributes
    ads, ads-conj       what an ad exchange's campaigns look like, and only conjunctions

One workload a file; `workload.py` says what a workload is, `cache.py` keeps what was generated.
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
    """The workload of that name, with some of its parameters changed."""
    return _MAKERS[name](**parameters)
