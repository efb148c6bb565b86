"""The HTTP server: uvicorn on uvloop and httptools, without an access log."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import perf_counter

import uvicorn
from starlette.types import ASGIApp

from app.main import create_service
from app.server.acceptor import Acceptor
from app.server.fast_path import FastPathProtocol, fast_path_app
from app.server.protocol import SlowClients
from app.server.responses import CLOSE
from app.settings import Settings
from app.workers.heartbeat import Heartbeat
from app.workers.lifeline import Lifeline
from app.workers.standby import Standby

log = logging.getLogger(__name__)

TICKS_A_SECOND = 10
"""How often uvicorn calls `on_tick`."""


class CannotListen(OSError):
    """The address is in use, or not on this machine."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {reason}")
        self.host = host
        self.port = port


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; opened first, so that a port in use gives a plain message."""
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
    heartbeat: Heartbeat | None = None,
    lifeline: Lifeline | None = None,
) -> None:
    """Serve until a signal arrives. `started` is called with the address once requests are
    answered; `heartbeat` beats as long as the event loop runs; one of several workers has a
    `lifeline`."""
    service = create_service(settings, worker)
    serve_app(service, settings, listener, started, heartbeat, lifeline)


def serve_app(
    app: ASGIApp,
    settings: Settings,
    listener: socket.socket,
    started: Callable[[str], None],
    heartbeat: Heartbeat | None = None,
    lifeline: Lifeline | None = None,
) -> None:
    """Serve any application the same way, so that benchmarks compare like with like."""
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=FastPathProtocol,
        timeout_keep_alive=settings.keep_alive_seconds,  # type: ignore[arg-type] # a timer takes it
        timeout_graceful_shutdown=settings.drain_seconds,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,  # `app/observability/logging.py` formats uvicorn's records
        log_level=settings.log_level,
        server_header=False,
    )
    slow_clients = SlowClients(settings.request_seconds)
    with suppress(KeyboardInterrupt):  # uvicorn repeats the signal after its orderly end
        _Server(config, started, slow_clients, heartbeat, lifeline).run(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn, with its own way to accept connections, a callback when it has started, a limit for
    slow clients, and a heartbeat."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[str], None],
        slow_clients: SlowClients,
        heartbeat: Heartbeat | None,
        lifeline: Lifeline | None,
    ) -> None:
        super().__init__(config)
        self._started = started
        self._slow_clients = slow_clients
        self._heartbeat = heartbeat
        self._lifeline = lifeline
        self._stays = False
        self._beating: asyncio.Task[None] | None = None
        self._acceptors: list[Acceptor] = []

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_A_SECOND == 0:
            self._slow_clients.close(self.server_state.connections, perf_counter())  # type: ignore[arg-type]
        return await super().on_tick(counter) and await self._may_end()

    async def _may_end(self) -> bool:
        """Whether a worker that was told to end may do so now."""
        standby = self._standby
        if standby is None or self._lifeline is None or self.force_exit:
            return True
        may_end = self._lifeline.is_cut() or await standby.may_end()
        if not may_end and not self._stays:
            self._stays = True
            log.warning("told to end: this worker serves until another one is ready")
        return may_end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._heartbeat is not None:
            self._beating = asyncio.create_task(self._heartbeat.run(self._is_loading))
        freeze_garbage()
        await self._start_app()
        loop = asyncio.get_running_loop()
        state = self.lifespan.state
        app = fast_path_app(self.config.app)
        protocol = partial(FastPathProtocol, self.config, self.server_state, state, loop)
        for listener in sockets or ():
            self._acceptors.append(Acceptor(listener, protocol, self.server_state, app, state))
            self._acceptors[-1].start()
            self._started(url_of(listener))
        if self._standby is not None:
            self._standby.on_change = self._accept
            self._accept(self._standby.accepts)
        if self._heartbeat is not None:  # from here on the short limit applies
            self._heartbeat.beat(self._is_loading())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Every response says from now on that it is the last one of its connection.
        self.server_state.default_headers = [*self.server_state.default_headers, CLOSE]
        if self._standby is not None:
            self._standby.on_change = lambda accepts: None
            self._standby.end()
        for acceptor in self._acceptors:
            acceptor.stop()
        for listener in sockets or ():
            listener.close()
        while any(acceptor.is_busy() for acceptor in self._acceptors):
            await asyncio.sleep(0.001)
        await super().shutdown([])

    async def _start_app(self) -> None:
        """Start the application; a signal ends the process even while it waits for its index."""
        starting = asyncio.create_task(super().startup([]))
        while not starting.done():
            await asyncio.wait([starting], timeout=1 / TICKS_A_SECOND)
            if self.should_exit and not starting.done():
                starting.cancel()
                raise SystemExit(0)
        await starting

    def _accept(self, accepts: bool) -> None:
        for acceptor in self._acceptors:
            if accepts:
                acceptor.start()
            else:
                acceptor.pause()
        if not accepts:  # its clients find a worker that can answer them
            for connection in list(self.server_state.connections):
                connection.shutdown()

    @property
    def _standby(self) -> Standby | None:
        standby: Standby | None = self.lifespan.state.get("standby")
        return standby

    def _is_loading(self) -> bool:
        feed = self.lifespan.state.get("feed")
        return feed is None or bool(feed.follower.state.loading)


def freeze_garbage() -> None:
    """Exclude every object that exists by now from garbage collection.

    These are modules, routes and models, which live as long as the process: several hundred
    thousand objects. A full collection held up every request for 60 to 130 ms, once in some ten
    thousand requests.
    """
    gc.collect()
    gc.freeze()


def url_of(listener: socket.socket) -> str:
    """The address of a listening socket, for a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
