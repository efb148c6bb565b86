"""What is added to a targeting, and taken away again."""

import pytest

from campaigns.campaign.eligibility import (
    for_index,
    for_targeting,
    unwrap,
    wrap,
)
from campaigns.catalogue.model import BLOCKED_CATEGORIES, schema_of
from campaigns.feed.apply import apply
from campaigns.feed.view import View
from index import Index, Limits, digest_of, parse
from index.language import from_json, to_json
from index.language.limits import MAX_DEPTH
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
    assert unwrap(tree, categories) == from_json(TREE, SCHEMA)
    assert unwrap(tree, ()) == tree


@pytest.mark.parametrize("broken", ["", "[", "{}", "[2,true]", b"\xff"[:0]])
def test_what_is_no_tree_stays_none(broken: str | bytes) -> None:
    assert wrap(broken, ["IAB1"]) == broken


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
