"""`bench hostile`: its targetings are accepted or refused as it says."""

import json

import pytest

from bench.index import hostile as command
from bench.index.hostile_expressions import LIMITS, SCHEMA, hostile
from index import Index, parse
from index.language import predicate_count
from tests.bench.conftest import Bench


def test_it_measures_every_one_of_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "COPIES", 10)
    result = json.loads("".join(bench("hostile", "--rounds", "1", "--json")))
    assert [row["name"] for row in result["accepted"]] == [one.name for one in hostile()]
    assert {row["code"] for row in result["refused"]} == {
        "limit.text",
        "limit.predicates",
        "limit.depth",
    }


def test_they_go_to_the_limits_and_the_engines_agree_on_them() -> None:
    counts = []
    for one in hostile():
        tree = parse(one.text, SCHEMA, LIMITS)
        counts.append(predicate_count(tree))
        native, scan = Index(SCHEMA, "native"), Index(SCHEMA, "scan")
        native.insert(1, tree)
        scan.insert(1, tree)
        assert native.match(one.event) == scan.match(one.event), one.name
    assert max(counts) == LIMITS.predicates
    assert max(len(one.text) for one in hostile()) == LIMITS.text_bytes
