"""The funnel, compared with trying each attribute by itself."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from index import Attribute, Index, Schema, parse
from index.event import Event, check_event
from index.funnel import Funnel, funnel
from index.language import Tree, predicate_count, predicates_of
from index.scan import evaluate
from tests.index.strategies import events, schemas, trees
from tests.index.test_obstacles import least_changes, value_with

SCHEMA = Schema([Attribute("country", "string"), Attribute("age", "int"), Attribute("vip", "bool")])
TEXTS = [
    "true",
    "country = 'FR'",
    "country = 'US'",
    "country = 'US' and country != 'FR'",
    "country = 'US' and age > 18",
    "country = 'US' and vip",
    "country = 'US' or vip",
    "vip and age > 18",
    "vip xor age > 18",
    "false or country = 'US' and false",
]


def test_each_is_counted_once_and_each_attribute_that_would_do() -> None:
    event, _ = check_event({"country": "FR", "age": 30}, SCHEMA)
    found = funnel((parse(text, SCHEMA) for text in TEXTS), event)
    assert found == Funnel(
        looked_at=10,
        matched=2,
        by_one=6,
        by_several=1,
        never=1,
        alone={"country": 4, "vip": 3},
        missing=frozenset({"vip"}),
    )
    assert found.to_dict() == {
        "looked_at": 10,
        "matched": 2,
        "kept_out": {"by_one": 6, "by_several": 1, "never": 1},
        "alone": [
            {"attribute": "country", "campaigns": 4, "missing": False},
            {"attribute": "vip", "campaigns": 3, "missing": True},
        ],
    }
    assert str(found).splitlines()[-1] == "     3  vip (missing)"


def test_nothing_is_looked_at_in_an_empty_index() -> None:
    assert funnel([], {}) == Funnel(0, 0, 0, 0, 0, {}, frozenset())


def test_an_index_passes_over_what_is_gone() -> None:
    index = Index(SCHEMA)
    index.insert_many(list(enumerate(TEXTS)))
    index.remove(0)
    found = index.funnel(range(99), {"country": "FR", "age": 30})
    assert (found.looked_at, found.matched) == (9, 1)


def alone(tree: Tree, event: Event) -> set[str]:
    """The attributes that can make a tree true alone, by trying all values of their predicates."""
    predicates = list(predicates_of(tree))
    now = [evaluate(predicate, event) for predicate in predicates]
    able = set()
    for name in {predicate.attribute for predicate in predicates}:
        places = [place for place, p in enumerate(predicates) if p.attribute == name]
        for values in itertools.product((True, False), repeat=len(places)):
            tried = list(now)
            for place, value in zip(places, values, strict=True):
                tried[place] = value
            if value_with(tree, tried) is True:
                able.add(name)
    return able


@given(st.data())
def test_an_attribute_counts_alone_if_it_would_do_alone(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    small = trees(schema, max_leaves=5).filter(lambda tree: predicate_count(tree) <= 5)
    some = data.draw(st.lists(small, max_size=2))
    event, _ = check_event(data.draw(events(schema)), schema)
    found = funnel(some, event)
    kept_out = [tree for tree in some if evaluate(tree, event) is not True]
    able = [alone(tree, event) for tree in kept_out]
    least = [least_changes(tree, event) for tree in kept_out]
    assert found.looked_at == len(some)
    assert found.matched == len(some) - len(kept_out)
    assert found.by_one == sum(1 for names in able if names)
    assert found.never == least.count(None)
    assert found.by_several == len(kept_out) - found.by_one - found.never
    names = {name for some_names in able for name in some_names}
    assert found.alone == {name: sum(name in names for names in able) for name in names}
