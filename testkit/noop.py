"""A no-op server: the minimum of a Python server, which reads the body and sends fixed bytes.

    python -m testkit.noop FILE      serves the content of the file, on a free port

The server, its protocol and its headers are those of the service.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.uvicorn import listen, serve_app
from app.settings import Settings

Ask = Callable[[], object]


class Clock:
    """Counts and times calls, with the service's metrics."""

    def __init__(self, what: Ask) -> None:
        self._what = what
        self._count, self._seconds = 0, 0.0

    def __call__(self) -> object:
        """Make a call."""
        started = time.perf_counter()
        done = self._what()
        self._seconds += time.perf_counter() - started
        self._count += 1
        return done

    def metrics(self) -> bytes:
        """The metrics in the format of `/metrics`."""
        name = "copse_match_duration_seconds"
        return f"{name}_sum {self._seconds}\n{name}_count {self._count}\n".encode()


def noop(answer: bytes, ask: Clock | None = None) -> ASGIApp:
    """An application with one answer to everything except `/metrics`."""
    asked = ask or Clock(lambda: None)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        while (await receive()).get("more_body", False):
            pass
        body = answer
        if scope["path"] == "/metrics":
            body = asked.metrics()
        else:
            asked()
        length = b"%d" % len(body)
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


async def _live(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def serve(file: str, ask: Clock | None = None) -> None:
    """Serve the content of a file until a signal; the first line of output is the address."""
    with listen("127.0.0.1", 0) as listener:
        app = noop(Path(file).read_bytes(), ask)
        serve_app(app, Settings(), listener, lambda url: print(url, flush=True))


if __name__ == "__main__":
    serve(sys.argv[1])
