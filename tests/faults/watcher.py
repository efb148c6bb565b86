"""An operator who reads `/v1/index` of a host, and the end of the stream, about every second."""

import threading
from contextlib import suppress
from http import HTTPStatus

import redis

from testkit.client import Client, Lost
from tests.faults.history import Look, Tip
from tests.faults.service import PORT, Service
from tests.faults.stage import Stage

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

    def __init__(self, stage: Stage, service: Service, pause: float = 0.0) -> None:
        super().__init__(name=f"watcher {service.number}", daemon=True)
        self._client = Client(PORT, stage.token, _TIMEOUT)
        self._redis = stage.redis.url
        self._service = service
        self._pause = pause
        self._history = stage.history
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            self.look()
            with suppress(redis.RedisError):
                self.look_at_stream()

    def look_at_stream(self) -> None:
        """The end of the stream, read directly; an error if Redis does not answer."""
        begin = self._history.elapsed()
        with redis.Redis.from_url(self._redis, socket_timeout=1.0) as client:
            streams = list(client.scan_iter("copse:*", _type="stream"))
            ids = [client.xinfo_stream(each)["last-generated-id"] for each in streams]
        revs = [int(id.partition(b"-")[0]) for id in ids]
        self._history.add(Tip(begin, self._history.elapsed(), max(revs, default=0)))

    def look(self) -> Look | None:
        """One reading; None without an answer."""
        begin = self._history.elapsed()
        try:
            with self._service.entered():
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
