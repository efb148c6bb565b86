"""Histograms of the numbers that are not among the common values: ranges of about equal weight."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Range = tuple[float, float, int]
"""The least and the greatest value of a range, both included, and its weight."""


def histogram(numbers: pa.Table, common: Collection[float], ranges: int) -> list[Range]:
    """The ranges of the values of an attribute. No value is in two of them."""
    known = pa.array(common, numbers.schema.field("value").type)
    rest = numbers.filter(pc.invert(pc.is_in(numbers["value"], known))).sort_by("value")
    if not len(rest):
        return []
    values, weights = (rest[name].combine_chunks() for name in ("value", "weight"))
    ends = np.cumsum(weights.to_numpy())
    total = int(ends[-1])
    # A value is in the range in which its weight starts. The product may have more than 64 bits.
    borders = [-(-place * total // ranges) for place in range(1, ranges)]
    places = np.searchsorted(np.array(borders, np.int64), ends - weights.to_numpy(), "right")
    firsts = np.flatnonzero(np.diff(places, prepend=-1))
    lasts = np.append(firsts[1:], len(places)) - 1
    return list(
        zip(
            values.take(pa.array(firsts)).to_pylist(),
            values.take(pa.array(lasts)).to_pylist(),
            np.add.reduceat(weights.to_numpy(), firsts).tolist(),
            strict=True,
        )
    )
