"""The fast path of a match answers what the normal path answers, or leaves it to that."""

import asyncio
import re
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import orjson
import pytest

from app.main import create_service
from app.match.context import MatchSettings
from app.match.recorder import Recorder
from app.match.router import MatchRouter
from app.observability.metrics.registry import Registry
from app.server import match_queue
from app.settings import Settings
from campaigns.keys import service as key
from campaigns.keys.model import make, token_of
from testkit.constant_rate import request_of
from testkit.in_process import FixedReplica, InProcessServer, view_of
from testkit.noop import noop
from tests.app.answers import activate, eventually, ok
from tests.app.conftest import Template, bearer, on_store
from tests.app.serving import serving

BODY = {"attributes": {"country": "US"}}


KEEP_ALIVE = 3.0


@dataclass
class Asked:
    """A server, a campaign that wants everybody in the US, and how to ask for it."""

    port: int
    client: httpx.Client
    token: str
    campaign: int
    url: str

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def request(self, body: object = BODY, *headers: str, token: str = "", line: str = "") -> bytes:
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        lines = [
            line or "POST /v1/match HTTP/1.1",
            "Host: copse",
            "Content-Type: application/json",
            f"Authorization: Bearer {token or self.token}",
            f"Content-Length: {len(content)}",
            *headers,
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@pytest.fixture(scope="module")
def asked(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    path = tmp_path_factory.mktemp("fast_path") / "copse.sqlite3"
    shutil.copy(template.path, path)
    token = template.tokens["all"]
    with (
        serving(
            COPSE_DATABASE_URL=f"sqlite:///{path}",
            COPSE_FEED_POLL_SECONDS="0.02",
            COPSE_KEEP_ALIVE_SECONDS=str(KEEP_ALIVE),
        ) as served,
        httpx.Client(base_url=served.url, headers=bearer(token), timeout=10) as client,
    ):
        id, rev = activate(client, targeting="country = 'US'")
        ok(client.post("/v1/match", json=BODY | {"min_rev": rev}))
        yield Asked(served.port, client, token, id, f"sqlite:///{path}")


def receive(connection: socket.socket, rest: bytes = b"") -> tuple[int, dict[str, str], Any, bytes]:
    """The status, the headers and the content of an answer, and what came behind it."""
    received = rest
    while b"\r\n\r\n" not in received:
        received += (more := connection.recv(65536))
        assert more, received
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    length = int(headers.get("content-length", "0"))
    while len(body) < length:
        body += (more := connection.recv(65536))
        assert more, received
    content = orjson.loads(body[:length]) if length else None
    return int(status.split()[1]), headers, content, body[length:]


def exchange(connection: socket.socket, request: bytes) -> tuple[int, dict[str, str], Any]:
    connection.sendall(request)
    status, headers, content, rest = receive(connection)
    assert rest == b""
    return status, headers, content


def without_date(answer: tuple[int, dict[str, str], Any]) -> Any:
    status, headers, content = answer
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT", headers["date"])
    return status, list(headers.items())[1:], content


def test_the_last_answer_is_the_first(asked: Asked) -> None:
    with asked.connect() as connection:
        answers = [without_date(exchange(connection, asked.request())) for _ in range(6)]
    assert answers[0][0] == 200
    assert answers[0][2]["matches"][0]["campaign_id"] == asked.campaign
    assert answers.count(answers[0]) == 6


def test_known_heads_are_answered_at_once_and_counted(asked: Asked) -> None:
    def counted() -> float:
        text = asked.client.get("/metrics").text
        found = re.search(r'copse_requests_total\{route="match",status="200"\} (\d+)', text)
        assert found
        return float(found[1])

    before = counted()
    with asked.connect() as connection:
        for _ in range(5):
            exchange(connection, asked.request())
    assert counted() == before + 5


def test_a_request_does_not_inherit_the_wait_of_the_one_before(asked: Asked) -> None:
    with asked.connect() as connection:
        for _ in range(3):  # the last ones take the fast path
            assert exchange(connection, asked.request())[0] == 200
        time.sleep(1.0)
        other = asked.request(BODY | {"tmax_ms": 900}, f"X-Unknown-So-Far: {time.time()}")
        status, _, content = exchange(connection, other)
    assert status == 200, content


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        ({"attributes": {"country": 1}}, 422),
        ({"attributes": {}, "limit": 0}, 422),
        ({"attributes": {"now.hour": 1}}, 422),
        ({"attributes": {}, "min_rev": 10**9, "tmax_ms": 5}, 409),
        ({"attributes": {}, "tmax_ms": 1e-9}, 503),
        ({"attributes": {"country": "FR"}}, 200),
        ({"attributes": {"country": "US"}, "exclude": {"campaigns": [1]}, "limit": 3}, 200),
    ],
)
def test_refusals_are_those_of_the_normal_path(asked: Asked, body: object, status: int) -> None:
    request = asked.request(body)
    with asked.connect() as connection:
        answers = [exchange(connection, request) for _ in range(4)]
        normal = exchange(connection, asked.request(body, "X-Other: 1"))
    for answer in answers:
        assert answer[0] == normal[0] == status
        assert answer[1]["content-type"] == normal[1]["content-type"]
        if status != 503:  # it says how long it waited
            assert answer[2] == normal[2]


def test_requests_behind_each_other_are_answered_in_order(asked: Asked) -> None:
    france = asked.request({"attributes": {"country": "FR"}})
    with asked.connect() as connection:
        for _ in range(2):
            exchange(connection, asked.request())
            exchange(connection, france)
        connection.sendall(asked.request() + france + asked.request())
        counts, rest = [], b""
        for _ in range(3):
            _, _, content, rest = receive(connection, rest)
            counts.append(len(content["matches"]))
        assert counts == [1, 0, 1]
        assert len(exchange(connection, asked.request())[2]["matches"]) == 1


def test_requests_in_pieces_are_put_together(asked: Asked) -> None:
    request = asked.request()
    with asked.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(2):
            exchange(connection, request)
        for at in (3, 40, len(request) - 30, len(request) - 1):
            connection.sendall(request[:at])
            time.sleep(0.02)  # two packets, which the kernel may still put together
            assert len(exchange(connection, request[at:])[2]["matches"]) == 1


def test_a_known_head_inside_a_body_is_not_a_request(asked: Asked) -> None:
    inner = asked.request()
    outer = asked.request(inner, "X-Other: 1")
    with asked.connect() as connection:
        for _ in range(4):
            exchange(connection, inner)
        connection.sendall(outer[: -len(inner)])
        time.sleep(0.02)
        assert exchange(connection, inner)[0] == 400  # it is the body, and no JSON
        assert exchange(connection, inner)[0] == 200


def test_a_known_head_inside_a_head_is_not_a_request(asked: Asked) -> None:
    with asked.connect() as connection:
        for _ in range(4):
            exchange(connection, asked.request())
        connection.sendall(b"POST /v1/match HTTP/1.1\r\nAuthorization: Bearer me\r\nX-Line: ")
        time.sleep(0.02)
        assert exchange(connection, asked.request())[0] == 401  # with two keys
        assert exchange(connection, asked.request())[0] == 200


def test_an_id_is_given_back(asked: Asked) -> None:
    with asked.connect() as connection:
        for _ in range(2):
            assert "x-request-id" not in exchange(connection, asked.request())[1]
        for id in ("1", "b/2", "c" * 128):
            request = asked.request(BODY, f"X-Request-ID: {id}")
            assert exchange(connection, request)[1]["x-request-id"] == id
        for strange in ("a b", "c" * 129, "{}"):
            request = asked.request(BODY, f"X-Request-ID: {strange}")
            assert "x-request-id" not in exchange(connection, request)[1]
        _, headers, _ = exchange(connection, asked.request(b"{", "X-Request-ID: wrong"))
        assert headers["x-request-id"] == "wrong"
        assert re.fullmatch(
            "[0-9a-f]{16}", exchange(connection, asked.request(b"{"))[1]["x-request-id"]
        )


def test_a_connection_that_ends_is_ended(asked: Asked) -> None:
    with asked.connect() as connection:
        for _ in range(2):
            exchange(connection, asked.request())
        _, headers, _ = exchange(connection, asked.request(BODY, "Connection: close"))
        assert headers["connection"] == "close"
        assert connection.recv(1) == b""
    with asked.connect() as connection:
        exchange(connection, asked.request(line="POST /v1/match HTTP/1.0"))
        assert connection.recv(1) == b""


@pytest.mark.parametrize("header", ["X: known, after a while", "X-New: never seen"])
def test_who_has_closed_its_own_direction_is_answered(asked: Asked, header: str) -> None:
    """On a new connection, of which the end may be there before the request is looked at, and on
    one that has been used."""
    for used in (False, True):
        with asked.connect() as connection:
            if used:
                exchange(connection, asked.request(BODY, header))
            connection.sendall(asked.request(BODY, header))
            connection.shutdown(socket.SHUT_WR)
            assert receive(connection)[0] == 200
            assert connection.recv(1) == b""


def test_a_revoked_key_is_refused_on_a_known_head(asked: Asked) -> None:
    made = on_store(
        asked.url, lambda store: key.create(store, "test", {"name": "one", "scopes": ["match"]})
    )
    request = asked.request(token=made.token)
    with asked.connect() as connection:
        eventually(lambda: exchange(connection, request)[0] == 200)
        for _ in range(3):
            assert exchange(connection, request)[0] == 200
        on_store(asked.url, lambda store: key.revoke(store, "test", made.key.id))
        eventually(lambda: exchange(connection, request)[0] == 401)


def test_an_idle_connection_is_closed(asked: Asked) -> None:
    with asked.connect() as connection:
        for _ in range(3):
            exchange(connection, asked.request())
        started = time.monotonic()
        assert connection.recv(1) == b""
        assert KEEP_ALIVE - 1 < time.monotonic() - started < KEEP_ALIVE + 4


class CountingRouter(MatchRouter):
    """Counts the answers of the fast path."""

    answered = 0

    def fast_answer(self, *request: Any) -> bytes | None:
        answer = super().fast_answer(*request)
        self.answered += answer is not None
        return answer


async def connected() -> tuple[CountingRouter, InProcessServer, bytes]:
    """A router behind a connection, and a request whose head it knows."""
    token = token_of(*make())
    state = {"feed": FixedReplica(view_of(10, token)), "recorder": Recorder(Registry("0"))}
    router = CountingRouter(noop(b"}"), MatchSettings())
    behind = InProcessServer(router, state)
    request = request_of(orjson.dumps(BODY), token)
    for _ in range(3):  # its key is known, it was seen, it is learned
        await behind.answer([request])
    return router, behind, request


async def test_what_has_come_before_takes_it() -> None:
    router, behind, request = await connected()
    assert router.answered == 0
    await behind.answer([request, request])
    assert router.answered == 2
    await behind.answer([request.replace(b"Host", b"X-Other: 1\r\nHost")])
    assert router.answered == 2
    await behind.answer([request.replace(b"Host", b"X-Request-Id: 1\r\nHost")])
    assert router.answered == 3


async def test_what_was_read_before_the_end_is_answered() -> None:
    router, behind, request = await connected()
    behind.protocol.data_received(request)
    behind.protocol.shutdown()
    assert not behind.transport.closed
    await asyncio.sleep(0)
    assert router.answered == 1
    assert b"connection: close\r\n" in behind.last
    assert behind.transport.closed


async def test_cors_keeps_the_fast_path_for_requests_without_an_origin() -> None:
    origin = "https://a.example"

    token = token_of(*make())
    recorder = Recorder(Registry("0"))
    service = create_service(Settings(cors_origins=origin))
    fast: list[bool] = []
    answer = getattr(service, "fast_answer", None)
    assert answer is not None, "CORS switches the fast path off"

    def counted(*request: Any) -> bytes | None:
        body: bytes | None = answer(*request)
        fast.append(body is not None)
        return body

    service.fast_answer = counted  # type: ignore[attr-defined]
    behind = InProcessServer(
        service, {"feed": FixedReplica(view_of(10, token)), "recorder": recorder}
    )
    request = request_of(orjson.dumps(BODY), token)
    with_origin = request.replace(b"Host", b"Origin: %b\r\nHost" % origin.encode())
    for _ in range(4):
        await behind.answer([request])
        assert b"access-control" not in behind.last
    assert fast == [True]
    for _ in range(4):
        await behind.answer([with_origin])
        assert b"access-control-allow-origin: https://a.example\r\n" in behind.last
    assert fast == [True]


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/match", 503), ("/v1/match/batch", 503), ("/v1/openrtb", 204)]
)
async def test_the_queue_refuses_as_the_normal_path_does(
    path: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    router, behind, request = await connected()
    request = request.replace(b"/v1/match", path.encode())
    monkeypatch.setattr(match_queue, "INTERVAL", -1.0)
    router.queue.limit = -1.0  # everything is too old

    async def refusal_of(*pieces: bytes) -> list[str]:
        behind.transport.written.clear()
        for piece in pieces:
            behind.protocol.data_received(piece)
            for _ in range(5):
                await asyncio.sleep(0)
        received = b"".join(behind.transport.written) or behind.last
        return re.sub(r"[\d.]+ ms|[0-9a-f]{16}", "…", received.decode()).split("\r\n")

    in_the_queue = await refusal_of(request)
    assert in_the_queue[0].startswith(f"HTTP/1.1 {status} ")
    in_pieces = await refusal_of(request[:-5], request[-5:])
    assert sorted(in_the_queue) == sorted(in_pieces)
    assert not behind.transport.closed
    closing = await refusal_of(request.replace(b"Host", b"Connection: close\r\nHost"))
    assert sorted(closing) == sorted([*in_the_queue, "connection: close"])
    assert behind.transport.closed
