"""The HTTP server: uvicorn on uvloop and httptools, without an access log."""

import asyncio
import gc
import socket
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

import uvicorn
from starlette.types import ASGIApp

from app.main import create_service
from app.server.fast_path import ShortcutProtocol
from app.server.slow_clients import Patience
from app.settings import Settings
from app.workers.heartbeat import Heart

TICKS_A_SECOND = 10
"""How often uvicorn looks around."""


class CannotListen(OSError):
    """The address is taken, or not ours."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {reason}")
        self.host = host
        self.port = port


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; done first, so that a taken port is a plain message."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise CannotListen(host, port, error.strerror or str(error)) from error


def serve(
    settings: Settings,
    listener: socket.socket,
    started: Callable[[str], None],
    worker: int = 0,
    heart: Heart | None = None,
) -> None:
    """Serve until a signal comes; `started` is told the address once requests are answered, and a
    `heart` beats meanwhile."""
    serve_app(create_service(settings, worker), settings, listener, started, heart)


def serve_app(
    app: ASGIApp,
    settings: Settings,
    listener: socket.socket,
    started: Callable[[str], None],
    heart: Heart | None = None,
) -> None:
    """The same for any application: whatever is compared with the service runs like it."""
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=ShortcutProtocol,
        timeout_graceful_shutdown=settings.drain_seconds,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,  # its records are ours to format
        log_level=settings.log_level,
        server_header=False,
    )
    with suppress(KeyboardInterrupt):  # uvicorn repeats the signal after its orderly end
        _Server(config, started, Patience(settings.request_seconds), heart).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Tells when it has started, which uvicorn itself only logs; loses its patience with slow
    clients; its loop lets the heart beat."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[str], None],
        patience: Patience,
        heart: Heart | None,
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._patience = patience
        self._heart = heart
        self._beating: asyncio.Task[None] | None = None

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_A_SECOND == 0:
            self._patience.look(self.server_state.connections, perf_counter())  # type: ignore[arg-type]
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._heart is not None:
            self._beating = asyncio.create_task(self._heart.beat(self._is_loading))
        spare_collector()
        await super().startup(sockets)
        for listener in sockets or ():
            self._tell(url_of(listener))
        if self._heart is not None:  # from here on it may not be silent for long
            self._heart.beat_once(self._is_loading())

    def _is_loading(self) -> bool:
        feed = self.lifespan.state.get("feed")
        return feed is None or bool(feed.follower.state.loading)


def spare_collector() -> None:
    """Let the garbage collector pass over everything that is there by now.

    That is modules, routes and models, which stay to the end: several hundred thousand objects, and
    looking at them all held every request up for 60 to 130 ms, once in some ten thousand requests.
    """
    gc.collect()
    gc.freeze()


def url_of(listener: socket.socket) -> str:
    """The address that a browser understands."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
