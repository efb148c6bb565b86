"""`matches` and `like`: one syntax and one result in every engine."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Attribute, Index, Schema, parse
from index.language import ExpressionError, TreeError, from_json, to_json
from index.language.folding import fold
from index.language.pattern import pattern_of
from index.language.pattern_syntax import wildcards, written_wildcards
from index.rows import RowError
from tests.index.strategies import REGULAR, WILDCARDS

SCHEMA = Schema([Attribute("s", "string")])
TEXTS = st.text(st.sampled_from("abcAé_1 É\n*\\?\ue000\U0010ffff"), max_size=8)


@given(REGULAR, TEXTS)
def test_matches_is_what_a_backtracking_engine_finds(pattern: str, text: str) -> None:
    oracle = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    assert pattern_of(pattern, "matches", False).finds(text) == bool(oracle.search(text))


@given(REGULAR, TEXTS)
def test_ignoring_case_is_the_same_for_all_variants(pattern: str, text: str) -> None:
    found = pattern_of(pattern, "matches", True).finds(fold(text))
    assert found == pattern_of(pattern, "matches", True).finds(fold(text.swapcase()))
    if not re.search(r"\[\^|\\[A-Z]", pattern):  # what is not excluded can only be more
        assert found or not pattern_of(pattern, "matches", False).finds(text)


@given(WILDCARDS, TEXTS)
def test_like_is_what_its_pieces_say(pattern: str, text: str) -> None:
    pieces = wildcards(pattern)
    parts = [".*" if piece is None else re.escape(piece) or "." for piece in pieces]
    oracle = re.compile("".join(parts), re.DOTALL)
    assert pattern_of(pattern, "like", False).finds(text) == bool(oracle.fullmatch(text))
    assert wildcards(written_wildcards(pieces)) == pieces


WRITTEN = REGULAR.map(lambda text: f"s matches '{text}'") | WILDCARDS.map(
    lambda text: f"s like '{text}'"
)


@given(st.lists(WRITTEN, min_size=1, max_size=6), st.lists(TEXTS, max_size=4))
def test_every_engine_finds_the_same(written: list[str], texts: list[str]) -> None:
    expressions = [text + case for text in written for case in ("", " ignoring case")]
    engines = [Index(SCHEMA, engine=name) for name in ("scan", "reference", "native")]
    for index in engines:
        index.insert_many(enumerate(expressions))
    for text in texts:
        scan, reference, native = (index.match({"s": text}) for index in engines)
        assert scan == reference == native


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        *((bad, "pattern.syntax") for bad in ("(", "a)", "a**", "+a", "[b-a]", "[a", "[]", "a{2")),
        *((bad, "pattern.syntax") for bad in (r"(a)\1", "(?=a)", "(?i)a", "(?P<n>a)", r"\p{L}")),
        *(
            (bad, "pattern.syntax")
            for bad in ("[[:alpha:]]", "^*", r"\b+", r"[\d-z]", "]", "a{3,2}")
        ),
        *((bad, "pattern.large") for bad in ("(a{900}){9}", "(" * 51 + "a" + ")" * 51)),
        ("", "pattern.empty"),
    ],
)
def test_what_is_no_pattern_is_refused_by_both_languages(pattern: str, code: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(f"s matches '{pattern}'", SCHEMA)
    assert caught.value.code == code
    stored = to_json(parse("s matches 'x'", SCHEMA)).replace('"x"', _json(pattern))
    _refused(stored, code)


def test_a_flag_has_the_words_to_write_instead() -> None:
    for pattern, hint in (
        ("(?i)a", "write ignoring case behind the pattern"),
        ("(?P<n>a)", "write (…) or (?:…)"),
    ):
        with pytest.raises(ExpressionError) as caught:
            parse(f"s matches '{pattern}'", SCHEMA)
        assert caught.value.hint == hint
        assert caught.value.message.startswith("at character 2 ")


@pytest.mark.parametrize("pattern", ["a", "a*", "*a", "*a*", "*", "", "a**b", "a*?b"])
def test_a_stored_like_is_one_that_no_other_operator_says(pattern: str) -> None:
    _refused(f'[1,["like","s",{_json(pattern)}]]', "pattern.plain")


@pytest.mark.parametrize(
    ("text", "simpler"),
    [
        ("s like 'a*'", "s starts with 'a'"),
        (r"s like '*\*b'", "s ends with '*b'"),
        ("s like '**É**' ignoring case", "s contains 'é' ignoring case"),
        (r"s like 'a\\'", r"s = 'a\'"),
        ("s like 'a*?*b'", "s like 'a?*b'"),
    ],
)
def test_like_becomes_the_operator_that_says_the_same(text: str, simpler: str) -> None:
    assert str(parse(text, SCHEMA)) == simpler


def test_a_pattern_takes_time_in_proportion_to_the_text() -> None:
    text = "a" * 3000
    assert not pattern_of("(a*)*(a|b)*c", "matches", False).finds(text)
    index = Index(SCHEMA, engine="native")
    index.insert(1, "s matches '(x+x+)+y|(a*)*c'")
    assert index.match({"s": text * 10}) == []


def test_ten_thousand_patterns_are_found_by_what_they_require() -> None:
    index = Index(SCHEMA, engine="native")
    index.insert_many((n, f"s matches '/section-{n:05}/[a-z]+[.]html'") for n in range(10_000))
    assert index.match({"s": "https://news.example/section-04711/sport.html"}) == [4711]
    read = float(str(index.stats()["postings_read"]))
    assert read < 20, "the grams of the numbers lead to few others"
    index.check_invariants()


def _json(pattern: str) -> str:
    return '"' + pattern.replace("\\", "\\\\") + '"'


def _refused(stored: str, code: str) -> None:
    with pytest.raises(TreeError) as caught:
        from_json(stored, SCHEMA)
    assert (caught.value.code, caught.value.pointer) == (code, "/1/2")
    with pytest.raises(RowError) as refused:
        Index(SCHEMA, engine="native").insert_json([(1, stored.encode())])
    problem = refused.value.problem
    assert isinstance(problem, TreeError)
    assert (problem.code, problem.pointer) == (code, "/1/2")
