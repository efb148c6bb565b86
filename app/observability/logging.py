"""What the service logs, on stderr: a line of JSON for each record, or a line for people.

    {"time": "2026-11-17T06:00:00.123Z", "level": "warning", "logger": "campaigns.feed.follower",
     "worker": 1, "request_id": "5f0c7d1e9a3b2c48", "message": "…", "exception": "Traceback …"}

`worker`, `request_id` and `exception` stand only where there is one. Whatever is logged, tokens of
API keys and passwords in URLs are not: they are cut out of the finished line, since nobody can know
what the text of an error holds.
"""

import logging
import re
import sys
from datetime import UTC, datetime
from typing import Literal

import orjson

from app.middleware import request_id

Format = Literal["text", "json"]

START = "copse.start"
"""The logger that tells how far the start is, also where only warnings are asked for."""

_SECRET = re.compile(r"(copse_[0-9a-f]{12}_)[\w-]+|(://[^/\s:@]*:)\S+(?=@)")


def configure(level: str, format: Format, worker: int | None = None) -> None:
    """Log like this from now on, whoever configured it before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(worker) if format == "json" else PlainLines(worker))
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=number, handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        theirs = logging.getLogger(name)
        theirs.handlers.clear()
        theirs.propagate = True
    start = logging.getLogger(START)
    start.setLevel(logging.INFO if number == logging.WARNING else logging.NOTSET)
    logging.captureWarnings(True)


def without_secrets(text: str) -> str:
    """A text in which nothing opens a door: the public part of a key stays."""
    return _SECRET.sub(lambda found: f"{found[1] or found[2]}…", text)


class PlainLines(logging.Formatter):
    """For people."""

    def __init__(self, worker: int | None = None) -> None:
        who = "" if worker is None else f"worker {worker}: "
        super().__init__(f"%(levelname)s: {who}%(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        id = request_id.current.get()
        return without_secrets(f"{line} (request {id})" if id else line)


class JsonLines(logging.Formatter):
    """For programs."""

    def __init__(self, worker: int | None = None) -> None:
        super().__init__()
        self._worker = {} if worker is None else {"worker": worker}

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, object] = {
            "time": _written(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            **self._worker,
        }
        if id := request_id.current.get():
            said["request_id"] = id
        said["message"] = without_secrets(record.getMessage())
        if record.exc_info:
            said["exception"] = without_secrets(self.formatException(record.exc_info))
        # What is no Unicode is written as well as it can be: a log must not fail.
        clean = {
            name: value.encode("utf-8", "backslashreplace").decode()
            if isinstance(value, str)
            else value
            for name, value in said.items()
        }
        return orjson.dumps(clean).decode()


def _written(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
