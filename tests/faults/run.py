"""One run: start the stage, send traffic, inject the schedule's faults, record the history.

stage ──▶ prepare ──▶ traffic + faults ──▶ repair ──▶ in step? ──▶ stop ──▶ read the database
"""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from campaigns.advertiser import service as advertiser
from campaigns.database.engine import Database
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from campaigns.store import Store
from testkit.client import Client
from tests.faults import workload
from tests.faults.bounds import MATCH_TIMEOUT, STEP_SECONDS, WRITE_TIMEOUT
from tests.faults.database import read_truth
from tests.faults.history import Begin, History
from tests.faults.impressions import read_impressions
from tests.faults.injector import Injector
from tests.faults.matchers import MatchClient, Matcher
from tests.faults.schedule import HOSTS, WORKERS, Fault
from tests.faults.service import PORT
from tests.faults.stage import ROOT, Stage, stage
from tests.faults.watcher import Watcher
from tests.faults.writers import Writer

WRITERS = 4
MATCHERS = 4
"""Half of them on each host."""

_ACTOR = "faults"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two requests of a client. They are slow: the faults are the load."""

    write: float = 0.2
    match: float = 0.15
    look: float = 0.8


Progress = Callable[[float, History, Sequence[Fault]], None]
"""Progress callback, every second: (elapsed seconds, history, faults started)."""


def run(
    seed: int,
    seconds: float,
    faults: Sequence[Fault],
    directory: Path,
    tree: Path = ROOT,
    pace: Pace = Pace(),  # noqa: B008 (immutable)
    patience: float = STEP_SECONDS,
    progress: Progress = lambda *_: None,
) -> History:
    """Run the schedule and return the history. `tree` holds the packages of the service;
    `patience` is how long the indexes may take at the end to equal the database."""
    with stage(directory, tree) as running:
        begin = dataclasses.replace(_prepare(running, seed), wall=time.time())
        history = running.history = History([begin])
        elapsed = history.elapsed
        traffic = _traffic(running, seed, begin, pace)
        injector = Injector(running)
        for each in traffic:
            each.start()
        begun: list[Fault] = []
        waiting = list(faults)
        while elapsed() < seconds:
            while waiting and waiting[0].at <= elapsed():
                begun.append(waiting.pop(0))
                injector.inject(begun[-1])
            progress(elapsed(), history, begun)
            until = min(1.0, seconds - elapsed(), *(fault.at - elapsed() for fault in waiting[:1]))
            time.sleep(max(0.0, until))
        injector.wait()
        for each in traffic:
            each.stop()
        for each in traffic:
            each.join()
        _end(running, begin, patience)
    return history


def _prepare(running: Stage, seed: int) -> Begin:
    """Create a key with all scopes and an advertiser per writer, directly in the database."""

    async def work() -> None:
        async with Database(running.postgres.url) as database:
            store = Store(database)
            new = await key.create(store, _ACTOR, {"name": "faults", "scopes": list(SCOPES)})
            running.token = new.token
            for number in range(WRITERS):
                made = await advertiser.create(store, _ACTOR, {"name": f"writer {number}"})
                running.advertisers.append(made.id)

    asyncio.run(work())
    _, head = read_truth(running.postgres.url)
    for service in running.services:
        with service.entered(), Client(PORT, running.token, MATCH_TIMEOUT) as client:
            _until(lambda: client.send("GET", "/v1/attributes").status == 200, STEP_SECONDS)
    return Begin(head.epoch, head.rev, 0.0, workload.texts(seed), workload.events(seed))


def _traffic(
    running: Stage, seed: int, begin: Begin, pace: Pace
) -> list[Writer | Matcher | Watcher]:
    token, history = running.token, running.history
    traffic: list[Writer | Matcher | Watcher] = [
        Watcher(running, service, pace.look) for service in running.services
    ]
    for number in range(MATCHERS):
        service = running.services[number % HOSTS]
        sent = (service, token, pace.match, begin.events, history)
        traffic.append(Matcher(number, seed, *sent))
    for number, owner in enumerate(running.advertisers):
        service = running.services[number % HOSTS]
        client = Client(PORT, token, WRITE_TIMEOUT)
        asks = Client(PORT, token, MATCH_TIMEOUT)
        place = (f"writer {number}", service.number)
        match_client = MatchClient(*place, asks, begin.events, history)
        what = (begin.texts, begin.wall, pace.write, history)
        traffic.append(Writer(number, seed, owner, service, client, match_client, *what))
    return traffic


def _end(running: Stage, begin: Begin, patience: float) -> None:
    """With no writes and no faults left: does every index equal the database?"""
    watchers = [Watcher(running, service) for service in running.services]
    message = ""

    def in_step() -> bool:
        nonlocal message
        _, end = read_truth(running.postgres.url)
        looks = [watcher.look() for watcher in watchers]
        workers = [each for look in looks if look for each in look.workers]
        message = f"the database is at {end.rev} {end.digest}, the workers at " + ", ".join(
            f"{each['rev']} {each['digest']}" for each in workers
        )
        places = [(each["epoch"], each["rev"], each["digest"]) for each in workers]
        return places == [(end.epoch, end.rev, end.digest)] * HOSTS * WORKERS

    is_in_step = _until(in_step, patience)
    for service in running.services:
        service.drain()
    commits, end = read_truth(running.postgres.url)
    history = running.history
    history.add(*commits, *read_impressions(running.disk.directory, begin.events))
    history.add(dataclasses.replace(end, in_step=is_in_step, message=message))


def _until(check: Callable[[], bool], seconds: float) -> bool:
    """Wait until `check` holds; returns whether it did in time."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True
