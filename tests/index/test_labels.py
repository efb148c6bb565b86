"""Labels beside expressions, and queries that exclude them, on every engine."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Exclude, Index, Query, RowError
from tests.index.conftest import Make
from tests.index.language.test_parser import SCHEMA

EVENT: dict[str, object] = {"vip": True}
LABELS = st.lists(
    st.sampled_from(["a", "a/b", "a/b/c", "a/c", "ab", "b", "b/", "/b", "é"]), max_size=3
)
EXPRESSIONS = st.sampled_from(["vip", "not vip", "true", "vip or age > 3"])
ENTRIES = st.tuples(st.integers(0, 9), EXPRESSIONS, st.integers(0, 3), LABELS)


def ids(index: Index, **exclude: object) -> list[int]:
    return index.ask(EVENT, Query(exclude=Exclude(**exclude))).ids  # type: ignore[arg-type]


def test_an_excluded_label_takes_those_below_it(make: Make) -> None:
    index = make()
    index.insert(1, "vip", labels=["food"])
    index.insert(2, "vip", labels=["food/sweets"])
    index.insert(3, "vip", labels=("sport", "food/sweets/dark"))
    index.insert(4, "vip", labels=["foodstuff"])
    index.insert(5, "vip")
    assert ids(index) == index.match(EVENT) == [1, 2, 3, 4, 5]
    assert ids(index, labels=["food"]) == [4, 5]
    assert ids(index, labels=["food/sweets", "nothing"]) == [1, 4, 5]
    assert ids(index, labels=["sport"]) == [1, 2, 4, 5]
    assert ids(index, within=["food"]) == [1, 2]
    assert ids(index, within=["food/sweets", "sport"]) == [2, 3]
    assert ids(index, within=["food", "sport"], labels=["food/sweets/dark"]) == [1, 2]
    assert ids(index, within=[]) == []
    found = index.ask(EVENT, Query(None, 2, True, Exclude(labels=["food"])))
    assert (found.ids, found.total) == ([4, 5], 2)
    index.check_invariants()


def test_copies_of_an_expression_with_other_labels_are_one() -> None:
    index = Index(SCHEMA, "native")
    index.insert_json(
        (id, '[1,["holds","vip"]]', 0, None, None, 0, 0, (f"l{id}",)) for id in range(99)
    )
    stats = index.stats()
    assert (stats["distinct_expressions"], stats["label_sets"]) == (1, 99)
    assert ids(index, labels=[f"l{id}" for id in range(98)]) == [98]


def test_labels_change_and_go_with_their_entry(make: Make) -> None:
    index = make()
    index.insert(1, "vip", labels=["b", "a", "b"])
    index.insert(2, "vip", labels=["a", "b"])
    assert (index.labels(1), index.labels(3), index.stats()["label_sets"]) == (["a", "b"], [], 1)
    index.insert(1, "vip", labels=["c"])
    assert ids(index, labels=["a"]) == [1]
    index.insert(1, "vip")
    assert ids(index, labels=["a", "c"]) == [1]
    assert index.remove(2)
    assert (index.labels(2), index.stats()["label_sets"]) == ([], 0)
    index.check_invariants()


@pytest.mark.parametrize("labels", ["a", None, {"a"}, [""], ["a\nb"], [3], ["\ud800"], [["a"]]])
def test_what_is_no_label_is_refused(make: Make, labels: object) -> None:
    index = make()
    with pytest.raises(ValueError, match="label"):
        index.insert(1, "true", labels=labels)  # type: ignore[arg-type]
    with pytest.raises(RowError, match="label"):
        index.insert_json([(1, "[1,true]", 0, None, None, 0, 0, labels)])
    with pytest.raises(ValueError, match="label"):
        Exclude(labels=labels)  # type: ignore[arg-type]
    if labels is not None:
        with pytest.raises(ValueError, match="label"):
            Exclude(within=labels)  # type: ignore[arg-type]
    assert len(index) == 0


@given(
    st.lists(st.one_of(ENTRIES, st.integers(0, 9)), max_size=20),
    st.lists(st.tuples(LABELS, st.none() | LABELS, st.none() | st.integers(0, 3)), max_size=4),
)
def test_after_any_history_all_engines_exclude_alike(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, str, int, list[str]] | int],
    asked: list[tuple[list[str], list[str] | None, int | None]],
) -> None:
    engines = [Index(SCHEMA, engine) for engine in ("scan", "reference", "native")]
    for index in engines:
        for step in steps:
            if isinstance(step, int):
                index.remove(step)
            else:
                id, expression, score, labels = step
                index.insert(id, expression, score, labels=labels)
        index.check_invariants()
    engines.append(reloaded(engines[-1], tmp_path_factory.mktemp("labels") / "index"))
    scan, *others = engines
    for index in others:
        assert index.digest() == scan.digest()
        assert {id: index.labels(id) for id in index} == {id: scan.labels(id) for id in scan}
        for labels, within, limit in asked:
            query = Query(None, limit, True, Exclude(labels=labels, within=within))
            found, expected = index.ask(EVENT, query), scan.ask(EVENT, query)
            assert (found.ids, found.total) == (expected.ids, expected.total)
            best = Query(None, limit, False, query.exclude)
            assert index.ask(EVENT, best).ids == expected.ids


def reloaded(index: Index, path: Path) -> Index:
    index.save(path)
    loaded = Index.load(path, SCHEMA)
    loaded.check_invariants()
    return loaded


def bytes_of(index: Index) -> int:
    parts = index.stats()["bytes"]
    assert isinstance(parts, dict)
    return int(parts["labels"])


def test_no_memory_is_spent_until_somebody_has_a_label() -> None:
    index = Index(SCHEMA, "native")
    index.insert_json((id, '[1,["holds","vip"]]') for id in range(50_000))
    assert bytes_of(index) == 0
    sets = [(f"l{place}",) for place in range(100)]
    index.insert_json(
        (id, '[1,["holds","vip"]]', 0, None, None, 0, 0, sets[id % 100]) for id in range(50_000)
    )
    assert bytes_of(index) < 5 * 50_000 + 300_000, "four bytes each"
