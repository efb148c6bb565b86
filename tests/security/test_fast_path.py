"""The fast path of a match bypasses no limit, and request timeouts do not break it."""

import time

from campaigns.keys import service as keys
from tests.app.answers import eventually
from tests.app.conftest import on_store
from tests.security.bodies import GOOD
from tests.security.conftest import Target
from tests.security.fuzz_http import REQUEST_SECONDS
from tests.security.requests import request
from tests.security.wire import Wire

TO_BE_KNOWN = 5


def ask(wire: Wire, token: str) -> int:
    wire.send(request("/v1/match", token, GOOD["/v1/match"]))
    answer = wire.answer()
    assert answer is not None
    return answer.status


def test_a_connection_that_is_used_stays_open(target: Target) -> None:
    token = target.tokens["match"]
    with Wire(target.port) as wire:
        assert {ask(wire, token) for _ in range(TO_BE_KNOWN)} == {200}
    with Wire(target.port) as wire:
        until = time.monotonic() + 1.5 * REQUEST_SECONDS
        while time.monotonic() < until:
            assert ask(wire, token) == 200
            time.sleep(REQUEST_SECONDS / 4)


def test_a_rate_limit_counts_on_the_fast_path(target: Target) -> None:
    fields = {"name": "slow", "scopes": ["match"], "rate": 1}
    token = on_store(target.url, lambda store: keys.create(store, "test", fields)).token
    with Wire(target.port) as wire:
        eventually(lambda: ask(wire, token) != 401)
        statuses = [ask(wire, token) for _ in range(30)]
    assert 429 in statuses
    assert statuses.count(200) < 15
