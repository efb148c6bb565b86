"""Samples: packed the same each time, unpacked with care."""

import gzip

import pytest

from campaigns.errors import InvalidFields
from campaigns.statistics.sample import Sampled, pack, unpack
from tests.campaigns.statistics.traffic import request

ROWS = [request(country="é", weight=2.5), request(day="2026-11-17", device_type="tv")]


def test_what_is_packed_comes_back() -> None:
    builtins = {"now.hour": 7, "now.weekday": 1}
    assert unpack(pack(ROWS)) == [
        Sampled('{"country":"é"}'.encode(), builtins, 2.5, "2026-11-16"),
        Sampled(b'{"device.type":"tv"}', builtins, 1.0, "2026-11-17"),
    ]
    assert unpack(pack([])) == []


def test_the_same_rows_are_the_same_bytes() -> None:
    turned = [dict(reversed(row.items())) for row in ROWS]
    assert pack(ROWS) == pack(turned)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain",
        pack(ROWS)[:-9],
        gzip.compress(b"{\n", mtime=0),
        gzip.compress(b"[]\n", mtime=0),
        gzip.compress(b'{"attributes":{},"builtins":{},"weight":0,"day":"d"}\n', mtime=0),
        gzip.compress(b'{"attributes":{},"builtins":{},"weight":1}\n', mtime=0),
    ],
)
def test_what_is_no_sample_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidFields, match="not a sample"):
        unpack(content)
