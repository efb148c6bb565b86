"""What is logged, and what never is."""

import asyncio
import json
import logging
import sys

import pytest

from app.middleware import request_id
from app.observability import logging as logs


def line_of(formatter: logging.Formatter, message: str, *given: object, error: bool = False) -> str:
    record = logging.LogRecord("app.test", logging.WARNING, "file", 1, message, given, None)
    if error:
        try:
            raise ValueError("postgresql://me:hunter2@host/db\nis away")
        except ValueError:
            record.exc_info = sys.exc_info()
    return formatter.format(record)


def test_a_record_is_one_line_of_json() -> None:
    line = line_of(logs.JsonLines(3), "two\nlines of %s", "it", error=True)
    assert "\n" not in line
    said = json.loads(line)
    assert said["level"] == "warning"
    assert said["logger"] == "app.test"
    assert said["worker"] == 3
    assert said["message"] == "two\nlines of it"
    assert "ValueError" in said["exception"]
    assert said["time"].endswith("Z")
    assert "request_id" not in said


def test_the_request_is_named_where_there_is_one() -> None:
    async def request() -> str:
        request_id.current.set("a-1")
        return line_of(logs.JsonLines(), "hello")

    said = json.loads(asyncio.run(request()))
    assert said["request_id"] == "a-1"
    assert "worker" not in said
    assert "request_id" not in json.loads(line_of(logs.JsonLines(), "hello"))


@pytest.mark.parametrize("formatter", [logs.JsonLines(), logs.PlainLines(1)])
def test_nothing_that_opens_a_door_is_logged(formatter: logging.Formatter) -> None:
    token = "copse_1f6c2a9b04d7_KfP0b8xYzSecret-_1"
    urls = "postgresql://me:hunter2@host/db redis://:hunter2@host"
    line = line_of(formatter, f"Bearer {token}, {urls}", error=True)
    assert "hunter2" not in line
    assert "KfP0b8" not in line
    assert "Secret" not in line
    assert "copse_1f6c2a9b04d7_***" in line
    assert "@host/db" in line
    address = "http://127.0.0.1:8080/docs and copse_feed_lag_seconds"
    assert address in line_of(formatter, address)


def test_a_log_does_not_fail_on_what_is_no_unicode() -> None:
    assert "\\udc80" in json.loads(line_of(logs.JsonLines(), "odd: \udc80"))["message"]


def test_the_start_is_told_where_only_warnings_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = logging.root.level, logging.root.handlers[:]
    try:
        logs.configure("warning", "text", 2)
        logging.getLogger(logs.START).info("loading")
        logging.getLogger("app").info("not this")
        logging.getLogger("uvicorn.error").warning("but this")
        logs.configure("error", "text")
        logging.getLogger(logs.START).info("nor this")
    finally:
        logging.root.handlers[:] = before[1]
        logging.root.setLevel(before[0])
        logging.captureWarnings(False)
    told = capsys.readouterr().err
    assert (
        told == "INFO: worker 2: copse.start: loading\nWARNING: worker 2: uvicorn.error: but this\n"
    )
