"""The next day is within the bounds of a forecast, whatever the days before were like."""

import pytest

from bench.nightly.coverage import HISTORIES, TRAFFIC, coverage


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("kind", TRAFFIC)
def test_nine_of_ten_days_to_come_are_within_the_bounds(kind: str, history: int) -> None:
    found = coverage(TRAFFIC[kind], history)
    assert found.inside >= 0.9
    assert found.width < 6, "bounds that say nothing hold everything"
