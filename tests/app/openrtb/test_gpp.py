"""GPP strings that the IAB's own encoder wrote (npm's @iabgpp/cmpapi 3.2.0), and broken ones."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.openrtb import gpp
from app.openrtb.gpp import OPTED_OUT, SENSITIVE, UNKNOWN, applicable, reasons, sections

STRINGS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("gpp_strings.json").read_text()
)
"""By section, and by the one answer that is given in it."""


def expected(answer: str) -> set[str]:
    if answer == "plain" or answer.endswith("=2"):
        return set()
    if answer.startswith("sensitive"):
        return {SENSITIVE}
    return {UNKNOWN} if answer.startswith("known_child") else {OPTED_OUT}


@pytest.mark.parametrize("section", STRINGS)
def test_each_answer_of_each_section(section: str) -> None:
    id = int(section)
    for answer, text in STRINGS[section].items():
        found = sections(text)
        assert found is not None
        assert list(found) == [id]
        assert reasons(found, [id]) == expected(answer), (section, answer)


def test_every_known_section_has_strings() -> None:
    assert {int(section) for section in STRINGS} == gpp.LAYOUTS.keys()


def test_the_first_version_of_the_national_section() -> None:
    opted_out, fine = "BAAQAAAAAAA", "BAAgAAAAAAA"
    assert reasons({7: opted_out}, [7]) == {OPTED_OUT}
    assert reasons({7: fine}, [7]) == set()
    assert reasons({7: fine + ".YA"}, [7]) == {OPTED_OUT}


def test_headers() -> None:
    assert sections("DBACNY~a~1YNN") == {2: "a", 6: "1YNN"}
    assert sections("DBABjw~a~b") == {5: "a", 6: "b"}
    assert sections("DBAA") == {}
    assert sections("DBABzYAA~1YNN") == {6: "1YNN", 7: "", 8: ""}


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "~",
        "C~x",
        "DBAB",
        "DBAA~x",
        "DCABMA~x",
        "D!",
        "x" * 20_000,
        "DBP_" + "f" * 40,
        "é",
    ],
)
def test_what_is_not_a_string_of_gpp(text: object) -> None:
    assert sections(text) is None


@pytest.mark.parametrize(
    ("id", "text"),
    [
        (7, None),
        (7, ""),
        (7, "BAA"),
        (7, "DAAQAAAAAAA"),
        (7, "BAAgAAAAAAA.!"),
        (7, "BAAgAAAAAAA.gA"),
        (5, "BPXuQIAPXuQIAAfKABENB-CgAAAAAAAAAAAAAAAA"),
        (6, "YYY"),
        (25, "BQAA.AAA"),
        (99, "BAAAAAAAAA"),
    ],
)
def test_a_section_that_is_not_understood_withholds(id: int, text: str | None) -> None:
    assert reasons({} if text is None else {id: text}, [id]) == {UNKNOWN}


def test_which_sections_apply() -> None:
    assert applicable(None) is None
    assert applicable([2, "6", 7.0]) == (2, 6, gpp.MOST_SECTIONS)
    assert applicable("2") == (2,)
    assert applicable(2) == (2,)
    assert applicable([-1, 0]) == ()


@given(st.text(alphabet="ABCDw~._-1Y", max_size=30), st.integers(0, 30))
def test_anything_is_read_or_withholds(text: str, id: int) -> None:
    found = sections(text)
    assert found is None or reasons(found, [id]) <= {OPTED_OUT, SENSITIVE, UNKNOWN}
    assert reasons({id: text}, [id]) <= {OPTED_OUT, SENSITIVE, UNKNOWN}
