"""The JSON form: round trips, and the rejection of anything that is not a tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Index
from index.language import Limits, TreeError, from_json, normalize, parse, to_json
from tests.index.language.test_parser import SCHEMA
from tests.index.strategies import schemas, trees


@given(st.data())
def test_writing_and_reading_gives_the_tree_back(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    tree = data.draw(trees(schema))
    assert from_json(to_json(tree), schema) == tree
    assert from_json(to_json(tree).encode(), schema) == tree


def test_it_is_compact_and_versioned() -> None:
    tree = parse("country in ('US') and not (age > 5 xnor vip xor true)", SCHEMA)
    assert to_json(tree) == (
        '[1,["and",["in","country","US"],["not",["xor","nx",[">","age",5],["holds","vip"],true]]]]'
    )


def test_not_between_and_the_negation_of_between_are_two_trees_with_one_meaning() -> None:
    older = '[1,["not",["between","age",18,34]]]'
    newer = '[1,["not between","age",18,34]]'
    assert to_json(parse("age not between 18 and 34", SCHEMA)) == newer
    assert str(from_json(older, SCHEMA)) == "not (age between 18 and 34)"
    forms = [normalize(from_json(text, SCHEMA)).to_json() for text in (older, newer)]
    assert forms == ['[1,[["not",["between","age",18,34]]]]'] * 2, "fingerprints stay as they were"


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        ("", "tree.json", ""),
        ("[1,", "tree.json", ""),
        ("[" * 100_000, "tree.json", ""),
        ("{}", "tree.shape", ""),
        ("[1]", "tree.shape", ""),
        ("[2,true]", "tree.version", "/0"),
        ("[true,true]", "tree.version", "/0"),
        ("[1,null]", "tree.shape", "/1"),
        ("[1,1]", "tree.shape", "/1"),
        ("[1,[]]", "tree.shape", "/1"),
        ('[1,["nand",true,true]]', "tree.shape", "/1/0"),
        ('[1,["and",true]]', "tree.shape", "/1"),
        ('[1,["not",true,true]]', "tree.shape", "/1"),
        ('[1,["xor","x",true]]', "tree.shape", "/1"),
        ('[1,["xor","y",true,true]]', "tree.shape", "/1"),
        ('[1,["xor",[],true,true]]', "tree.shape", "/1"),
        ('[1,["or",true,["=","aeg",1]]]', "attribute.unknown", "/1/2/1"),
        ('[1,["=","age"]]', "tree.shape", "/1"),
        ('[1,["=","age",1,2]]', "tree.shape", "/1"),
        ('[1,["between","age",1]]', "tree.shape", "/1"),
        ('[1,["is null","age",1]]', "tree.shape", "/1"),
        ('[1,["="]]', "tree.shape", "/1"),
        ('[1,["=","age",1.0]]', "type.mismatch", "/1/2"),
        ('[1,["=","age",true]]', "type.mismatch", "/1/2"),
        ('[1,["=","age",null]]', "type.mismatch", "/1/2"),
        ('[1,["=","age",9223372036854775808]]', "value.int_range", "/1/2"),
        ('[1,["=","price",9007199254740993]]', "value.inexact", "/1/2"),
        ('[1,["=","price",NaN]]', "value.not_finite", "/1/2"),
        ('[1,["=","price",1e999]]', "value.not_finite", "/1/2"),
        ('[1,["=","country","\\u0000"]]', "value.nul", "/1/2"),
        ('[1,["=","country","\\ud800"]]', "value.surrogate", "/1/2"),
        ('[1,["in","age"]]', "set.empty", "/1"),
        ('[1,["in","age",1,"2"]]', "type.mismatch", "/1/3"),
        ('[1,["between","age",2,1]]', "range.reversed", "/1"),
        ('[1,["not between","age",2,1]]', "range.reversed", "/1"),
        ('[1,["not between","age",1]]', "tree.shape", "/1"),
        ('[1,["contains","country",""]]', "pattern.empty", "/1/2"),
        ('[1,["any of","age",1]]', "type.operator", "/1"),
        ('[1,["in","age",1,2,3,4]]', "limit.set_values", "/1"),
        ('[1,["or",["holds","vip"],["holds","vip"],["holds","vip"]]]', "limit.predicates", "/1/3"),
        ("[1," + '["not",' * 10 + "true" + "]" * 10 + "]", "limit.depth", "/1" + "/1" * 10),
    ],
)
def test_what_is_not_a_tree_is_refused_with_its_place(text: str, code: str, pointer: str) -> None:
    limits = Limits(predicates=2, depth=2, set_values=3)
    core = Index(SCHEMA, engine="native", limits=limits)._native().core
    with pytest.raises(TreeError) as caught:
        from_json(text, SCHEMA, limits)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    with pytest.raises(TreeError) as caught:
        core.normal_form(text.encode())
    assert (caught.value.code, caught.value.pointer) == (code, pointer)
