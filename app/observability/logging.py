"""Logging to stderr: one JSON object per line, or lines of text for people.

    {"time": "2026-11-17T06:00:00.123Z", "level": "warning", "logger": "campaigns.feed.follower",
     "worker": 1, "request_id": "5f0c7d1e9a3b2c48", "message": "…", "exception": "Traceback …"}

`worker`, `request_id` and `exception` are left out where they do not apply; the access log has more
fields. Tokens of API keys and
passwords are cut out of the finished line, since the text of an error could contain them.
"""

import logging
import sys
from datetime import UTC, datetime
from typing import Literal

import orjson

from app.middleware import request_id
from app.observability.masking import without_secrets

Format = Literal["text", "json"]

START = "copse.start"
"""The logger for the progress of the start; it also logs at the level `warning`."""

ACCESS = "copse.access"
"""The access log, which does so too (`app/middleware/access_log.py`)."""


def configure(level: str, format: Format, worker: int | None = None) -> None:
    """Configure logging, and replace any earlier configuration."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(worker) if format == "json" else PlainLines(worker))
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=number, handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        theirs = logging.getLogger(name)
        theirs.handlers.clear()
        theirs.propagate = True
    for name in (START, ACCESS):
        also_at_warning = logging.INFO if number == logging.WARNING else logging.NOTSET
        logging.getLogger(name).setLevel(also_at_warning)
    logging.captureWarnings(True)


class PlainLines(logging.Formatter):
    """Text for people."""

    def __init__(self, worker: int | None = None) -> None:
        who = "" if worker is None else f"worker {worker}: "
        super().__init__(f"%(levelname)s: {who}%(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        id = request_id.current.get()
        return without_secrets(f"{line} (request {id})" if id else line)


class JsonLines(logging.Formatter):
    """JSON for programs."""

    def __init__(self, worker: int | None = None) -> None:
        super().__init__()
        self._worker = {} if worker is None else {"worker": worker}

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": _written(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            **self._worker,
        }
        if id := request_id.current.get():
            fields["request_id"] = id
        fields |= getattr(record, "fields", {})
        fields["message"] = without_secrets(record.getMessage())
        if record.exc_info:
            fields["exception"] = without_secrets(self.formatException(record.exc_info))
        # Invalid Unicode is escaped: logging must not fail.
        clean = {
            name: value.encode("utf-8", "backslashreplace").decode()
            if isinstance(value, str)
            else value
            for name, value in fields.items()
        }
        return orjson.dumps(clean).decode()


def _written(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
