"""The users of Locust: `locust -f loadtest/locustfile.py MatchUser` (docs/loadtest.md).

Each process keeps a ledger of its own (ledger.py) and a sample of the answers, if it is told where
(instructions.py): Locust's own figures are whole milliseconds, and come every three seconds.
"""

import json
import os
from itertools import count
from random import Random
from time import perf_counter, time
from typing import Any

import gevent
from locust import FastHttpUser, constant_throughput, events, task
from locust.env import Environment

from loadtest.churn import Pace, Write, life
from loadtest.instructions import Instructions
from loadtest.ledger import Ledger
from loadtest.traffic import BODIES, bodies_of, lines_in, texts_of, workload_of

TOLD = Instructions.from_environment()
LEDGER = Ledger()
PACE = Pace(TOLD.share, TOLD.writes)
SAMPLE_SECONDS = 0.1
"""How often a process keeps an answer."""

_numbers = count()
_samples: list[str] = []
_sampled_at = 0.0
_bodies: dict[bool, list[str]] = {}
_texts: list[str] = []


@events.init.add_listener
def keep_ledger(environment: Environment, **_: object) -> None:
    """Write the ledger down every second, from when the process has its role on."""
    if TOLD.directory is not None:
        gevent.spawn(_keep)


def _keep() -> None:
    assert TOLD.directory is not None
    name = f"{os.getpid()}.jsonl"
    with (
        (TOLD.directory / f"ledger-{name}").open("w") as ledger,
        (TOLD.directory / f"samples-{name}").open("w") as samples,
    ):
        while True:
            gevent.sleep(1.0 - time() % 1.0)
            LEDGER.write(ledger, time())
            samples.writelines(_samples)
            samples.flush()
            _samples.clear()


class Copse(FastHttpUser):
    """What all users have: a key, and a random generator of their own."""

    abstract = True
    network_timeout = connection_timeout = 30.0

    def on_start(self) -> None:
        index = getattr(self.environment.runner, "worker_index", 0)
        self.rng = Random(f"{type(self).__name__} {TOLD.seed} {index} {next(_numbers)}")
        self.headers = {
            "Authorization": f"Bearer {TOLD.token}",
            "Content-Type": "application/json",
        }

    def send(
        self, kind: str, method: str, path: str, body: str | None, name: str | None = None
    ) -> tuple[int, str]:
        """The status and the body of an answer, which is in the ledger; 0 is no answer."""
        started = perf_counter()
        answer = self.client.request(
            method, path, data=body, headers=self.headers, name=name or path
        )
        took = perf_counter() - started
        status = answer.status_code
        LEDGER.record(kind, time(), took, None if 200 <= status < 300 else str(status))
        return status, answer.text or ""


class Asking(Copse):
    """Asks which campaigns want a request, again and again."""

    abstract = True
    kind = path = ""
    openrtb = False

    def wait_time(self) -> float:
        return float(constant_throughput(TOLD.pace)(self)) if TOLD.pace else 0.0

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


class MatchUser(Asking):
    """An ad server."""

    weight = 19
    kind, path = "match", "/v1/match"


class OpenrtbUser(Asking):
    """An exchange."""

    kind, path, openrtb = "openrtb", "/v1/openrtb", True


class ChurnUser(Copse):
    """A campaign manager, with an advertiser of its own."""

    weight = 1
    fixed_count = TOLD.churners

    def on_start(self) -> None:
        super().on_start()
        self.headers["If-Match"] = "*"
        fields = json.dumps({"name": "load test"})
        _, answer = self.send("advertiser", "POST", "/v1/advertisers", fields)
        self.advertiser = json.loads(answer)["id"] if answer.startswith("{") else 0

    @task
    def lead_a_campaign(self) -> None:
        id: int | None = None
        for write in life(self.rng, self.advertiser, _targetings()):
            while not PACE.take(perf_counter()):
                gevent.sleep(0.005)
            status, answer = self._write(write, id)
            if not 200 <= status < 300:
                return  # the rest of its life would go wrong, too
            if id is None:
                id = json.loads(answer)["id"]

    def _write(self, write: Write, id: int | None) -> tuple[int, str]:
        body = None if write.body is None else json.dumps(write.body)
        path = write.path.format(id=id)
        return self.send(write.kind, write.method, path, body, f"{write.method} {write.path}")


def _requests(openrtb: bool) -> list[str]:
    """The bodies, read or generated once in a process."""
    if openrtb not in _bodies:
        if TOLD.bodies is not None:
            _bodies[openrtb] = lines_in(TOLD.bodies)
        else:
            drawn = workload_of(openrtb, TOLD.seed).events(BODIES)
            _bodies[openrtb] = [body.decode() for body in bodies_of(openrtb, drawn)]
    return _bodies[openrtb]


def _targetings() -> list[str]:
    if not _texts:
        read = lines_in(TOLD.texts) if TOLD.texts else texts_of(workload_of(False, TOLD.seed))
        _texts.extend(read)
    return _texts


def _sample(place: int, sent: float, status: int, answer: str) -> None:
    global _sampled_at
    if TOLD.directory is None or sent - _sampled_at < SAMPLE_SECONDS:
        return
    _sampled_at = sent
    told: dict[str, Any] = {"place": place, "sent": sent, "at": time(), "answer": answer}
    _samples.append(json.dumps(told | {"status": status}) + "\n")
