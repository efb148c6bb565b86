"""A run: the stage, the traffic, the faults of a schedule, and the history of it all.

stage ──▶ prepare ──▶ traffic + faults ──▶ mend ──▶ in step? ──▶ end ──▶ what the database says
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
from tests.faults import questions
from tests.faults.bounds import MATCH_TIMEOUT, STEP_SECONDS, WRITE_TIMEOUT
from tests.faults.client import Client
from tests.faults.history import Begin, History
from tests.faults.impressions import read_impressions
from tests.faults.injecting import Injector
from tests.faults.matching import Asking, Matcher
from tests.faults.schedule import WORKERS, Fault
from tests.faults.stage import ROOT, Stage, stage
from tests.faults.truth import read_truth
from tests.faults.watching import Watcher
from tests.faults.writing import Writer

WRITERS = 2
MATCHERS = 3
_ACTOR = "faults"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two things that one client does. Slow: the faults are the load."""

    write: float = 0.12
    match: float = 0.12
    look: float = 0.7


Progress = Callable[[float, History, Sequence[Fault]], None]
"""Told every second: how long the run has been going, what was seen, and the faults so far."""


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
    """Run the schedule; the history, whatever it shows. `tree` has the packages of the service,
    `patience` is how long its indexes have at the end to become the database."""
    history = History()
    with stage(directory, tree) as running:
        token, advertisers, prepared = _prepare(running, seed)
        started, begin = time.monotonic(), dataclasses.replace(prepared, wall=time.time())
        history.add(begin)

        def elapsed() -> float:
            return time.monotonic() - started

        traffic = _traffic(running, seed, token, advertisers, begin, pace, history, elapsed)
        injector = Injector(running, history, elapsed)
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
        if injector.failed:
            raise RuntimeError(f"faults could not be injected: {injector.failed}")
        _end(running, token, begin, patience, history, elapsed)
    return history


def _prepare(running: Stage, seed: int) -> tuple[str, list[int], Begin]:
    """A key for everything, an advertiser for each writer; nobody of the service is asked."""

    async def work() -> tuple[str, list[int]]:
        async with Database(running.postgres.url) as database:
            store = Store(database)
            new = await key.create(store, _ACTOR, {"name": "faults", "scopes": list(SCOPES)})
            made = [
                await advertiser.create(store, _ACTOR, {"name": f"writer {number}"})
                for number in range(WRITERS)
            ]
            return new.token, [each.id for each in made]

    token, advertisers = asyncio.run(work())
    _, head = read_truth(running.postgres.url)
    begin = Begin(head.epoch, head.rev, 0.0, questions.texts(seed), questions.events(seed))
    client = Client(running.port, token, MATCH_TIMEOUT)
    _until(lambda: client.send("GET", "/v1/attributes").status == 200, STEP_SECONDS)
    client.leave()
    return token, advertisers, begin


def _traffic(
    running: Stage,
    seed: int,
    token: str,
    advertisers: list[int],
    begin: Begin,
    pace: Pace,
    history: History,
    elapsed: Callable[[], float],
) -> list[Writer | Matcher | Watcher]:
    port = running.port
    traffic: list[Writer | Matcher | Watcher] = [
        Watcher(port, token, pace.look, history, elapsed),
    ]
    for number in range(MATCHERS):
        sent = (port, token, pace.match, begin.events, history, elapsed)
        traffic.append(Matcher(number, seed, *sent))
    for number, owner in enumerate(advertisers):
        client = Client(port, token, WRITE_TIMEOUT)
        asks = Client(port, token, MATCH_TIMEOUT)
        asking = Asking(f"writer {number}", asks, begin.events, history, elapsed)
        what = (begin.texts, begin.wall, pace.write, history, elapsed)
        traffic.append(Writer(number, seed, owner, client, asking, *what))
    return traffic


def _end(
    running: Stage,
    token: str,
    begin: Begin,
    patience: float,
    history: History,
    elapsed: Callable[[], float],
) -> None:
    """Nobody writes any more and all is mended: is every index the database?"""
    watcher = Watcher(running.port, token, 0.0, history, elapsed)
    told = ""

    def in_step() -> bool:
        nonlocal told
        _, end = read_truth(running.postgres.url)
        look = watcher.look()
        workers = look.workers if look else []
        told = f"the database is at {end.rev} {end.digest}, the workers at " + ", ".join(
            f"{each['rev']} {each['digest']}" for each in workers
        )
        places = [(each["epoch"], each["rev"], each["digest"]) for each in workers]
        return places == [(end.epoch, end.rev, end.digest)] * WORKERS

    is_in_step = _until(in_step, patience)
    running.end_service()
    commits, end = read_truth(running.postgres.url)
    history.add(*commits, *read_impressions(running.disk.directory, begin.events))
    history.add(dataclasses.replace(end, in_step=is_in_step, told=told))


def _until(check: Callable[[], bool], seconds: float) -> bool:
    """Wait until it is so; whether it came true."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True
