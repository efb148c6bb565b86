"""An operator who looks at `/v1/index` every second."""

import threading
from collections.abc import Callable
from http import HTTPStatus

from tests.faults.client import Client, Lost
from tests.faults.history import History, Look

_TIMEOUT = 8.0
"""A worker that does not answer keeps whoever asks waiting for 5 s."""

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
    """Looks until it is stopped."""

    def __init__(
        self,
        port: int,
        token: str,
        pause: float,
        history: History,
        elapsed: Callable[[], float],
    ) -> None:
        super().__init__(name="watcher", daemon=True)
        self._client = Client(port, token, _TIMEOUT)
        self._pause = pause
        self._history = history
        self._elapsed = elapsed
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            self.look()

    def look(self) -> Look | None:
        """What is to be seen; None if nobody said."""
        begin = self._elapsed()
        try:
            answer = self._client.send("GET", "/v1/index")
        except Lost:
            return None
        self._client.leave()  # next time another worker may know more
        if answer.status != HTTPStatus.OK:
            return None
        told = answer.content
        workers = [{name: each[name] for name in _SEEN} for each in told["workers"]]
        look = Look(begin, self._elapsed(), workers, told["silent"])
        self._history.add(look)
        return look
