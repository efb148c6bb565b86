"""Drift, with every index worked out by hand."""

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import pytest

from campaigns.statistics.drift import FLOOR, drift, psi
from campaigns.statistics.gates import Rules, judge

ROWS = 10_000_000
"""So many that chance explains nothing, and every bin counts."""


def of(old: dict[str, Any] | None, new: dict[str, Any] | None) -> float:
    """The index of one attribute."""
    documents = (
        {"rows": ROWS, "attributes": {} if stats is None else {"x": stats}} for stats in (old, new)
    )
    return drift(*documents)["x"].psi


def test_the_index_by_hand() -> None:
    # (0.6 − 0.5) ln(0.6 / 0.5) + (0.4 − 0.5) ln(0.4 / 0.5) = 0.1 · 0.18232 + 0.1 · 0.22314
    assert psi([0.5, 0.5], [0.6, 0.4]) == pytest.approx(0.040546, abs=1e-6)
    assert psi([0.2, 0.8], [0.2, 0.8]) == 0
    # A bin that was empty counts as 0.0001: (0.5 − 0.0001) ln(5000) + (0.5 − 1) ln(0.5)
    assert psi([0.0, 1.0], [0.5, 0.5]) == pytest.approx(
        (0.5 - FLOOR) * log(0.5 / FLOOR) - 0.5 * log(0.5), abs=1e-9
    )


def test_values_missing_and_the_rest_are_bins() -> None:
    old = {"presence": 0.8, "values": [["US", 0.5], ["DE", 0.2]]}  # missing 0.2, rest 0.1
    new = {"presence": 0.9, "values": [["US", 0.4], ["DE", 0.2]]}  # missing 0.1, rest 0.3
    by_hand = (
        (0.1 - 0.2) * log(0.1 / 0.2) + (0.4 - 0.5) * log(0.4 / 0.5) + (0.3 - 0.1) * log(0.3 / 0.1)
    )
    assert by_hand == pytest.approx(0.3113, abs=1e-4)
    assert of(old, new) == pytest.approx(by_hand, rel=1e-3)
    assert of(old, old) == 0


def test_a_value_that_one_version_has_is_rare_in_the_other() -> None:
    old = {"presence": 1.0, "values": [["US", 1.0]]}
    new = {"presence": 1.0, "values": [["US", 0.5], ["FR", 0.5]]}
    by_hand = (0.5 - 1) * log(0.5) + (0.5 - FLOOR) * log(0.5 / FLOOR)
    assert of(old, new) == pytest.approx(by_hand, rel=1e-3)


def test_ranges_are_those_of_the_old_histogram() -> None:
    old = {"presence": 1.0, "values": [], "histogram": [[0, 10, 0.5], [11, 20, 0.5]]}
    assert of(old, old) == 0
    # The new one has 8 in ten below or at 10: all of its first range and its value 5.
    new = {"presence": 1.0, "values": [[5, 0.3]], "histogram": [[0, 10, 0.5], [12, 20, 0.2]]}
    by_hand = (0.8 - 0.5) * log(0.8 / 0.5) + (0.2 - 0.5) * log(0.2 / 0.5)
    assert of(old, new) == pytest.approx(by_hand, rel=1e-3)
    # Half of the range 0 to 20 lies on each side of 10.
    assert of(old, {"presence": 1.0, "histogram": [[0, 20, 1.0]]}) == 0


def test_other_ranges_of_the_same_traffic_are_no_drift() -> None:
    even = {"presence": 1.0, "histogram": [[n * 10, n * 10 + 10, 0.1] for n in range(10)]}
    other = {"presence": 1.0, "histogram": [[n * 25, n * 25 + 25, 0.25] for n in range(4)]}
    assert of(even, other) == pytest.approx(0, abs=1e-9)


def test_of_a_list_the_element_that_moved_most_counts() -> None:
    old = {"presence": 0.9, "empty": 0.1, "elements": [[1, 0.5], [2, 0.3]]}
    new = {"presence": 0.9, "empty": 0.1, "elements": [[1, 0.5], [2, 0.6]]}
    by_hand = 0.3 * log(0.6 / 0.3) + (0.4 - 0.7) * log(0.4 / 0.7)
    assert by_hand == pytest.approx(0.3758, abs=1e-4)
    assert of(old, new) == pytest.approx(by_hand, rel=1e-3)
    # All at once: the list is mostly missing now, which is more than what its elements did.
    gone = {"presence": 0.1, "empty": 0.0, "elements": []}
    assert of(old, gone) > of(old, new)


def test_an_attribute_that_comes_or_goes() -> None:
    stats = {"presence": 0.5, "values": [["US", 0.5]]}
    found = drift(
        {"rows": ROWS, "attributes": {"x": stats}}, {"rows": ROWS, "attributes": {"y": stats}}
    )
    assert list(found) == ["x", "y"]
    assert (found["x"].presence_before, found["x"].presence_after) == (0.5, None)
    assert (found["y"].presence_before, found["y"].presence_after) == (None, 0.5)
    assert found["x"].psi > 0.25
    assert found["x"].psi == found["y"].psi


VALUES, RANGES = 1000, 64


def zipf(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1)
    shares: np.ndarray = weights / weights.sum()
    return shares


TRAFFIC = {
    "country": zipf(50),
    "site": zipf(2000),
    "age": np.full(80, 1 / 80),
    "position": np.full(5_000, 1 / 5_000),
    "segments": zipf(300),
}


def day_of(rows: int, seed: int, shares: dict[str, np.ndarray]) -> dict[str, Any]:
    """The document of a day: each attribute is drawn for each row, and one in ten has none."""
    random = np.random.default_rng(seed)
    attributes = {}
    for name, probabilities in shares.items():
        there = int(random.binomial(rows, 0.9))
        counts = random.multinomial(there, probabilities)
        order = [int(each) for each in np.argsort(-counts, kind="stable") if counts[each]]
        listed = [[value, int(counts[value]) / rows] for value in order[:VALUES]]
        stats: dict[str, Any] = {"presence": there / rows}
        if name == "segments":
            stats |= {"empty": 0.0, "elements": listed}
        else:
            stats |= {"values": listed}
        if name in ("age", "position"):
            stats["histogram"] = ranges_of(sorted(order[VALUES:]), counts, rows)
        attributes[name] = stats
    sample = {"rows": rows}
    return {"rows": rows, "quarantined": 0, "attributes": attributes, "sample": sample}


def ranges_of(values: Sequence[int], counts: np.ndarray, rows: int) -> list[list[float]]:
    parts = [part for part in np.array_split(np.array(values, int), RANGES) if len(part)]
    return [[int(p[0]), int(p[-1]), float(counts[p].sum()) / rows] for p in parts]


@pytest.mark.parametrize("rows", [1_000, 5_000, 20_000])
def test_unchanged_traffic_passes_however_few_rows_and_inverted_shares_do_not(rows: int) -> None:
    rules = Rules(replayed=0)
    inverted = {name: shares[::-1] for name, shares in TRAFFIC.items()}
    passed = 0
    for seed in range(100):
        old, new = day_of(rows, 2 * seed, TRAFFIC), day_of(rows, 2 * seed + 1, TRAFFIC)
        failed = [each.detail for each in judge(new, [], old, rules) if not each.passed]
        passed += not failed
        if seed < 10:
            other = judge(day_of(rows, seed + 1000, inverted), [], old, rules)
            drifted = {each.attribute for each in other if not each.passed}
            assert {"country", "site", "segments"} <= drifted
    assert passed >= 99


def test_a_shift_of_a_third_is_drift_on_a_small_day_as_well() -> None:
    old = day_of(1_000, 1, {"country": np.array([0.7, 0.2, 0.1])})
    new = day_of(1_000, 2, {"country": np.array([0.3, 0.4, 0.3])})
    (finding,) = [each for each in judge(new, [], old, Rules()) if not each.passed]
    assert finding.attribute == "country"
