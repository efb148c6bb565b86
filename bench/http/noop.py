"""The least that a Python server can do with a request: read its body and answer some bytes.

    python -m bench.http.noop FILE      serves the bytes of the file, on a free port

The server, its protocol and its headers are those of the service.
"""

import sys
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from app.server import listen, serve_app
from app.settings import Settings


def noop(answer: bytes) -> ASGIApp:
    """An application that gives one answer to everything."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        while (await receive()).get("more_body", False):
            pass
        length = b"%d" % len(answer)
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


async def _live(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def main(file: str) -> None:
    """Serve until a signal comes; the first line tells the address."""
    with listen("127.0.0.1", 0) as listener:
        app = noop(Path(file).read_bytes())
        serve_app(app, Settings(), listener, lambda url: print(url, flush=True))


if __name__ == "__main__":
    main(sys.argv[1])
