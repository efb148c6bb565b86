"""Bytes into lines."""

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.imports.ndjson import Line, Lines
from campaigns.errors import FieldProblem


def lines_of(pieces: list[bytes], longest: int = 1000) -> list[Line]:
    lines = Lines(longest)
    found = [line for piece in pieces for line in lines.feed(piece)]
    return found + list(lines.end())


@given(
    values=st.lists(st.dictionaries(st.text(), st.integers(0, 9)) | st.just("")),
    cuts=st.lists(st.integers(0, 200)),
    ended=st.booleans(),
)
def test_it_does_not_matter_where_the_pieces_are_cut(
    values: list[object], cuts: list[int], ended: bool
) -> None:
    text = b"\n".join(orjson.dumps(value) if value else b" " for value in values)
    text += b"\n" if ended else b""
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    expected = [(n, value) for n, value in enumerate(values, 1) if value]
    assert [(line.number, line.value) for line in lines_of(pieces)] == expected


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_that_is_too_long_fails_alone_and_is_never_held(size: int) -> None:
    text = b'{"a":1}\n' + b'"' + b"x" * 5000 + b'"\n{"b":2}\n' + b'"' + b"y" * 10 + b'"'
    lines, found = Lines(20), []
    for start in range(0, len(text), size):
        found += list(lines.feed(text[start : start + size]))
        assert len(lines._rest) <= 20 + size
    found += list(lines.end())
    first, long, second, last = (line.value for line in found)
    assert (first, second, last) == ({"a": 1}, {"b": 2}, "y" * 10)
    assert isinstance(long, FieldProblem)
    assert long.code == "line.long"
    assert [line.number for line in found] == [1, 2, 3, 4]


def test_the_longest_line_may_have_exactly_so_many_bytes() -> None:
    assert [line.value for line in lines_of([b'"12345678"\n'], 10)] == ["12345678"]
    (long,) = lines_of([b'"123456789"\n'], 10)
    assert isinstance(long.value, FieldProblem)
    (unended,) = lines_of([b'"123456789"'], 10)
    assert isinstance(unended.value, FieldProblem)


@pytest.mark.parametrize("text", [b"{", b"nope", b"\xff", b'{"a": NaN}', b"[" * 900, b'{"a":1}}'])
def test_what_is_not_json_is_a_problem(text: bytes) -> None:
    (line,) = lines_of([text])
    assert isinstance(line.value, FieldProblem)
    assert line.value.code == "json.malformed"


def test_crlf_is_fine() -> None:
    assert [line.value for line in lines_of([b'{"a":1}\r\n\r\n{"b":2}\r\n'])] == [
        {"a": 1},
        {"b": 2},
    ]
