"""The first reason of a miss, for every kind of miss."""

from typing import Any

from app.observability.delivery.sample import SampledRequest, Trees, outcome_of
from campaigns.catalogue.model import schema_of
from index import Exclude, Index, Query
from index.score import score_of

SCHEMA = schema_of([("country", "string"), ("age", "int")])
NOW = 1000.0


def index() -> Index:
    made = Index(SCHEMA)
    made.insert(1, "country = 'US'", score=score_of(9, 500), group=1)
    made.insert(2, "country = 'US' and age < 30", score=score_of(8, 500), group=1)
    made.insert(3, "country = 'US'", score=score_of(7, 500), end=NOW, group=1)
    made.insert(4, "country = 'US'", score=score_of(7, 500), group=2)
    made.insert(5, "country = 'US'", score=score_of(7, 500), group=3)
    made.insert(6, "country = 'US'", score=score_of(7, 5), group=1)
    made.insert(7, "country = 'US'", score=score_of(7, 500), group=1, labels=["IAB7"])
    made.insert(8, "age > 3 and age < 2 and false", score=score_of(7, 500), group=1)
    made.insert(9, "country = 'US'", score=score_of(1, 500), group=1)
    made.mute(3)
    return made


def reasons(
    made: Index, answered: list[int] | None = None, limit: int = 1, **sent: Any
) -> dict[int, str]:
    builtins: dict[str, object] = {"now.hour": 7, "now.weekday": 1}
    query = Query(NOW, limit, False, Exclude(groups=[2], labels=["IAB7"]), 100, builtins)
    attributes = {"country": "US", **sent}
    best = made.ask(attributes, query).ids if answered is None else answered
    outcome = outcome_of(made, SampledRequest(attributes, query, best))
    assert outcome is not None
    found = outcome.reasons(list(made), Trees())
    return {id: f"{code} {predicate}".strip() for id, (code, predicate) in found}


def test_every_kind_of_miss_has_its_reason() -> None:
    assert reasons(index(), age=40) == {
        2: "targeting age < 30",
        3: "flight",
        4: "excluded",
        5: "advertiser_paused",
        6: "floor",
        7: "blocked",
        8: "targeting",
        9: "outranked",
    }


def test_a_missing_value_is_in_the_way_too() -> None:
    assert reasons(index())[2] == "targeting age < 30"


def test_a_match_that_had_room_in_the_answer_was_restricted() -> None:
    assert reasons(index(), answered=[], limit=10)[1] == "restricted"
    assert reasons(index(), answered=[9], limit=1)[1] == "outranked"


def test_a_request_that_does_not_fit_any_more_is_passed_over() -> None:
    request = SampledRequest({"age": "old"}, Query(NOW, 1), [])
    assert outcome_of(index(), request) is None


def test_trees_are_parsed_again_when_they_change() -> None:
    made, trees = index(), Trees()
    first = trees.get(made, 1)
    assert trees.get(made, 1) is first
    made.insert(1, "country = 'DE'")
    assert str(trees.get(made, 1)) == "country = 'DE'"
    made.remove(1)
    assert trees.get(made, 1) is None
