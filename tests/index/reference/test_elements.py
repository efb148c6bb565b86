"""Elements keep the order of values, for every type."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.language.types import INT_MAX, INT_MIN, Type
from index.reference.elements import (
    BYTE,
    DOUBLE,
    INT64,
    elements_of,
    float_elements,
    int_elements,
    string_elements,
)

ints = st.integers(INT_MIN, INT_MAX)
floats = st.floats(allow_nan=False, allow_infinity=False)
strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@pytest.mark.parametrize(
    ("value", "elements"),
    [(-5, (0, 7, 11)), (-1, (0, 7, 15)), (1, (1, 0, 1)), (-128, (0, 0, 0)), (127, (1, 7, 15))],
)
def test_a_byte_is_a_sign_three_bits_and_four(value: int, elements: tuple[int, ...]) -> None:
    assert int_elements(value, BYTE) == elements


def test_all_bytes_are_in_order() -> None:
    elements = [int_elements(value, BYTE) for value in range(-128, 128)]
    assert elements == sorted(set(elements))


@pytest.mark.parametrize(("value", "widths"), [(128, BYTE), (-129, BYTE), (2**63, INT64)])
def test_an_integer_too_wide_is_refused(value: int, widths: tuple[int, ...]) -> None:
    with pytest.raises(OverflowError):
        int_elements(value, widths)


def test_an_int_has_nine_elements_as_in_the_thesis() -> None:
    assert len(int_elements(0)) == 9
    assert sum(INT64) == sum(DOUBLE) == 64


def test_doubles_are_in_order_from_end_to_end() -> None:
    tiny, huge = 5e-324, sys.float_info.max
    values = [-huge, -1.5, -1.0, -tiny, 0.0, tiny, 1.0, 1.5, huge]
    elements = list(map(float_elements, values))
    assert elements == sorted(set(elements))
    assert float_elements(-0.0) == float_elements(0.0)


def test_a_prefix_comes_before_what_it_begins() -> None:
    values = ["", "a", "a\x01", "ab", "abc", "b", "\ud7ff", "\ue000", "\uffff", "\U00010000"]
    elements = list(map(string_elements, values))
    assert elements == sorted(set(elements))


def test_bools_and_the_elements_of_lists() -> None:
    assert [elements_of(Type.BOOL)(value) for value in (False, True)] == [(0,), (1,)]
    assert elements_of(Type.INT_LIST) is elements_of(Type.INT)
    assert elements_of(Type.STRING_LIST) is elements_of(Type.STRING)


@given(ints, ints)
def test_elements_keep_the_order_of_ints(a: int, b: int) -> None:
    assert (a < b) == (int_elements(a) < int_elements(b))


@given(floats, floats)
def test_elements_keep_the_order_of_doubles(a: float, b: float) -> None:
    assert (a < b) == (float_elements(a) < float_elements(b))
    assert (a == b) == (float_elements(a) == float_elements(b))


@given(strings, strings)
def test_elements_keep_the_order_of_strings(a: str, b: str) -> None:
    assert (a < b) == (string_elements(a) < string_elements(b))
