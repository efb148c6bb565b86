"""Drift, with every index worked out by hand."""

from math import log
from typing import Any

import pytest

from campaigns.statistics.drift import FLOOR, drift, psi


def of(old: dict[str, Any] | None, new: dict[str, Any] | None) -> float:
    """The index of one attribute."""
    documents = ({"attributes": {} if stats is None else {"x": stats}} for stats in (old, new))
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
    found = drift({"attributes": {"x": stats}}, {"attributes": {"y": stats}})
    assert list(found) == ["x", "y"]
    assert (found["x"].presence_before, found["x"].presence_after) == (0.5, None)
    assert (found["y"].presence_before, found["y"].presence_after) == (None, 0.5)
    assert found["x"].psi > 0.25
    assert found["x"].psi == found["y"].psi
