"""The workloads: seeded, endless, reproducible streams of expressions and events.

    abe                 arbitrary expressions, as the thesis's ABE-Gen makes them
    be-dense, be-sparse conjunctions, as BE-Gen makes them, over few or many attributes
    be-tree             the same with the defaults of the BE-Tree paper's table III
    w0, w1, w2          conjunctions around fixed attributes, as in the Propagation paper
    ranges              conjunctions of ranges of doubles, as in the TAMA paper
    ads, ads-conj       campaigns like those of an ad exchange; the same as conjunctions only

One workload per file; `workload.py` has the interface, `cache.py` stores generated expressions.
"""

from collections.abc import Callable
from typing import Any

from testkit.workloads.abe import Abe
from testkit.workloads.ads import Ads
from testkit.workloads.be import Be
from testkit.workloads.propagation import Fixed
from testkit.workloads.tama import Ranges
from testkit.workloads.workload import Workload

_TABLE_III = {
    "dimensions": 400,
    "cardinality": 48,
    "size": 7,
    "event_size": 15,
    "matching": 0.01,
    "equality": 0.3,
}

_MAKERS: dict[str, Callable[..., Workload]] = {
    "abe": Abe,
    "ads": Ads,
    "ads-conj": lambda **parameters: Ads(conjunctive=True, **parameters),
    "be-dense": lambda **parameters: Be(**{"dimensions": 100, **parameters}),
    "be-sparse": lambda **parameters: Be(**{"dimensions": 30_000, **parameters}),
    "be-tree": lambda **parameters: Be(**{**_TABLE_III, **parameters}),
    "ranges": Ranges,
    "w0": Fixed,
    "w1": lambda **parameters: Fixed(**{"free": 1, "above": 1, **parameters}),
    "w2": lambda **parameters: Fixed(**{"free": 1, "above": 1, "below": 5, **parameters}),
}

NAMES = tuple(_MAKERS)


def make(name: str, **parameters: Any) -> Workload:
    """The workload with this name, with some parameters changed."""
    return _MAKERS[name](**parameters)
