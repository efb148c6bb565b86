"""How categories are written, and what they add to a targeting in the index."""

import pytest

from campaigns.campaign.categories import (
    ancestors,
    category,
    for_index,
    for_targeting,
    with_ancestors,
    wrap,
)
from campaigns.catalogue.model import BLOCKED_CATEGORIES, schema_of
from campaigns.feed.apply import apply
from campaigns.feed.view import View
from index import Index, Limits, digest_of, parse
from index.language import from_json, to_json
from index.language.limits import MAX_DEPTH
from index.language.tree import children_of
from tests.campaigns.feed.test_apply import change
from tests.campaigns.feed.writing import active

SCHEMA = schema_of([("age", "int")])
TREE = '[1,["=","age",3]]'


def test_without_categories_a_tree_is_itself() -> None:
    assert wrap(TREE, None) is TREE
    assert wrap(TREE, []) is TREE


def test_with_categories_it_is_guarded_by_them_and_what_they_lie_in() -> None:
    expected = (
        '[1,["and",["=","age",3],["or",["is null","request.blocked_categories"],'
        '["none of","request.blocked_categories","IAB7-39","IAB7","5:é\\"","x"]]]]'
    )
    categories = ["iab7-39", '5:é"', "x", "IAB7"]
    assert wrap(TREE, categories) == wrap(TREE.encode(), categories) == expected
    assert wrap(' [ 1, ["=", "age", 3] ]', categories) == expected
    tree = from_json(str(wrap(TREE, categories)), SCHEMA)
    assert children_of(tree)[0] == from_json(TREE, SCHEMA)


@pytest.mark.parametrize("broken", ["", "[", "{}", "[2,true]", b"\xff"[:0]])
def test_what_is_no_tree_stays_none(broken: str | bytes) -> None:
    assert wrap(broken, ["IAB1"]) == broken


def test_an_explanation_is_of_the_targeting_and_says_whether_it_is_blocked() -> None:
    index = Index(SCHEMA)
    index.insert_json([(7, wrap(TREE, ["IAB7-39"]))])
    for blocked, expected in ((None, False), (["IAB1"], False), (["IAB7"], True)):
        whole = index.explain(7, {"age": 3, BLOCKED_CATEGORIES: blocked})
        targeting, guard = whole.children
        assert (targeting.text, targeting.value) == ("age = 3", True)
        assert bool(guard.value) is bool(whole.value) is not expected


def test_a_view_finds_the_same_with_or_without_and_its_digest_is_the_campaigns_own() -> None:
    view = View.empty({"age": "int"}, Limits())
    view.arrive("e", 0, "")
    contents = [active(id, id + 5, 3, categories=["IAB1"][: id % 2]) for id in range(1, 9)]
    apply(view, [change(n, "campaign", str(n), content) for n, content in enumerate(contents, 1)])
    assert view.index.match({"age": 3}) == list(range(1, 9))
    assert view.index.match({"age": 3, BLOCKED_CATEGORIES: ["IAB1"]}) == [2, 4, 6, 8]
    assert view.digest() == digest_of([(id, id + 5) for id in range(1, 9)])
    view.index.check_invariants()


def test_the_largest_targeting_still_fits_with_what_is_added() -> None:
    limits = Limits(predicates=50)
    store, index = for_targeting(limits), Index(SCHEMA, limits=for_index(limits))
    index.insert_json(
        [(1, wrap(to_json(parse(" or ".join(["age = 1"] * 50), SCHEMA, store)), ["IAB1"]))]
    )
    assert index.match({"age": 1}) == [1]
    level = "age = 1 or age = 2 xor age = 3 and "
    for extra in range(2):
        depth = MAX_DEPTH - 1 + extra
        text = (level + "(") * depth + level + "age = 4" + ")" * depth
        limits = Limits()
        if extra:
            with pytest.raises(ValueError, match="deep"):
                parse(text, SCHEMA, for_targeting(limits))
        else:
            tree = parse(text, SCHEMA, for_targeting(limits))
            deep = Index(SCHEMA, limits=for_index(limits))
            deep.insert_json([(1, wrap(to_json(tree), ["IAB1"]))])
            assert deep.match({"age": 1}) == [1]


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
