"""The flat scan, the engines of the papers and, where it is supported, a-tree give the oracle's
answers."""

import json
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build import CannotBuild, peers
from bench.index.engines import PAPERS
from bench.index.engines.engine import as_pairs
from index import Index
from index.language import Schema, Tree, Type, from_json, predicates_of, to_json
from index.language.operators import Operands
from testkit.workloads import make
from testkit.workloads.abe import Abe
from tests.index.strategies import events, schemas, trees


@pytest.fixture(scope="module")
def module() -> ModuleType:
    try:
        return peers()
    except CannotBuild as e:
        pytest.skip(str(e))


def plain_schemas() -> st.SearchStrategy[Schema]:
    """Without the types that no peer has: versions, addresses, points."""
    unknown = (Type.VERSION, Type.IP, Type.POINT)
    plain = schemas().map(lambda schema: Schema(a for a in schema if a.type not in unknown))
    return plain.filter(lambda schema: len(schema) > 0)


def is_plain(tree: Tree) -> bool:
    """Without patterns, and without what is derived from attributes: no peer has these."""
    return all(
        each.derived is None and each.op.operands is not Operands.PATTERN
        for each in predicates_of(tree)
    )


@given(data=st.data())
def test_flat_equals_scan(module: ModuleType, data: st.DataObject) -> None:
    schema = data.draw(plain_schemas())
    flat, scan = module.Flat(as_pairs(schema)), Index(schema, engine="scan")
    for id, tree in enumerate(data.draw(st.lists(trees(schema), max_size=6))):
        try:
            flat.insert(id, to_json(tree))
        except ValueError:
            assert not is_plain(tree)
            continue
        scan.insert(id, tree)
    for event in data.draw(st.lists(events(schema), min_size=1, max_size=6)):
        assert flat.matching(json.dumps(event)) == scan.match(event)


@given(data=st.data())
def test_a_tree_equals_scan_on_what_it_takes(module: ModuleType, data: st.DataObject) -> None:
    schema = data.draw(plain_schemas())
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


def test_quamina_equals_scan_on_equalities_of_integers(module: ModuleType) -> None:
    workload = make("be-tree", equality=1.0)
    peer, scan = module.Quamina(as_pairs(workload.schema)), Index(workload.schema, engine="scan")
    for id, text in zip(range(200), workload.expressions(), strict=False):
        peer.insert(id, text)
        scan.insert(id, from_json(text, workload.schema))
    found = [peer.matching(json.dumps(event)) for event in workload.events(50)]
    assert any(found)
    assert found == [scan.match(event) for event in workload.events(50)]


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ('[1,["or",["=","a",1],["=","b",1]]]', "conjunctions only"),
        ('[1,["and",["=","a",1],["in","a",1,9]]]', "one predicate for each attribute"),
        ('[1,[">","a",1]]', "a comparison for an equality"),
        ('[1,["!=","a",1]]', "no negation"),
        ('[1,["is null","a"]]', "no is null"),
    ],
)
def test_quamina_refuses_what_its_patterns_cannot_say(
    module: ModuleType, tree: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        module.Quamina([("a", "int"), ("b", "int")]).insert(1, tree)


def test_the_names_of_the_papers_engines_are_those_of_the_library(module: ModuleType) -> None:
    others = ["be-tree-adaptive", "tama", "tama-optimal"]
    assert sorted([*PAPERS, *others]) == sorted(module.Paper.names())


@given(data=st.data())
def test_papers_equal_scan_on_what_they_take(module: ModuleType, data: st.DataObject) -> None:
    schema = data.draw(plain_schemas())
    # The least integer stands for a missing value there, and is refused.
    some = events(schema).filter(lambda event: -(2**63) not in event.values())
    name = data.draw(st.sampled_from(PAPERS))
    paper, scan = module.Paper(name, as_pairs(schema)), Index(schema, engine="scan")
    seen = [json.dumps(event) for event in data.draw(st.lists(some, max_size=4))]
    paper.learn(seen)
    for id, tree in enumerate(data.draw(st.lists(trees(schema), max_size=8))):
        try:
            paper.insert(id, to_json(tree))
        except ValueError:
            continue
        scan.insert(id, tree)
    if data.draw(st.booleans()):
        paper.maintain(seen)
    for id in data.draw(st.lists(st.integers(0, 7), max_size=3)):
        assert paper.remove(id) == scan.remove(id)
    paper.check_invariants()
    for event in data.draw(st.lists(some, min_size=1, max_size=6)):
        assert paper.matching(json.dumps(event)) == scan.match(event)


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


def test_peers_refuse_types_that_they_do_not_have(module: ModuleType) -> None:
    schema, tree = [("v", "version")], '[1,["=","v","1.2"]]'
    with pytest.raises(ValueError, match="Version"):
        module.ATree(schema)
    for peer in (module.Flat(schema), *(module.Paper(name, schema) for name in PAPERS)):
        with pytest.raises(ValueError, match=r"no (number|type)"):
            peer.insert(1, tree)
