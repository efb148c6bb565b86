"""`python -m bench http`: what it reports, and that its answers are compared."""

import json
import socket
import threading
import time
from pathlib import Path

import pytest

from bench.service import http
from index import Attribute, Index, Schema
from testkit.answers import answer_of, check
from testkit.constant_rate import main as steady
from testkit.constant_rate import milliseconds
from testkit.progress import Progress
from testkit.service import NotServing, noop

CAMPAIGNS = 1000


def test_every_server_is_measured_and_the_answers_are_compared() -> None:
    results = http.measure(CAMPAIGNS, 1, 4, Progress(quiet=True), rounds=1)
    empty, matching, plain, logging = results
    names = ["noop", "noop that matches", "service", "service, impressions"]
    assert [each["server"] for each in results] == names
    for each in results:
        assert each["requests_per_s"] > 0
        assert each["cpu_us"] > 0
    for each in (matching, plain, logging):
        overheads = {"overhead_us", "overhead_strict_us", "overhead_thread_us"}
        assert {"match_us", "met"} | overheads <= each.keys()
        assert each["match_us"] > 1
    for each in (empty, plain):
        assert {"p50_ms", "p99_ms", "p99_9_ms"} <= each.keys()
        assert each["failed"] == 0
    assert plain["answers_compared"] > 0
    assert logging["impression_bytes"] > 200


def test_a_wrong_answer_is_told() -> None:
    index = Index(Schema([Attribute("age", "int")]))
    index.insert(7, "age > 20", score=1)
    events = [{"age": 30}]
    right = answer_of(0, 0.0, 0.0, 200, '{"matches": [{"campaign_id": 7}], "total": 1}')
    assert check(index, events, [right]).count() == 1
    for wrong in ({"matches": [], "total": 1}, {"matches": [{"campaign_id": 7}], "total": 2}):
        answer = answer_of(0, 0.0, 0.0, 200, json.dumps(wrong))
        with pytest.raises(NotServing, match="request 0"):
            check(index, events, [answer]).count()


def test_a_request_counts_from_when_it_was_due(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server that pauses delays all requests that are due in the meantime."""
    (tmp_path / "bodies").write_bytes(b"{}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_answer_after_a_stop, args=(listener, 0.3))
        thread.start()
        port = listener.getsockname()[1]
        steady(str(port), str(tmp_path / "bodies"), "token", "100", "0.5", "1", "1")
        thread.join()
    result = json.loads(capsys.readouterr().out)
    assert result["statuses"] == {"200": 50}
    assert result["max_ms"] >= 300
    assert result["p50_ms"] >= 50  # thirty were due while the first one had no answer
    assert result["answers"]["0"][1] == "{}"


def _answer_after_a_stop(listener: socket.socket, seconds: float) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(1 << 16)
        time.sleep(seconds)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        while connection.recv(1 << 16):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


def test_milliseconds_are_percentiles() -> None:
    seconds = [place / 1000 for place in range(1000)]
    assert [milliseconds(seconds, share) for share in (0.5, 0.99, 1.0)] == [500, 990, 999]
    assert milliseconds([], 0.5) is None


def test_the_noop_answers_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "answer").write_bytes(b'{"total":3}')
    with noop(tmp_path / "answer") as server:
        assert server.post([b"{}"], "token") == [b'{"total":3}']
        assert server.use().cpu > 0
        assert server.use().memory > 0
