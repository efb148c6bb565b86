"""Good plans from the first insert: how few postings an event reads while nothing is known about
the traffic, and what the index learns from its own events."""

import json
from pathlib import Path
from random import Random
from string import ascii_lowercase

from index import Attribute, Index, Schema

MOST = 10


def rows(trees: list[list[object]]) -> list[tuple[int, str]]:
    return [(id, json.dumps([1, tree])) for id, tree in enumerate(trees)]


def access(index: Index) -> object:
    """What leads to the expression 1."""
    entries = index.plan(1)["entries"]
    assert isinstance(entries, list)
    (entry,) = entries
    return entry["access"]


def test_what_few_expressions_share_leads_to_them() -> None:
    schema = Schema([Attribute("env", "string"), Attribute("number", "string")])
    index = Index(schema, engine="native")
    trees: list[list[object]] = [
        ["and", ["=", "env", "prod"], ["=", "number", str(id)]] for id in range(10_000)
    ]
    index.insert_json(rows(trees))
    events = [{"env": "prod", "number": str(id)} for id in range(0, 10_000, 500)]
    assert max(index.postings_touched([json.dumps(event).encode() for event in events])) <= MOST
    assert index.match(events[3]) == [1500]


def test_a_long_prefix_is_rarer_than_a_value() -> None:
    random = Random("prefixes")
    schema = Schema([Attribute("n", "int"), Attribute("s", "string")])
    index = Index(schema, engine="native")
    prefixes = ["".join(random.choices(ascii_lowercase, k=6)) for _ in range(100_000)]
    trees: list[list[object]] = [
        ["and", ["=", "n", id % 100], ["starts with", "s", prefix]]
        for id, prefix in enumerate(prefixes)
    ]
    index.insert_json(rows(trees))
    events = [{"n": id % 100, "s": prefixes[id] + "abc"} for id in range(0, 100_000, 5000)]
    assert max(index.postings_touched([json.dumps(event).encode() for event in events])) <= MOST
    assert 5000 in index.match(events[1])


def test_two_values_lead_to_a_conjunction_where_one_is_common(tmp_path: Path) -> None:
    random = Random("pairs")
    names = [f"f{i}" for i in range(8)]
    schema = Schema([Attribute(name, "int") for name in names])
    index, scan = Index(schema, engine="native"), Index(schema, engine="scan")
    trees: list[list[object]] = []
    for _ in range(6000):
        chosen = [*names[:2], *random.sample(names[2:], 2)]
        trees.append(["and", *(["=", name, random.randrange(10)] for name in chosen)])
    index.insert_json(rows(trees))
    scan.insert_json(rows(trees))
    events = [{name: random.randrange(10) for name in names} for _ in range(20)]
    events += [{name: event[name] for name in names[1:]} for event in events[:3]]
    written = [json.dumps(event).encode() for event in events]

    def agree(index: Index) -> None:
        assert index.match_many(events) == scan.match_many(events)
        index.check_invariants()

    agree(index)
    index.replan()
    agree(index)
    assert index.stats()["pairs"] == 1
    # A value of one attribute leads to 600 expressions, a pair of values to 60.
    assert max(index.postings_touched(written)) < 150
    index.save(tmp_path / "index")
    agree(Index.load(tmp_path / "index", schema))
    for id in range(0, 6000, 2):
        assert index.remove(id)
        assert scan.remove(id)
    agree(index)


def test_a_short_prefix_is_more_common_than_a_value() -> None:
    index = Index(Schema([Attribute("n", "int"), Attribute("s", "string")]), engine="native")
    index.insert(1, "n = 5 and s starts with 'a'")
    assert access(index) == "n = 5"


def sampled() -> Index:
    """An index whose events often have `a = 1`, and never another value of `a`."""
    index = Index(Schema([Attribute("a", "int"), Attribute("b", "int")]), engine="native")
    index.insert(1, "a = 1 and b = 2")
    for _ in range(64 * 40):
        index.match(b'{"a": 1, "b": 7}')
    return index


def test_replanning_uses_the_sampled_events() -> None:
    index = sampled()
    index.replan()
    assert access(index) == "b = 2"


def test_going_without_statistics_uses_the_sampled_events() -> None:
    index = sampled()
    index.use_statistics(None)
    assert index.stats()["sampled_events"] == 40
    assert access(index) == "b = 2"


def test_the_other_engines_have_nothing_to_plan_anew() -> None:
    for engine in ("scan", "reference"):
        index = Index(Schema([Attribute("a", "int")]), engine=engine)
        index.insert(1, "a = 1")
        index.replan()
        assert index.match({"a": 1}) == [1]
