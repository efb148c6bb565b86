"""A proxy in front of Postgres and Redis that can act as a bad network.

    service ──▶ proxy ──▶ server

    pass      forward everything               hang    forward nothing
    refuse    reset new connections            deaf    drop the server's answers
    slow      delay each chunk                 cut()   reset every connection now

TCP never loses part of a stream, so a connection that was held back or dropped ends in a reset.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

PASS, REFUSE, HANG, DEAF = "pass", "refuse", "hang", "deaf"
_PIECE = 65_536


class Network:
    """The event loop of all proxies, in its own thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)
        self._proxies: list[Proxy] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        async def end() -> None:
            for each in self._proxies:
                each.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)  # what was reset is closed in the next turn

        self.run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def proxy(self, port: int) -> "Proxy":
        """A new proxy in front of a port."""
        made = Proxy(self, port)
        self.run(made.listen())
        self._proxies.append(made)
        return made


class Proxy:
    """A proxy for one server. Mode and delay can be changed from any thread."""

    def __init__(self, network: Network, port: int) -> None:
        self.port = 0
        self.delay = 0.0
        self._network = network
        self._server_port = port
        self._mode = PASS
        self._links: dict[asyncio.StreamWriter, asyncio.StreamWriter] = {}
        self._changed = asyncio.Event()
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Stop listening and close all connections."""
        assert self._server is not None
        self._server.close()
        self._cut()

    def turn(self, mode: str) -> None:
        """Change the mode; connections affected by the previous mode are reset."""
        self._do(lambda: self._turn(mode))

    def cut(self) -> None:
        """Reset every connection."""
        self._do(self._cut)

    def client_of(self, port: int) -> int | None:
        """The client's port, given the proxy's local port of its connection to the server."""
        for client, server in list(self._links.items()):
            if server.get_extra_info("sockname")[1] == port:
                return int(client.get_extra_info("peername")[1])
        return None

    def _do(self, change: Callable[[], None]) -> None:
        async def work() -> None:
            change()

        self._network.run(work())

    def _turn(self, mode: str) -> None:
        if self._mode != PASS or mode == REFUSE:
            self._cut()
        self._mode = mode
        self._changed.set()
        self._changed = asyncio.Event()

    def _cut(self) -> None:
        for client, server in self._links.items():
            _reset(client)
            _reset(server)

    async def _serve(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        if self._mode == REFUSE:
            _reset(client)
            return
        try:
            answers, server = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            _reset(client)
            return
        self._links[client] = server
        tasks = [
            asyncio.create_task(self._pump(reader, server)),
            asyncio.create_task(self._pump(answers, client, is_answer=True)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._links[client]
            for task in tasks:
                task.cancel()
            for writer in (client, server):
                writer.close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_answer: bool = False
    ) -> None:
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                if self.delay:
                    await asyncio.sleep(self.delay)
                while self._mode == HANG:
                    await self._changed.wait()
                if self._mode == DEAF and is_answer:
                    continue
                writer.write(piece)
                await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Abort a connection with RST, as a broken network does, instead of FIN."""
    raw = writer.get_extra_info("socket")
    if raw is not None:
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    writer.transport.abort()
