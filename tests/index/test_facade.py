"""The Python contract of `Index`, on every engine."""

import pytest

from index import Attribute, EventError, ExpressionError, Index, Schema, SchemaError, parse
from tests.index.conftest import Make
from tests.index.language.test_parser import SCHEMA


def test_the_example_of_the_contract() -> None:
    schema = Schema(
        [
            Attribute("country", "string"),
            Attribute("age", "int"),
            Attribute("segments", "int list"),
        ]
    )
    tree = parse("country in ('US','CA') and age >= 18", schema)
    index = Index(schema)
    index.insert(7, tree)
    index.insert_many([(7, tree), (8, "true")])
    assert index.match({"country": "US", "age": 30}) == [7, 8]
    assert index.top({"country": "US"}, limit=10) == [8]
    assert index.top({"country": "US"}, limit=10, total=True) == ([8], 1)
    assert index.match_many([{"country": "US", "age": 30}, {}]) == [[7, 8], [8]]
    assert index.explain(7, {"country": "FR"}).value is False
    assert index.plan(7)["way"]
    assert index.stats()["expressions"] == len(index) == 2
    assert 7 in index
    assert index.remove(7) is True
    assert index.remove(7) is False
    assert 7 not in index
    index.check_invariants()


def test_insert_replaces(make: Make) -> None:
    index = make()
    index.insert(1, "age = 1", score=1)
    index.insert(1, "age = 2", score=2)
    assert len(index) == 1
    assert index.match({"age": 1}) == []
    assert index.match({"age": 2}) == [1]
    index.check_invariants()


def test_ids_ascend_and_the_best_come_by_score_then_lower_id(make: Make) -> None:
    index = make()
    index.insert_many([(9, "vip", 5), (3, "vip", 7), (4, "vip", 5), (2**63 - 1, "vip", -1)])
    assert index.match({"vip": True}) == [3, 4, 9, 2**63 - 1]
    assert index.top({"vip": True}, limit=3, total=True) == ([3, 4, 9], 4)
    assert index.top({"vip": True}, limit=0, total=True) == ([], 4)
    assert index.top({"vip": False}, total=True) == ([], 0)


def test_windows_are_half_open_and_only_count_at_a_moment(make: Make) -> None:
    index = make()
    index.insert(1, "true", start=10, end=20)
    index.insert(2, "vip", start=15.5)
    index.insert(3, "vip or age = 1", end=15)
    event = {"vip": True}
    assert index.match(event) == [1, 2, 3]
    assert [index.match(event, at=t) for t in (9, 10, 14.999, 15, 15.5, 19.9, 20)] == [
        [3], [1, 3], [1, 3], [1], [1, 2], [1, 2], [2],
    ]  # fmt: skip
    assert index.top(event, limit=5, at=20, total=True) == ([2], 1)
    assert index.match_many([event, {}], at=16) == [[1, 2], [1]]


def test_a_replacement_may_change_only_score_and_window(make: Make) -> None:
    index = make()
    index.insert(1, "vip", score=1)
    index.insert(2, "vip", score=2)
    index.insert(1, "vip", score=3, end=5)
    assert index.top({"vip": True}, limit=1, at=4, total=True) == ([1], 2)
    assert index.match({"vip": True}, at=5) == [2]


def test_unknown_attributes_are_ignored_and_counted(make: Make) -> None:
    index = make()
    index.insert(1, "true")
    assert index.match({"colour": object(), "shape": 1}) == [1]
    assert index.match({"colour": "red"}) == [1]
    assert index.stats()["unknown_attributes"] == {"colour": 2, "shape": 1}
    usage = index.usage()
    memory = usage.pop("memory", None)  # of the process: it may change at any time
    assert memory is None or 0 <= memory["huge_pages"] <= memory["resident"]
    assert usage == {name: index.stats()[name] for name in usage}


def test_unknown_attributes_are_counted_by_name_up_to_a_cap(make: Make) -> None:
    index = make()
    for i in range(1100):
        index.match({f"x{i}": 1})
    counted = index.stats()["unknown_attributes"]
    assert isinstance(counted, dict)
    assert len(counted) == 1001
    assert counted[""] == 100


def test_a_failed_insert_leaves_everything_as_it_was(make: Make) -> None:
    index = make()
    index.insert(1, "age = 1", score=4)
    with pytest.raises(ExpressionError):
        index.insert(1, "age = 'x'")
    with pytest.raises(ValueError, match="window is empty"):
        index.insert(1, "age = 2", start=5, end=5)
    with pytest.raises(ExpressionError):
        index.insert_many([(2, "vip"), (3, "nonsense")])
    assert index.match({"age": 1, "vip": True}) == [1]
    assert list(index) == [1]


@pytest.mark.parametrize("id", [-1, 2**63, 1.0, "1", None, True])
def test_what_is_no_id_is_refused(make: Make, id: object) -> None:
    with pytest.raises(ValueError, match="an id is an integer from 0"):
        make().insert(id, "true")  # type: ignore[arg-type]
    assert id not in make()


@pytest.mark.parametrize("score", [2**63, -(2**63) - 1, 0.5, None, True])
def test_what_is_no_score_is_refused(make: Make, score: object) -> None:
    with pytest.raises(ValueError, match="a score is a 64-bit integer"):
        make().insert(1, "true", score=score)  # type: ignore[arg-type]


@pytest.mark.parametrize("moment", [float("nan"), float("inf"), "now", True, 10**400, 2**53 + 1])
def test_what_is_no_moment_is_refused(make: Make, moment: object) -> None:
    with pytest.raises(ValueError, match="epoch seconds"):
        make().insert(1, "true", start=moment)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="epoch seconds"):
        make().match({}, at=moment)  # type: ignore[arg-type]


def test_bad_arguments_say_what_they_should_be(make: Make) -> None:
    index = make()
    with pytest.raises(TypeError, match="a tree or its text"):
        index.insert(1, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the limit must not be negative"):
        index.top({}, limit=-1)
    with pytest.raises(KeyError, match="no expression 5"):
        index.explain(5, {})
    with pytest.raises(KeyError, match="no expression 5"):
        index.plan(5)
    with pytest.raises(EventError, match="age: expected an int, got a string"):
        index.match({"age": "x"})
    with pytest.raises(ValueError, match="the engine is one of auto, "):
        Index(SCHEMA, engine="magic")


def test_attributes_can_be_added_to_a_live_index(make: Make) -> None:
    index = make()
    index.insert(1, "age = 1")
    assert index.match({"age": 1, "late": 2}) == [1]
    index.add_attribute(Attribute("late", "int"))
    assert index.schema["late"] == Attribute("late", "int")
    assert "late" not in SCHEMA, "a schema never changes"
    index.insert(2, "late = 2 and age = 1")
    index.insert_json([(3, '[1,["is null","late"]]')])
    assert index.match({"age": 1, "late": 2}) == [1, 2]
    assert index.match({"age": 1}) == [1, 3]
    assert index.explain(2, {"late": 3}).value is False
    with pytest.raises(EventError, match="late: expected an int, got a string"):
        index.match({"late": "x"})
    assert index.stats()["attributes"] == len(SCHEMA) + 1
    index.check_invariants()


def test_an_attribute_is_declared_once_with_one_type(make: Make) -> None:
    index = make()
    index.add_attribute(Attribute("age", "int"))
    assert index.schema is SCHEMA
    with pytest.raises(SchemaError, match="age is declared as int, not float") as error:
        index.add_attribute(Attribute("age", "float"))
    assert error.value.code == "attribute.repeated"
    index.insert(1, "age = 1")
    assert index.match({"age": 1}) == [1]


def test_a_tree_of_another_schema_is_refused(make: Make) -> None:
    other = Schema([Attribute("age", "float")])
    with pytest.raises(ValueError, match="it has age as float, here it is int"):
        make().insert(1, parse("age = 1", other))
    with pytest.raises(ValueError, match="it has x as int, here it is not declared"):
        make().insert(1, parse("x = 1", Schema([Attribute("x", "int")])))


def test_explain_shows_every_node_as_written(make: Make) -> None:
    index = make()
    index.insert(1, "country in ('US') and not (age < 18 or vip) and (vip xor age = 5)")
    explanation = index.explain(1, {"country": "US", "age": 5})
    assert str(explanation) == (
        "false   and\n"
        "true      country in ('US')\n"
        "false     not\n"
        "true        or\n"
        "true          age < 18\n"
        "unknown       vip\n"
        "unknown   xor\n"
        "unknown     vip\n"
        "true        age = 5"
    )
    assert explanation.to_dict()["children"][0] == {  # type: ignore[index]
        "kind": "predicate",
        "text": "country in ('US')",
        "value": "true",
        "attribute": "country",
        "got": "US",
    }


def test_stats_say_which_engine_answers() -> None:
    assert Index(SCHEMA, engine="scan").stats()["engine"] == "scan"
    assert Index(SCHEMA, engine="reference").stats()["engine"] == "reference"


def test_postings_touched_are_what_an_event_makes_the_native_engine_look_at() -> None:
    index = Index(SCHEMA, engine="native")
    index.insert_many((id, f"country = 'US' and age = {id}") for id in range(10))
    touched = index.postings_touched([b'{"country": "US", "age": 3}', b"{}"])
    assert touched[0] >= 1
    assert touched[1] == 0
    with pytest.raises(RuntimeError):
        Index(SCHEMA, engine="scan").postings_touched([b"{}"])


@pytest.mark.parametrize("engine", ["native", "reference", "scan"])
def test_multiples_are_the_ids_that_a_number_divides(engine: str) -> None:
    index = Index(Schema([Attribute("n", "int")]), engine=engine)
    for id in (0, 12, 3, 7, 9, 2**40):
        index.insert(id, "n > 1")
    assert index.multiples(1) == [0, 3, 7, 9, 12, 2**40]
    assert index.multiples(3) == [0, 3, 9, 12]
    assert index.multiples(4) == [0, 12, 2**40]
