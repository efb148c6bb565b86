"""The workloads are reproducible and have the requested parameters."""

import json
import statistics
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from index import Index
from index.event import check_event
from index.language import from_json, parse, predicate_count, to_json
from testkit.workloads import NAMES, cache, make
from testkit.workloads.abe import Abe
from testkit.workloads.be import Be
from testkit.workloads.workload import Workload

ADS = 20_000


def first(workload: Workload, count: int) -> list[str]:
    return list(islice(workload.expressions(), count))


def nodes(tree: Any) -> Iterator[list[Any]]:
    """All nodes and predicates of a JSON tree."""
    if isinstance(tree, list):
        yield tree
        if tree[0] in ("and", "or", "not", "xor"):
            for child in tree[1:]:
                yield from nodes(child)


def predicates(text: str) -> list[list[Any]]:
    logic = ("and", "or", "not", "xor")
    return [node for node in nodes(json.loads(text)[1]) if node[0] not in logic]


@pytest.fixture(scope="module")
def ads() -> list[str]:
    return first(make("ads"), ADS)


@pytest.fixture(scope="module")
def ads_conj() -> list[str]:
    return first(make("ads-conj"), ADS)


# --- all --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_same_every_time(name: str) -> None:
    assert first(make(name), 200) == first(make(name), 200)
    assert make(name).events(5) == make(name).events(9)[:5]


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_others(name: str) -> None:
    assert first(make(name, seed=2), 20) != first(make(name), 20)
    assert make(name, seed=2).events(5) != make(name).events(5)


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_the_json_form_of_what_they_say(name: str) -> None:
    workload = make(name)
    schema = workload.schema
    for text in first(workload, 150):
        tree = from_json(text, schema)
        assert to_json(tree) == text
        assert to_json(parse(str(tree), schema)) == text


@pytest.mark.parametrize("name", NAMES)
def test_events_fit_the_schema(name: str) -> None:
    workload = make(name)
    schema = workload.schema
    assert {check_event(event, schema)[1] for event in workload.events(30)} == {()}


def test_the_cache_gives_the_same_and_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    monkeypatch.setattr(cache, "SMALL", 10)
    workload = make("be-dense")
    for n in (20, 50, 30):
        assert list(cache.items(workload, n)) == list(enumerate(first(workload, n)))
    assert len(list(tmp_path.glob("*.jsonl"))) == 1
    assert len(next(tmp_path.glob("*.jsonl")).read_text().splitlines()) == 50


# --- abe --------------------------------------------------------------------------------------


def test_abe_draws_its_operators_as_the_table_says() -> None:
    seen: Counter[str] = Counter()
    for text in first(Abe(), 3000):
        for node in nodes(json.loads(text)[1]):
            if node[0] in ("and", "or", "not", "xor"):
                seen[f"{node[0]}{node[1]}" if node[0] == "xor" else node[0]] += 1
    shares = {word: count / seen.total() for word, count in seen.items()}
    expected = {"and": 0.40, "or": 0.40, "not": 0.10, "xorx": 0.05, "xorn": 0.05}
    assert shares == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("depth", "children"), [(1, 4), (2, 2), (3, 4), (4, 2), (3, 12)])
def test_abe_has_the_depth_and_the_children(depth: int, children: int) -> None:
    def deep(tree: Any) -> int:
        below = [deep(child) for child in tree[1:] if tree[0] in ("and", "or", "not", "xor")]
        return 1 + max(below, default=0) if isinstance(tree, list) else 0

    texts = first(Abe(depth=depth, children=children), 300)
    assert {deep(json.loads(text)[1]) for text in texts} == {depth}
    widths = {len(n) - 1 for t in texts for n in nodes(json.loads(t)[1]) if n[0] in ("and", "or")}
    assert widths == ({children} if depth > 1 else set())


def test_abe_predicates_are_as_asked() -> None:
    workload = Abe(dimensions=50, cardinality=10, equality=0.4)
    found = [p for text in first(workload, 1000) for p in predicates(text)]
    assert {p[1] for p in found} == {f"a{d}" for d in range(50)}
    assert {value for p in found for value in p[2:]} == set(range(10))
    shares = Counter(p[0] for p in found)
    assert shares["="] / len(found) == pytest.approx(0.4, abs=0.02)
    assert len(shares) == 9
    assert shares["between"] / len(found) == pytest.approx(0.6 / 8, abs=0.01)


def test_abe_is_skewed_by_alpha() -> None:
    found = [p for text in first(Abe(alpha=1), 500) for p in predicates(text)]
    total = sum(1 / r for r in range(1, 1001))
    share = sum(p[1] == "a0" for p in found) / len(found)
    assert share == pytest.approx(1 / total, abs=0.02)


@pytest.mark.parametrize("repeat", [0, 3])
def test_abe_repeats(repeat: int) -> None:
    counts = Counter(first(Abe(repeat=repeat, depth=2), 8000))
    assert min(counts.values()) == 1 + repeat
    assert statistics.fmean(counts.values()) == pytest.approx(1 + repeat, rel=0.01)


def test_abe_events_have_their_size() -> None:
    assert {len(event) for event in Abe(event_size=7).events(50)} == {7}
    assert {len(event) for event in Abe().events(50)} == {20}


# --- be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["be-dense", "be-sparse"])
def test_be_has_its_sizes_and_equalities(name: str) -> None:
    texts = first(make(name), 3000)
    found = [predicates(text) for text in texts]
    assert statistics.fmean(map(len, found)) == pytest.approx(5, abs=0.1)
    assert all(len({p[1] for p in each}) == len(each) for each in found)
    operators = Counter(p[0] for each in found for p in each)
    assert operators["="] / operators.total() == pytest.approx(0.2, abs=0.02)
    assert set(operators) == {"=", "in", "<", "<=", ">", ">=", "between"}
    assert {len(event) for event in make(name).events(20)} == {30}


@pytest.mark.parametrize(
    ("dimensions", "matching"), [(100, 0.01), (30_000, 0.01), (30_000, 0.1), (1000, 0.5)]
)
def test_be_matches_as_often_as_asked(dimensions: int, matching: float) -> None:
    workload = Be(dimensions=dimensions, matching=matching, operator_class="high")
    index = Index(workload.schema, engine="scan")
    schema = workload.schema
    for id, text in enumerate(first(workload, 600)):
        index.insert(id, from_json(text, schema))
    events = workload.events(min(100, round(1 / matching)))
    share = statistics.fmean(len(index.match(event)) / 600 for event in events)
    assert share == pytest.approx(matching, rel=0.25)


@pytest.mark.parametrize("cardinality", [3, 1000])
@pytest.mark.parametrize("alpha", [0, 5])
def test_be_takes_extremes(cardinality: int, alpha: float) -> None:
    workload = Be(cardinality=cardinality, alpha=alpha, size=30, operator_class="high")
    texts = first(workload, 100)
    assert statistics.fmean(len(predicates(text)) for text in texts) > 29
    schema = workload.schema
    assert all(to_json(from_json(text, schema)) == text for text in texts)


# --- ads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ads", "ads_conj"])
def test_ads_has_the_measures_of_the_thesis(name: str, request: pytest.FixtureRequest) -> None:
    texts: list[str] = request.getfixturevalue(name)
    workload = make(name.replace("_", "-"))
    sizes = [len(predicates(text)) for text in texts]
    assert min(sizes) == 1
    assert max(sizes) == 56
    assert statistics.fmean(sizes) == pytest.approx(8, abs=0.25)
    assert len(workload.schema) == 122
    used = {p[1] for text in texts for p in predicates(text)}
    assert used == {attribute.name for attribute in workload.schema}
    assert {len(event) for event in workload.events(100)} == {20}
    schema = workload.schema
    counted = [predicate_count(from_json(text, schema)) for text in texts[:200]]
    assert counted == sizes[:200]


def test_ads_repeats_itself_at_all_levels(ads: list[str]) -> None:
    assert 0.5 < len(set(ads)) / len(ads) < 0.7
    found = [json.dumps(p) for text in set(ads) for p in predicates(text)]
    assert len(set(found)) / len(found) < 0.2
    parts = [
        json.dumps(node)
        for text in set(ads)
        for node in nodes(json.loads(text)[1])
        if node[0] in ("or", "not")
    ]
    assert len(set(parts)) / len(parts) < 0.5


def test_ads_is_skewed(ads: list[str]) -> None:
    attributes = Counter(p[1] for text in ads for p in predicates(text))
    (_, most), *_, (_, least) = attributes.most_common()
    assert most > 30 * least
    kinds = {str(attribute.type) for attribute in make("ads").schema}
    assert kinds == {"string", "int", "float", "bool", "int list", "string list"}


def test_ads_conj_is_conjunctions(ads_conj: list[str]) -> None:
    for text in ads_conj:
        tree = json.loads(text)[1]
        assert tree[0] not in ("or", "not", "xor")
        if tree[0] == "and":
            assert all(child[0] not in ("and", "or", "not", "xor") for child in tree[1:])
    assert any(json.loads(text)[1][0] != "and" for text in ads_conj)


@pytest.mark.parametrize("name", ["ads", "ads_conj"])
def test_a_tenth_of_a_percent_to_one_percent_of_the_ads_match(
    name: str, request: pytest.FixtureRequest
) -> None:
    texts: list[str] = request.getfixturevalue(name)
    workload = make(name.replace("_", "-"))
    index = Index(workload.schema)
    index.insert_json([(id, text.encode()) for id, text in enumerate(texts)])
    shares = [len(index.match(event)) / len(texts) for event in workload.events(100)]
    assert 0.001 < statistics.fmean(shares) < 0.01
    assert 0.001 < statistics.median(shares) < 0.01
