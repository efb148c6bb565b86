"""The flat scan and, where it is supported, a-tree give the oracle's answers."""

import json
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build import CannotBuild, peers
from bench.index.engines.engine import as_pairs
from index import Index
from index.language import from_json, to_json
from testkit.workloads.abe import Abe
from tests.index.strategies import events, schemas, trees


@pytest.fixture(scope="module")
def module() -> ModuleType:
    try:
        return peers()
    except CannotBuild as e:
        pytest.skip(str(e))


@given(data=st.data())
def test_flat_equals_scan(module: ModuleType, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    flat, scan = module.Flat(as_pairs(schema)), Index(schema, engine="scan")
    for id, tree in enumerate(data.draw(st.lists(trees(schema), max_size=6))):
        flat.insert(id, to_json(tree))
        scan.insert(id, tree)
    for event in data.draw(st.lists(events(schema), min_size=1, max_size=6)):
        assert flat.matching(json.dumps(event)) == scan.match(event)


@given(data=st.data())
def test_a_tree_equals_scan_on_what_it_takes(module: ModuleType, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    peer, scan = module.ATree(as_pairs(schema)), Index(schema, engine="scan")
    for id, tree in enumerate(data.draw(st.lists(trees(schema), max_size=6))):
        try:
            peer.insert(id, to_json(tree))
        except ValueError:
            continue
        scan.insert(id, tree)
    for event in data.draw(st.lists(events(schema), min_size=1, max_size=6)):
        try:
            found = peer.matching(json.dumps(event))
        except ValueError:  # a double that has no short decimal form
            continue
        assert found == scan.match(event)


@pytest.mark.parametrize("seed", range(10))
def test_all_equal_scan_on_small_heavily_shared_expressions(module: ModuleType, seed: int) -> None:
    workload = Abe(
        seed=seed, dimensions=3 + seed % 4, cardinality=3, depth=1 + seed % 5, children=2
    )
    schema = workload.schema
    all_peers = [module.Flat(as_pairs(schema)), module.ATree(as_pairs(schema))]
    scan = Index(schema, engine="scan")
    for id, text in zip(range(200), workload.expressions(), strict=False):
        for peer in all_peers:
            peer.insert(id, text)
        scan.insert(id, from_json(text, schema))
    for event in workload.events(10):
        for peer in all_peers:
            assert peer.matching(json.dumps(event)) == scan.match(event)


def test_flat_refuses_ids_that_do_not_ascend(module: ModuleType) -> None:
    flat = module.Flat([("a", "int")])
    flat.insert(5, "[1,true]")
    with pytest.raises(ValueError, match="ascend"):
        flat.insert(5, "[1,true]")


@pytest.mark.parametrize("tree", ["", "[2,true]", '[1,["=","b",1]]', '[1,["and"]]', "[1,[]]"])
def test_peers_refuse_what_is_no_tree(module: ModuleType, tree: str) -> None:
    for peer in (module.Flat([("a", "int")]), module.ATree([("a", "int")])):
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own words)
            peer.insert(1, tree)
