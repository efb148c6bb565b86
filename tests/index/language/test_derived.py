"""`ignoring case` and `bucket(…)`: values that are computed from an attribute."""

import pickle
import sys

import pytest

from index import Attribute, Index, Schema, _native, parse
from index.language import TreeError, from_json, normalize, to_json
from index.language.derived import BUCKETS, Bucket
from index.language.folding import fold
from index.language.types import Type
from index.rows import RowError

SCHEMA = Schema(
    [
        Attribute("country", "string"),
        Attribute("user.id", "string"),
        Attribute("n", "int"),
        Attribute("tags", "string list"),
    ]
)


def test_every_character_folds_to_the_same_one_in_both_languages() -> None:
    characters = [*map(chr, range(0xD800)), *map(chr, range(0xE000, sys.maxunicode + 1))]
    text = "".join(characters)
    assert _native.fold(text) == fold(text) == "".join(map(fold, characters))


def test_simple_folding_is_one_character_for_one() -> None:
    assert fold("STRASSE, Straße, ẞ, ΣΑΣς, Ǆ, İ") == "strasse, straße, ß, σασσ, ǆ, İ"


@pytest.mark.parametrize(
    ("salt", "value", "bucket"),
    [("spring", "user-1", 2625), ("holdout", "user-1", 1313), ("", 42, 8124), ("été", -7, 7245)],
)
def test_buckets_are_those_of_the_documentation(salt: str, value: object, bucket: int) -> None:
    kind = Type.INT if isinstance(value, int) else Type.STRING
    assert Bucket("a", kind, salt).of(value) == bucket
    for engine in ("native", "reference", "scan"):
        index = Index(Schema([Attribute("a", kind)]), engine=engine)
        index.insert_many((n, f"bucket(a, '{salt}') = {bucket + n - 1}") for n in range(3))
        assert index.match({"a": value}) == [1]


def test_buckets_are_about_equally_full() -> None:
    derived = Bucket("a", Type.INT, "spring")
    low = sum(derived.of(number) < BUCKETS / 10 for number in range(20_000))
    assert 1850 < low < 2150


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("country = 'US' ignoring case", "country = 'us' ignoring case"),
        ("country in ('US', 'us') ignoring case", "country = 'us' ignoring case"),
        ("not (tags any of ('A') ignoring case)", "tags none of ('a') ignoring case"),
        ("country >= '' ignoring case", "country is not null"),
        ("country = 'a' ignoring case and country = 'b' ignoring case", "false"),
        ("country = 'a' ignoring case and country is null", "false"),
        ("bucket(user.id, 's') >= 0", "user.id is not null"),
        ("bucket(user.id, 's') < 0", "false"),
        ("bucket(user.id, 's') = 10000", "false"),
        ("bucket(user.id, 's') != 10000", "user.id is not null"),
        ("not (bucket(user.id, 's') <= 99)", "bucket(user.id, 's') >= 100"),
        ("bucket(user.id, 's') is null", "user.id is null"),
        ("bucket(n, 's') < 10 and bucket(n, 's') > 20", "false"),
        ("bucket(n, 's') < 10 and bucket(n, 't') > 20",
         "bucket(n, 's') <= 9 and bucket(n, 't') >= 21"),
    ],
)  # fmt: skip
def test_normal_forms(text: str, normal: str) -> None:
    tree = parse(text, SCHEMA)
    assert normalize(tree).to_text() == normal
    assert from_json(to_json(tree), SCHEMA) == tree == pickle.loads(pickle.dumps(tree))


@pytest.mark.parametrize(
    ("json", "code", "pointer"),
    [
        ('[1,["=",["fold","country"],"US"]]', "value.case", "/1/2"),
        ('[1,["=",["fold","n"],1]]', "type.operator", "/1"),
        ('[1,["=",["fold"],"us"]]', "tree.shape", "/1"),
        ('[1,["=",["upper","country"],"us"]]', "tree.shape", "/1"),
        ('[1,["=",["bucket","n"],1]]', "tree.shape", "/1"),
        ('[1,["=",["bucket","n",3],1]]', "type.mismatch", "/1/1"),
        ('[1,["=",["bucket","tags","s"],1]]', "type.operator", "/1"),
        ('[1,["is null",["fold","country"]]]', "type.operator", "/1"),
        ('[1,["=",["fold","nothing"],"us"]]', "attribute.unknown", "/1/1"),
    ],
)
def test_stored_trees_are_checked_the_same_in_both_languages(
    json: str, code: str, pointer: str
) -> None:
    with pytest.raises(TreeError) as caught:
        from_json(json, SCHEMA)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    with pytest.raises(RowError) as refused:
        Index(SCHEMA, engine="native").insert_json([(1, json.encode())])
    problem = refused.value.problem
    assert isinstance(problem, TreeError)
    assert (problem.code, problem.pointer) == (code, pointer)


def test_explanations_show_the_text_as_sent_and_the_number_of_a_bucket() -> None:
    index = Index(SCHEMA)
    index.insert(1, "country = 'us' ignoring case and bucket(user.id, 'spring') < 100")
    event = {"country": "Fr", "user.id": "user-1"}
    assert [each.why for each in index.obstacles(1, event).obstacles] == [
        "country is 'Fr'",
        "bucket(user.id, 'spring') is 2625",
    ]
    parts = index.explain(1, event).to_dict()["children"]
    assert [(part["attribute"], part["got"]) for part in parts] == [  # type: ignore[attr-defined]
        ("country", "Fr"),
        ("user.id", 2625),
    ]


def test_a_folded_text_is_found_after_it_was_used_before_and_sent_as_null() -> None:
    index = Index(SCHEMA, engine="native")
    index.insert(1, "country = 'us' ignoring case")
    assert index.match(b'{"country":"US","country":null}') == []
    assert index.match(b'{"country":null,"country":"uS"}') == [1]
    index.remove(1)
    assert index.match({"country": "US"}) == []
    index.insert(2, "tags all of ('X', 'y') ignoring case")
    assert index.match({"tags": ["x", "Y", "z"]}) == [2]
    index.check_invariants()
