"""Trailer fields after a body are not headers, whatever their names."""

import pytest

from tests.security.conftest import Target
from tests.security.wire import Wire


@pytest.mark.parametrize("path", [b"/v1/match", b"/v1/campaigns"])
def test_a_key_after_the_body_opens_nothing(target: Target, path: bytes) -> None:
    head = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" % path
    key = b"Authorization: Bearer " + target.tokens["all"].encode()
    sent = head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + key + b"\r\n\r\n"
    with Wire(target.port) as wire:
        wire.send(sent)
        answer = wire.answer()
    assert answer is not None
    assert answer.status == 401
