"""How categories are written, and what the index knows of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.campaign.categories import (
    ancestors,
    blocked_ones,
    category,
    labels_of,
    with_ancestors,
)
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.feed.apply import apply
from campaigns.feed.view import View
from index import Exclude, Limits, Query, digest_of
from tests.campaigns.feed.test_apply import change
from tests.campaigns.feed.writing import active

CODES = st.sampled_from(["IAB7", "iab7-39", "IAB7-1", "5:150", "5:a/b", "5:a", "x", "1:", "%", "é"])


def view_with(*categories: list[str]) -> View:
    """A view with a campaign for each list."""
    view = View.empty({"age": "int"}, Limits())
    view.arrive("e", 0, "")
    contents = [active(id, id + 5, 3, categories=some) for id, some in enumerate(categories, 1)]
    apply(view, [change(n, "campaign", str(n), content) for n, content in enumerate(contents, 1)])
    return view


def test_a_label_is_the_path_to_a_category() -> None:
    assert labels_of(["iab7-39", "IAB9", "5:150", "5:a/b", "1:", "é"]) == (
        "IAB7/IAB7-39",
        "IAB9",
        "5:150",
        "5:a%2Fb",
        "%",
        "%C3%A9",
    )


def test_copies_of_an_expression_stay_one_and_the_digest_is_the_campaigns_own() -> None:
    view = view_with(*(["IAB1"][: id % 2] for id in range(1, 9)))
    assert view.index.match({"age": 3}) == list(range(1, 9))
    blocked = Query(exclude=Exclude(labels=labels_of(["IAB1"])))
    assert view.index.ask({"age": 3}, blocked).ids == [2, 4, 6, 8]
    assert view.index.stats()["distinct_expressions"] == 1
    assert view.digest() == digest_of([(id, id + 5) for id in range(1, 9)])
    view.index.check_invariants()


def test_the_attribute_itself_blocks_nothing() -> None:
    view = view_with(["IAB1"])
    assert view.index.match({"age": 3, BLOCKED_CATEGORIES: ["IAB1"]}) == [1]


def test_other_categories_take_the_place_of_the_old() -> None:
    view = view_with(["IAB1"])
    view.arrive("e", 1, "")
    apply(view, [change(2, "campaign", "1", active(1, 7, 3, categories=["IAB2-1"]))])
    assert view.index.labels(1) == ["IAB2/IAB2-1"]


@given(st.lists(CODES, max_size=3), st.lists(CODES, max_size=3))
def test_an_explanation_names_what_the_index_excludes(
    categories: list[str], blocked: list[str]
) -> None:
    view = view_with(categories)
    query = Query(exclude=Exclude(labels=labels_of(blocked)))
    is_blocked = not view.index.ask({"age": 3}, query).ids
    codes = {category(each) for each in blocked}
    naive = [each for each in categories if codes & {*with_ancestors([category(each)])}]
    assert is_blocked == bool(naive)
    assert blocked_ones(categories, blocked) == naive


@pytest.mark.parametrize(
    ("code", "taxonomy", "written"),
    [
        ("IAB7-39", 1, "IAB7-39"),
        (" iab7-39 ", 1, "IAB7-39"),
        ("1:IAB7", 1, "IAB7"),
        ("150", 1, "150"),
        ("150", 6, "6:150"),
        ("IAB7-39", 2, "IAB7-39"),
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
