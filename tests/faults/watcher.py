"""An operator who reads `/v1/index` about every second."""

import threading
from http import HTTPStatus

from testkit.client import Client, Lost
from tests.faults.history import History, Look

_TIMEOUT = 8.0
"""`/v1/index` waits up to 5 s for a worker that does not answer."""

_SEEN = (
    "pid",
    "epoch",
    "rev",
    "digest",
    "campaigns",
    "poisoned",
    "loading",
    "snapshots",
    "resyncs",
)


class Watcher(threading.Thread):
    """Reads `/v1/index` until stopped."""

    def __init__(
        self,
        port: int,
        token: str,
        pause: float,
        history: History,
    ) -> None:
        super().__init__(name="watcher", daemon=True)
        self._client = Client(port, token, _TIMEOUT)
        self._pause = pause
        self._history = history
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            self.look()

    def look(self) -> Look | None:
        """One reading; None without an answer."""
        begin = self._history.elapsed()
        try:
            answer = self._client.send("GET", "/v1/index")
        except Lost:
            return None
        self._client.close()  # next time another worker may know more
        if answer.status != HTTPStatus.OK:
            return None
        message = answer.content
        workers = [{name: each[name] for name in _SEEN} for each in message["workers"]]
        look = Look(begin, self._history.elapsed(), workers, message["silent"])
        self._history.add(look)
        return look
