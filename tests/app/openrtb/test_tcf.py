"""Consent strings, put together bit by bit."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.openrtb.tcf import LONGEST, decode


def bits(number: int, width: int) -> str:
    return f"{number:0{width}b}"


def numbers(chosen: set[int], width: int) -> str:
    return "".join("1" if place + 1 in chosen else "0" for place in range(width))


def core(
    purposes: set[int],
    interests: set[int] = frozenset(),  # type: ignore[assignment]
    special: set[int] = frozenset(),  # type: ignore[assignment]
    version: int = 2,
) -> str:
    """The fields of the core segment in the order of the specification."""
    whole = (
        bits(version, 6)
        + bits(15_900_000_000, 36)  # created, in tenths of a second
        + bits(15_900_000_015, 36)  # updated
        + bits(31, 12)  # CMP
        + bits(640, 12)  # its version
        + bits(1, 6)  # screen
        + bits(4, 6)  # language: E
        + bits(13, 6)  # N
        + bits(126, 12)  # vendor list
        + bits(4, 6)  # policy
        + "1"  # specific to the service
        + "0"  # standard texts
        + numbers(special, 12)
        + numbers(purposes, 24)
        + numbers(interests, 24)
        + "0"  # purpose one
        + bits(3, 6)  # publisher's country: D
        + bits(4, 6)  # E
    )
    assert len(whole) == 213
    whole += bits(2, 16) + "0" + "11"  # two vendors
    whole += "0" * (-len(whole) % 24)
    return base64.urlsafe_b64encode(int(whole, 2).to_bytes(len(whole) // 8, "big")).decode()


def test_every_field_is_where_the_specification_has_it() -> None:
    consent = decode(core({1, 3, 24}, {2, 7}, {1, 12}))
    assert consent is not None
    assert consent.created == 1_590_000_000.0
    assert consent.updated == 1_590_000_001.5
    assert (consent.cmp, consent.policy) == (31, 4)
    assert consent.purposes == {1, 3, 24}
    assert consent.legitimate_interests == {2, 7}
    assert consent.special_features == {1, 12}


def test_a_string_from_the_specification() -> None:
    consent = decode(
        "COvFyGBOvFyGBAbAAAENAPCAAOAAAAAAAAAAAEEUACCKAAA.IFoEUQQgAIQwgIwQABAEAAAAOIAACAIAAAAQAIAgEAACEAAAAAgAQBAAAAAAAGBAAgAAAAAAAFAAECAAAgAAQARAEQAAAAAJAAIAAgAAAYQEAAAQmAgBC3ZAYzUw"
    )
    assert consent is not None
    assert consent.cmp == 27
    assert consent.purposes == {1, 2, 3}
    assert consent.legitimate_interests == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        [],
        "",
        "C",
        "not a string of consent at all, but long enough to be one",
        core({1, 2, 3, 4})[:35],
        core({1, 2, 3, 4}, version=1),
        core({1, 2, 3, 4}, version=3),
        "." + core({1, 2, 3, 4}),
        " " + core({1, 2, 3, 4}),
        core({1, 2, 3, 4})[:20] + "+" + core({1, 2, 3, 4})[21:],
        core({1, 2, 3, 4}) + "=",
        core({1, 2, 3, 4}) + "é",
        core({1, 2, 3, 4}) + "A" * LONGEST,
        "BOEFEAyOEFEAyAHABDENAI4AAAB9vABAASA",  # version 1
    ],
)
def test_what_is_no_string_of_version_2_is_none(text: object) -> None:
    assert decode(text) is None


def test_segments_behind_the_core_and_odd_lengths_are_fine() -> None:
    whole = core({1})
    expected = decode(whole)
    assert expected is not None
    for more in (".YAAAAAAAAAAA", ".", ".!!!"):
        assert decode(whole + more) == expected
    assert decode(whole[:36]) == decode(whole[:37]) == expected


@given(st.sets(st.integers(1, 24)), st.sets(st.integers(1, 24)), st.sets(st.integers(1, 12)))
def test_whatever_was_chosen_is_read(
    purposes: set[int], interests: set[int], special: set[int]
) -> None:
    consent = decode(core(purposes, interests, special))
    assert consent is not None
    assert consent.purposes == purposes
    assert consent.legitimate_interests == interests
    assert consent.special_features == special


@given(st.one_of(st.text(), st.text("ABCabc019_-.", max_size=80), st.binary(), st.none()))
def test_nothing_makes_it_fail(text: object) -> None:
    decode(text)
