"""Categories, written one way."""

import pytest

from campaigns.campaign.taxonomy import ancestors, category, with_ancestors


@pytest.mark.parametrize(
    ("code", "taxonomy", "written"),
    [
        ("IAB7-39", 1, "IAB7-39"),
        (" iab7-39 ", 1, "IAB7-39"),
        ("1:IAB7", 1, "IAB7"),
        ("150", 1, "150"),
        ("150", 6, "6:150"),
        ("IAB7-39", 2, "2:IAB7-39"),
        ("5:150", 1, "5:150"),
        ("Iabc", 1, "Iabc"),
    ],
)
def test_a_category_is_written_one_way(code: str, taxonomy: int, written: str) -> None:
    assert category(code, taxonomy) == written
    assert category(written) == written


def test_only_the_first_taxonomy_says_what_lies_in_what() -> None:
    assert ancestors("IAB7-39") == ("IAB7",)
    for none in ("IAB7", "2:IAB7-39", "a-b", "", "IAB7-39-1"):
        assert ancestors(none) == ()
    assert with_ancestors(["IAB7-1", "IAB7-2", "x", "IAB7"]) == ["IAB7-1", "IAB7", "IAB7-2", "x"]
