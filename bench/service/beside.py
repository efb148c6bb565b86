"""Matches beside twelve clients that have expressions parsed, previewed and explained.

One worker gets matches at a constant rate, alone and beside each kind of client in turns; the
clients send one request after the other. Reported are the percentiles of the matches, how much
later p99 was than alone in the same round (the median over the rounds; the target is 5 ms), and how
many requests the clients had answered.

    small      expressions of an ordinary length, checked
    misspelt   expressions with a wrong name
    large      expressions of 50 KB, checked
    preview    the same as new campaigns, previewed
    explain    a campaign with such an expression, explained
    funnel     which attributes keep the campaigns out
"""

import argparse
import json
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.index.measure import Result
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.client import Client
from testkit.markdown import table
from testkit.progress import Progress
from testkit.service import NotServing, Server, service
from testkit.stage import Stage, stage

CLIENTS = 12
ROUNDS = 3
CONNECTIONS = 16
TARGET_MS = 5.0
ALONE = "alone"
WARM_SECONDS = 1.0

_STEADY = "testkit.constant_rate"
SMALL = "country in ('US', 'CA') and device.type = 'phone' and age between 18 and 34"
LARGE = " or ".join(f"age = {n} and age != {n + 1}" for n in range(1800))

Question = tuple[str, dict[str, Any]]


def questions(campaign_id: int, advertiser_id: int) -> dict[str, Question]:
    """The request of each kind of client."""
    validate = "/v1/expressions/validate"
    new = {"advertiser_id": advertiser_id, "name": "Large", "targeting": LARGE}
    attributes = {"country": "FR", "age": 30}
    explained = {"campaign_id": campaign_id, "attributes": attributes}
    return {
        "small": (validate, {"text": SMALL}),
        "misspelt": (validate, {"text": SMALL.replace("country", "contry")}),
        "large": (validate, {"text": LARGE}),
        "preview": ("/v1/campaigns/preview", new),
        "explain": ("/v1/explain", explained),
        "funnel": ("/v1/explain", {"attributes": attributes}),
    }


def measure(
    campaigns: int, rate: float, seconds: float, progress: Progress, rounds: int = ROUNDS
) -> list[Result]:
    """One result for each kind of client, the matches alone first."""
    with (
        stage(campaigns, progress) as ground,
        service("service", ground.url, campaigns) as server,
    ):
        asked = questions(*_large_campaign(server, ground.token))
        took: dict[str, list[Message]] = {name: [] for name in (ALONE, *asked)}
        answered: Counter[str] = Counter()
        for turn in range(rounds):
            for place, name in enumerate(took):
                progress.show(name, turn * len(took) + place, rounds * len(took))
                with _asking(server, ground.token, asked.get(name)) as done:
                    took[name].append(_matches(server, ground, rate, seconds))
                answered[name] += done[200] + done[422]
    progress.done()
    alone = [each["p99_ms"] for each in took[ALONE]]
    results: list[Result] = []
    for name, each in took.items():
        later = [one["p99_ms"] - base for one, base in zip(each, alone, strict=True)]
        results.append(
            {
                "beside": name,
                "clients": CLIENTS if name in asked else 0,
                **{
                    field: round(statistics.median(one[field] for one in each), 2)
                    for field in ("p50_ms", "p99_ms", "p99_9_ms")
                },
                "p99_later_ms": round(statistics.median(later), 2),
                "answered_per_s": round(answered[name] / (rounds * seconds), 1),
                "refused": sum(one["requests"] - one["statuses"].get("200", 0) for one in each),
                "met": statistics.median(later) <= TARGET_MS,
            }
        )
    return results


def _large_campaign(server: Server, token: str) -> tuple[int, int]:
    """A draft with a large targeting: its id, and its advertiser's."""
    with Client(server.port, token) as client:
        owner = client.send("POST", "/v1/advertisers", {"name": "Large"}).content["id"]
        body = {"advertiser_id": owner, "name": "Large", "targeting": LARGE}
        return client.send("POST", "/v1/campaigns", body).content["id"], owner


def _matches(server: Server, ground: Stage, rate: float, seconds: float) -> Message:
    arguments = (server.port, ground.bodies, ground.token, rate, seconds, CONNECTIONS, 0)
    with Child(_STEADY, *arguments) as client:
        return client.hear()


@contextmanager
def _asking(server: Server, token: str, question: Question | None) -> Iterator[Counter[int]]:
    """Twelve clients ask, one question after the other, until the block ends."""
    answered: Counter[int] = Counter()
    if question is None:
        yield answered
        return
    ended = threading.Event()
    path, body = question
    sent = json.dumps(body).encode()

    def ask() -> None:
        with Client(server.port, token, timeout=120) as client:
            while not ended.is_set():
                answered[client.send("POST", path, sent).status] += 1

    threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(WARM_SECONDS)
    answered.clear()
    try:
        yield answered
    finally:
        ended.set()
        for thread in threads:
            thread.join()
        if set(answered) - {200, 422}:
            raise NotServing(f"{path}: {dict(answered)}")


FIELDS = ("beside", "p50_ms", "p99_ms", "p99_9_ms", "p99_later_ms", "answered_per_s", "refused")


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    results = measure(
        arguments.campaigns, arguments.rate, arguments.seconds, Progress(), arguments.rounds
    )
    if arguments.json:
        for result in results:
            print(json.dumps(result))
        return
    print(table(FIELDS, [[result[name] for name in FIELDS] for result in results]))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `beside` on the command line."""
    command = commands.add_parser("beside", help="matches beside clients that parse and explain")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.add_argument("--rate", type=positive, default=500, help="matches a second")
    command.add_argument("--seconds", type=positive, default=5, help="length of a round")
    command.add_argument("--rounds", type=positive, default=ROUNDS)
    command.add_argument("--json", action="store_true", help="print one JSON object per kind")
    command.set_defaults(run=run)
