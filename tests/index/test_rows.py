"""Rows of JSON trees: all are inserted or none, and wrong rows are reported, on every engine."""

import threading
from types import SimpleNamespace

import pytest

from index import Index, Limits, RowError, TreeError, digest_of
from index.language import parse, to_json
from tests.index.conftest import Make
from tests.index.language.test_parser import SCHEMA

TRUE = "[1,true]"
VIP = '[1,["holds","vip"]]'


def test_rows_may_leave_out_what_is_nothing(make: Make) -> None:
    index = make()
    index.insert_json(
        [
            (1, VIP),
            (2, VIP.encode(), 5),
            (3, VIP, 5, 10),
            (4, VIP, 5, None, 20.5),
            (5, VIP, 5, 10, 20, 7),
            (6, VIP, -5, 10.5, 20, 7, 9),
            [7, VIP, 0, None, None, 0, 0],  # type: ignore[list-item]
        ]
    )
    event = {"vip": True}
    assert index.top(event, 9, total=True) == ([2, 3, 4, 5, 1, 7, 6], 7)
    assert index.match(event, 10) == [1, 2, 3, 4, 5, 7]
    assert index.match(event, 20) == [1, 2, 3, 4, 7]
    assert index.match(event, 20.5) == [1, 2, 3, 7]
    index.mute(7)
    assert index.match(event) == [1, 2, 3, 4, 7]
    assert index.digest() == digest_of([(id, 9 if id == 6 else 0) for id in range(1, 8)])
    index.check_invariants()


def test_they_are_what_insert_makes_of_trees(make: Make) -> None:
    index, other = make(), make()
    texts = ["age > 5 and not (country = 'é' xor vip)", "segments any of (1, 2) or true", "false"]
    for id, text in enumerate(texts):
        other.insert(id, text, id, group=id, version=id)
    index.insert_json(
        (id, to_json(parse(text, SCHEMA)), id, None, None, id, id) for id, text in enumerate(texts)
    )
    event = {"age": 7, "country": "é", "segments": [2]}
    assert index.top(event, total=True) == other.top(event, total=True)
    for id in range(3):
        assert index.explain(id, event) == other.explain(id, event)
    assert index.digest() == other.digest()


def test_a_later_row_replaces_an_earlier_one(make: Make) -> None:
    index = make()
    index.insert_json([(1, VIP, 1, None, None, 3, 1), (1, TRUE, 2, None, None, 4, 2)])
    assert index.match({}) == [1]
    assert index.digest() == digest_of([(1, 2)])
    assert index.stats()["groups"] == 1
    index.check_invariants()


@pytest.mark.parametrize(
    ("row", "id", "problem"),
    [
        ((), None, "a row has 2 to 8 items, not 0"),
        ((3,), None, "a row has 2 to 8 items, not 1"),
        ((3, TRUE, 0, None, None, 0, 0, (), 0), None, "a row has 2 to 8 items, not 9"),
        (5, None, "a row is a tuple, not 5"),
        ((-1, TRUE), -1, "an id is an integer from 0"),
        ((True, TRUE), True, "an id is an integer from 0"),
        ((3, None), 3, "the JSON form of a tree is bytes or a string, not None"),
        ((3, "\ud800"), 3, "this is not JSON"),
        ((3, ""), 3, "this is not JSON"),
        ((3, b"\xff"), 3, "this is not JSON"),
        ((3, '[1,["=","nobody",1]]'), 3, "there is no attribute nobody"),
        ((3, '[1,["=","age","x"]]'), 3, "age"),
        ((3, TRUE, 2**63), 3, "a score is a 64-bit integer"),
        ((3, TRUE, None), 3, "a score is a 64-bit integer"),
        ((3, TRUE, 0, float("nan")), 3, "start is a number of epoch seconds"),
        ((3, TRUE, 0, None, "now"), 3, "end is a number of epoch seconds"),
        ((3, TRUE, 0, 2**53 + 1), 3, "start is a number of epoch seconds"),
        ((3, TRUE, 0, 5, 5.0), 3, "the window is empty"),
        ((3, TRUE, 0, None, None, -1), 3, "a group is an integer from 0"),
        ((3, TRUE, 0, None, None, None), 3, "a group is an integer from 0"),
        ((3, TRUE, 0, None, None, 1, 2**32), 3, "a version is an integer from 0"),
    ],
)
def test_a_wrong_row_is_named_and_nothing_has_changed(
    make: Make, row: object, id: object, problem: str
) -> None:
    index = make()
    index.insert(1, "vip", 5, group=2, version=3)
    index.insert(2, "true")
    before = index.digest()
    with pytest.raises(RowError, match=problem) as error:
        index.insert_json([(1, TRUE), (9, TRUE), row, (5, "neither")])  # type: ignore[list-item]
    assert error.value.position == 2
    assert error.value.id == id
    assert str(error.value).startswith(f"row 2, id {id!r}: ")
    assert isinstance(error.value.problem, ValueError)
    assert error.value.__cause__ is error.value.problem
    assert list(index) == [1, 2]
    assert index.digest() == before
    assert index.match({}) == [2]
    index.check_invariants()


def test_a_wrong_tree_says_where(make: Make) -> None:
    with pytest.raises(RowError) as error:
        make().insert_json([(3, '[1,["and",true,["=","nobody",1]]]')])
    problem = error.value.problem
    assert isinstance(problem, TreeError)
    assert (problem.code, problem.pointer) == ("attribute.unknown", "/1/2/1")


@pytest.mark.parametrize("engine", ["native", "scan"])
def test_limits_are_kept(engine: str) -> None:
    index = Index(SCHEMA, engine=engine, limits=Limits(predicates=1))
    with pytest.raises(RowError, match="more than 1 predicates"):
        index.insert_json([(1, TRUE), (2, '[1,["and",["holds","vip"],["is null","age"]]]')])
    assert len(index) == 0


def test_nothing_at_all_is_fine(make: Make) -> None:
    index = make()
    index.insert_json([])
    assert len(index) == 0


def test_progress_reaches_the_end(make: Make) -> None:
    progress: list[tuple[int, int]] = []
    make().insert_json(((id, TRUE) for id in range(1500)), lambda *each: progress.append(each))
    assert progress[-1] == (1500, 1500)
    assert progress == sorted(progress)


def test_all_rows_are_checked_before_the_first_of_many_portions_goes_in() -> None:
    index = Index(SCHEMA, engine="native")
    rows = [(id, TRUE) for id in range(25_000)] + [(25_000, "wrong")]
    with pytest.raises(RowError, match="row 25000, id 25000: this is not JSON"):
        index.insert_json(rows)
    assert len(index) == 0
    trees = [(id, parse("true", SCHEMA)) for id in range(20_001)]
    progress: list[tuple[int, int]] = []
    index.insert_many(trees, lambda *each: progress.append(each))
    assert progress == [(10_000, 20_001), (20_000, 20_001), (20_001, 20_001)]


def test_others_run_while_rows_go_in() -> None:
    index = Index(SCHEMA, engine="native")
    rows = [(id, f'[1,["and",["=","age",{id}],["holds","vip"]]]') for id in range(30_000)]
    state = SimpleNamespace(count=0)

    def insert() -> None:
        index.insert_json(rows)

    thread = threading.Thread(target=insert)
    thread.start()
    partly = set()
    while thread.is_alive():
        state.count += 1
        partly.add(len(index))
    thread.join()
    assert state.count > 10
    assert len(index) == 30_000
    assert len(partly) > 2, "the index could be asked meanwhile"
