"""Limits of keys: requests a second and bytes in a body, of a key's own or by the settings."""

import time
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.errors.http_errors import RateExceeded
from app.main import create_service
from app.middleware.rate_limit import RateLimiter
from app.settings import Settings
from campaigns.feed.view import KeyLimits, ServedKey
from campaigns.keys import service as keys
from campaigns.keys.model import MAX_BODY_BYTES
from tests.app.answers import codes, eventually, problem
from tests.app.conftest import POLL_SECONDS, bearer, on_store

MATCH = {"attributes": {"country": "US"}}


def key_with(rate: int | None = None, max_body: int | None = None, id: int = 1) -> ServedKey:
    return ServedKey(id, "ab12", "", frozenset({"match"}), None, KeyLimits.of(rate, max_body))


def admitted(rate_limiter: RateLimiter, key: ServedKey, now: float, times: int) -> int:
    """How many of so many requests at one moment are let in."""
    count = 0
    for _ in range(times):
        try:
            rate_limiter.admit(key, now)
        except RateExceeded:
            continue
        count += 1
    return count


def test_a_second_brings_as_many_as_the_rate_and_no_more_are_kept() -> None:
    rate_limiter, key = RateLimiter(), key_with(rate=10)
    assert admitted(rate_limiter, key, 100.0, 50) == 10
    assert admitted(rate_limiter, key, 100.05, 50) == 0
    assert admitted(rate_limiter, key, 100.5, 50) == 5
    assert admitted(rate_limiter, key, 999.0, 50) == 10


def test_whoever_is_refused_learns_when_to_come_back() -> None:
    rate_limiter, key = RateLimiter(), key_with(rate=1)
    rate_limiter.admit(key, 100.0)
    with pytest.raises(RateExceeded) as refused:
        rate_limiter.admit(key, 100.0)
    assert refused.value.headers == {"Retry-After": "1"}
    rate_limiter.admit(key, 101.0)


def test_a_batch_is_owed_and_the_next_ones_wait_for_it() -> None:
    rate_limiter, key = RateLimiter(), key_with(rate=10)
    rate_limiter.admit(key, 100.0)
    rate_limiter.charge(key, 29)
    with pytest.raises(RateExceeded) as refused:
        rate_limiter.admit(key, 100.0)
    assert refused.value.retry_after == 3
    assert admitted(rate_limiter, key, 102.0, 50) == 0
    assert admitted(rate_limiter, key, 102.5, 50) == 5


def test_a_moment_before_the_last_one_brings_nothing() -> None:
    rate_limiter, key = RateLimiter(), key_with(rate=10)
    assert admitted(rate_limiter, key, 100.0, 50) == 10
    assert admitted(rate_limiter, key, 50.0, 50) == 0
    assert admitted(rate_limiter, key, 100.125, 50) == 1


def test_keys_do_not_share() -> None:
    rate_limiter = RateLimiter(rate=3)
    assert [admitted(rate_limiter, key_with(id=id), 100.0, 9) for id in (1, 2)] == [3, 3]


@pytest.mark.parametrize(
    ("own", "default", "rate", "max_body"),
    [
        ((None, None), (None, None), 9, MAX_BODY_BYTES),
        ((None, None), (2, 100), 2, 100),
        ((4, None), (2, 100), 4, 100),
        ((None, 200), (2, 100), 2, 200),
        ((4, 200), (None, None), 4, 200),
    ],
)
def test_the_limit_of_a_key_goes_before_that_of_the_settings(
    own: tuple[int | None, int | None],
    default: tuple[int | None, int | None],
    rate: int,
    max_body: int,
) -> None:
    assert RateLimiter(*default).admit(key_with(*own), 100.0) == max_body
    assert admitted(RateLimiter(*default), key_with(*own), 100.0, 9) == rate


@pytest.fixture
def service(url: str) -> Iterator[TestClient]:
    """The whole service, with the match router."""
    settings = Settings(database_url=url, feed_poll_seconds=POLL_SECONDS)
    with TestClient(create_service(settings)) as client:
        yield client


def make(service: TestClient, url: str, **limits: int) -> dict[str, str]:
    """A key that the running service has learnt of through the feed; it has asked it once."""
    fields = {"name": "x", "scopes": ["match", "campaigns:write"], **limits}
    headers = bearer(on_store(url, lambda store: keys.create(store, "test", fields)).token)
    eventually(lambda: service.get("/v1/index", headers=headers).status_code == 200)
    return headers


@pytest.mark.parametrize("path", ["/v1/match", "/v1/match/batch", "/v1/attributes"])
def test_too_many_requests_are_answered_429(service: TestClient, url: str, path: str) -> None:
    headers = make(service, url, rate=2)
    body = {"requests": [MATCH]} if path.endswith("batch") else MATCH
    started = time.perf_counter()
    answers = [service.post(path, json=body, headers=headers) for _ in range(20)]
    seconds = time.perf_counter() - started
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 20 - 2 * (seconds + 1) - 1 <= len(refused) < 20
    assert codes(refused[0], 429) == [("/authorization", "rate.exceeded")]
    assert refused[0].headers["retry-after"] == "1"


def test_a_batch_counts_as_what_is_in_it_and_all_routes_share(
    service: TestClient, url: str
) -> None:
    headers = make(service, url, rate=1)
    batch = {"requests": [MATCH] * 100}
    eventually(
        lambda: service.post("/v1/match/batch", json=batch, headers=headers).status_code == 200
    )
    for method, path in [("POST", "/v1/match/batch"), ("POST", "/v1/match"), ("GET", "/v1/index")]:
        refused = service.request(method, path, json=MATCH, headers=headers)
        assert codes(refused, 429) == [("/authorization", "rate.exceeded")]
        assert 50 < int(refused.headers["retry-after"]) <= 100


@pytest.mark.parametrize("path", ["/v1/match", "/v1/openrtb", "/v1/attributes"])
def test_a_body_may_be_as_large_as_the_key_may_send(
    service: TestClient, url: str, path: str
) -> None:
    headers = make(service, url, max_body=100) | {"Content-Type": "application/json"}

    def send(size: int, chunked: bool = False) -> int:
        body = b"{" + b" " * (size - 2) + b"}"
        content = iter([body[:50], body[50:]]) if chunked else body
        answer = service.post(path, content=content, headers=headers)
        if answer.status_code == 413:
            assert problem(answer, 413)["detail"] == "The body is larger than 100 bytes."
        return int(answer.status_code)

    assert [send(100), send(100, chunked=True)] == [422 if path != "/v1/openrtb" else 400] * 2
    assert [send(101), send(101, chunked=True)] == [413, 413]


def test_limits_are_there_from_the_start(url: str) -> None:
    fields = {"name": "x", "scopes": ["match"], "max_body": 30, "rate": 1}
    headers = bearer(on_store(url, lambda store: keys.create(store, "test", fields)).token)
    with TestClient(create_service(Settings(database_url=url))) as service:
        answers = [service.post("/v1/match", json=MATCH, headers=headers) for _ in range(30)]
    assert [answer.status_code for answer in answers][:1] == [413]
    assert 429 in [answer.status_code for answer in answers]
