"""The name that was meant: found among any number of names, in bounded time."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index import Attribute, ExpressionError, Schema, parse
from index.language.nearest import MAX_LENGTH, nearest

NAMES = ["country", "region", "device.type", "device.model", "age", "site.domain", "segments"]
MANY = [f"customer_attribute_with_a_long_name.n{number:05}.in_a_group" for number in range(10_000)]
MOST_SECONDS = 0.1
"""`difflib` alone takes more than a second of CPU for each of these."""


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("contry", "country"),
        ("cuontry", "country"),
        ("Country", "country"),
        ("ag", "age"),
        ("device_type", "device.type"),
        ("sitedomain", "site.domain"),
        ("segment", "segments"),
        ("zebra", None),
        ("", None),
        ("x" * (MAX_LENGTH + 1), None),
    ],
)
def test_what_was_meant(misspelt: str, meant: str | None) -> None:
    assert nearest(misspelt, NAMES) == meant


@given(st.sampled_from(NAMES[:4]), st.integers(0, 10))
def test_one_letter_too_few_still_finds_the_name(name: str, place: int) -> None:
    place %= len(name)
    assert nearest(name[:place] + name[place + 1 :], NAMES) == name


def cpu_of_the_error(text: str, schema: Schema) -> tuple[float, ExpressionError]:
    started = thread_time()
    with pytest.raises(ExpressionError) as caught:
        parse(text, schema)
    return thread_time() - started, caught.value


def test_ten_thousand_similar_names_take_a_moment() -> None:
    schema = Schema(Attribute(name, "int") for name in MANY)
    cpu_of_the_error("x = 1", schema)  # the first one prepares the names
    seconds, error = cpu_of_the_error(f"{MANY[4321].replace('cust', 'cst')} = 1", schema)
    assert error.hint == f"did you mean {MANY[4321]}?"
    assert seconds < MOST_SECONDS


def test_a_name_as_long_as_the_text_takes_a_moment_and_is_not_repeated() -> None:
    schema = Schema(Attribute("a" * length, "int") for length in range(1, 129))
    for text in ("a" * 60_000, "a" * 63 + "b"):
        seconds, error = cpu_of_the_error(text, schema)
        assert seconds < MOST_SECONDS
        assert len(error.message) < 200
