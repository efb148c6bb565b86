"""The cost of a bid request over HTTP, compared with a no-op and with the index alone.

Every request has one imp, one format and no deal. The no-op and the service take turns at maximum
load; `overhead_us` is the service's CPU per request minus the no-op's and minus a match in a tight
loop. The match metric of the service is of no use here: for a bid request it includes the mapping.
"""

import os
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime

import orjson

from bench.index.measure import Result
from bench.service.load import ROUNDS, Figures, drive, median, result_of
from testkit import local_index
from testkit.client import Client
from testkit.progress import Progress
from testkit.servers import redis_server
from testkit.service import NotServing, noop, service
from testkit.stage import stage
from testkit.workloads.ads_openrtb import AdsOpenRtb, bid_request
from testkit.workloads.workload import Event

PATH = "/v1/openrtb"
FIELDS = ("server", "requests_per_s", "cpu_us", "match_alone_us", "overhead_us", "had_cpu")


def bodies_of(events: Sequence[Event]) -> list[bytes]:
    """A bid request without deals for each event."""
    year = datetime.now(UTC).year
    plain = enumerate(map(without_deals, events))
    return [orjson.dumps(bid_request(event, number, year)) for number, event in plain]


def without_deals(event: Event) -> Event:
    """The rest of an event."""
    return {name: value for name, value in event.items() if name != "imp.deals"}


def measure(
    campaigns: int, seconds: int, connections: int, progress: Progress, rounds: int = ROUNDS
) -> list[Result]:
    """One result for the no-op, one for the service."""
    load = round(os.getloadavg()[0], 2)
    made = stage(campaigns, progress, AdsOpenRtb(), bodies_of=bodies_of)
    with made as ground, redis_server() as redis:
        with service("service", ground.url, campaigns, redis_url=redis.url) as serving:
            bodies = ground.sample(len(ground.events))
            answer = median(_answers(serving.port, ground.token, bodies))
            file = ground.directory / "answer"
            file.write_bytes(answer)
            with noop(file) as empty:
                figures = {server.name: Figures() for server in (empty, serving)}
                for turn in range(rounds):
                    for server in (empty, serving):
                        progress.show(server.name, turn, rounds)
                        into = figures[server.name]
                        drive(server, ground, seconds, connections, into, turn == 0, PATH)
        alone = local_index.match_cpu_us(ground.index(), list(map(without_deals, ground.events)))
    progress.done()
    rounds_of = zip(figures["service"].cpu, figures["noop"].cpu, strict=True)
    over = statistics.median(cpu - noop - alone for cpu, noop in rounds_of)
    common = {
        "campaigns": campaigns,
        "body_bytes": len(median(bodies)),
        "answer_bytes": len(answer),
        "load_before": load,
    }
    found = {"match_alone_us": round(alone, 1), "overhead_us": round(over, 1)}
    return [
        {"server": "noop", **common, **result_of(figures["noop"])},
        {"server": "service", **common, **result_of(figures["service"]), **found},
    ]


def _answers(port: int, token: str, bodies: list[bytes]) -> list[bytes]:
    """The answers with a body."""
    with Client(port, token) as client:
        answers = [client.send("POST", PATH, body) for body in bodies]
    if wrong := [answer for answer in answers if answer.status not in (200, 204)]:
        raise NotServing(f"{PATH}: {wrong[0].status} {wrong[0].body.decode()}")
    return [answer.body for answer in answers if answer.status == 200]
