"""The users of Locust: `locust -f loadtest/locustfile.py MatchUser` (docs/loadtest.md).

With `LOADTEST_DIRECTORY` (settings.py) each process records latencies (latencies.py) and samples
answers: Locust's own figures are whole milliseconds, every three seconds.
"""

import json
import os
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter, time

import gevent
from locust import FastHttpUser, constant_throughput, events, task
from locust.env import Environment

from loadtest.churn import Pace, Write, life
from loadtest.latencies import Recorder
from loadtest.settings import Settings
from loadtest.traffic import BODIES, TEXTS, bodies_of, workload_of

SETTINGS = Settings.from_environment()
RECORDER = Recorder()
PACE = Pace(SETTINGS.share, SETTINGS.writes)
SAMPLE_SECONDS = 0.1
"""Seconds between two sampled answers of a process."""

_numbers = count()
_samples: list[str] = []
_sampled_at = 0.0


@events.init.add_listener
def start_recording(environment: Environment, **_: object) -> None:
    """Write the records every second, once the process is forked."""
    if SETTINGS.directory is not None:
        gevent.spawn(_write_records, SETTINGS.directory)


def _write_records(directory: Path) -> None:
    name = f"{os.getpid()}.jsonl"
    with (
        (directory / f"latencies-{name}").open("wb") as latencies,
        (directory / f"samples-{name}").open("w") as samples,
    ):
        while True:
            gevent.sleep(1.0 - time() % 1.0)
            RECORDER.write(latencies, time())
            samples.writelines(_samples)
            samples.flush()
            _samples.clear()


class Copse(FastHttpUser):
    """The base of all users: an API key and a random generator."""

    abstract = True
    network_timeout = connection_timeout = 30.0

    def on_start(self) -> None:
        index = getattr(self.environment.runner, "worker_index", 0)
        self.rng = Random(f"{type(self).__name__} {SETTINGS.seed} {index} {next(_numbers)}")
        self.headers = {
            "Authorization": f"Bearer {SETTINGS.token}",
            "Content-Type": "application/json",
        }

    def send(
        self, kind: str, method: str, path: str, body: str | None, name: str | None = None
    ) -> tuple[int, str]:
        """Send and record a request; returns status and body. Status 0 is no answer."""
        started = perf_counter()
        answer = self.client.request(
            method, path, data=body, headers=self.headers, name=name or path
        )
        took = perf_counter() - started
        status = answer.status_code
        RECORDER.record(kind, time(), took, None if 200 <= status < 300 else str(status))
        return status, answer.text or ""


class Matching(Copse):
    """Sends matches."""

    abstract = True
    kind = path = ""
    openrtb = False

    def wait_time(self) -> float:
        return float(constant_throughput(SETTINGS.pace)(self)) if SETTINGS.pace else 0.0

    def on_start(self) -> None:
        super().on_start()
        self.bodies = _requests(self.openrtb)

    @task
    def ask(self) -> None:
        place = self.rng.randrange(len(self.bodies))
        sent = time()
        status, answer = self.send(self.kind, "POST", self.path, self.bodies[place])
        PACE.matched()
        if status in (200, 204):
            _sample(place, sent, status, answer)


class MatchUser(Matching):
    """An ad server."""

    weight = 19
    kind, path = "match", "/v1/match"


class OpenrtbUser(Matching):
    """An exchange."""

    kind, path, openrtb = "openrtb", "/v1/openrtb", True


class ChurnUser(Copse):
    """A campaign manager with its own advertiser."""

    weight = 1
    fixed_count = SETTINGS.churners

    def on_start(self) -> None:
        super().on_start()
        self.headers["If-Match"] = "*"
        fields = json.dumps({"name": "load test"})
        _, answer = self.send("advertiser", "POST", "/v1/advertisers", fields)
        self.advertiser = json.loads(answer)["id"] if answer.startswith("{") else 0

    @task
    def manage_a_campaign(self) -> None:
        id: int | None = None
        for write in life(self.rng, self.advertiser, _targetings()):
            while not PACE.take(perf_counter()):
                gevent.sleep(0.005)
            status, answer = self._write(write, id)
            if not 200 <= status < 300:
                return  # the following writes would fail, too
            if id is None:
                id = json.loads(answer)["id"]

    def _write(self, write: Write, id: int | None) -> tuple[int, str]:
        body = None if write.body is None else json.dumps(write.body)
        path = write.path.format(id=id)
        return self.send(write.kind, write.method, path, body, f"{write.method} {write.path}")


@cache
def _requests(openrtb: bool) -> list[str]:
    """The bodies, read or generated once per process."""
    if SETTINGS.bodies is not None:
        return SETTINGS.bodies.read_text().splitlines()
    drawn = workload_of(openrtb, SETTINGS.seed).events(BODIES)
    return [body.decode() for body in bodies_of(openrtb, drawn)]


@cache
def _targetings() -> list[str]:
    if SETTINGS.texts is not None:
        return SETTINGS.texts.read_text().splitlines()
    return workload_of(False, SETTINGS.seed).texts(TEXTS)


def _sample(place: int, sent: float, status: int, answer: str) -> None:
    global _sampled_at
    if SETTINGS.directory is None or sent - _sampled_at < SAMPLE_SECONDS:
        return
    _sampled_at = sent
    sample = {"place": place, "sent": sent, "at": time(), "status": status, "answer": answer}
    _samples.append(json.dumps(sample) + "\n")
