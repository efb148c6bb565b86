"""Notes when a request came, which ASGI does not say: deadlines count from there.

What was read from the sockets in one turn of the event loop is handled in the next, one after the
other; the last of them has then waited for all the others.
"""

from time import perf_counter

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class NotingProtocol(HttpToolsProtocol):
    """Puts the moment into the scope, as `came` (`perf_counter`)."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["came"] = perf_counter()  # type: ignore[typeddict-unknown-key]
