"""Sums of hits by place and day, compared with a count by hand."""

from typing import Any

import pytest

from spark.forecast import hit_counter
from spark.forecast.hit_counter import HitCounter


def rows_of(some: HitCounter) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in some.table().to_pylist())


@pytest.mark.parametrize("at_once", [1, 2, hit_counter.AT_ONCE])
def test_sums_are_the_same_however_often_they_are_made(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hit_counter, "AT_ONCE", at_once)
    found = HitCounter()
    found.add("monday", 2, [0, 7])
    found.add("tuesday", 3, [7])
    found.add("monday", 5, [])
    found.add("monday", 10, [7])
    assert rows_of(found) == [
        (0, "monday", 1, 2, 4.0),
        (7, "monday", 2, 12, 104.0),
        (7, "tuesday", 1, 3, 9.0),
    ]
    found.add("tuesday", 1, [7])
    assert rows_of(found)[-1] == (7, "tuesday", 2, 4, 10.0)


def test_no_request_makes_no_sum() -> None:
    assert rows_of(HitCounter()) == []
