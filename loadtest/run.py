"""One run: from an empty database to the figures."""

import asyncio
import os
import platform
import threading
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from app.observability.engine import current_engine
from index import Index
from loadtest.feed_bytes import feed_bytes
from loadtest.figures import Figures, counted, errors_of, rows_of
from loadtest.latencies import Kinds, total
from loadtest.locust_process import LocustProcess, locust_process
from loadtest.monitor import Monitor, Sample
from loadtest.plan import RAMP_SECONDS, Plan
from loadtest.statistics import activate, keep
from loadtest.traffic import bodies_of, workload_of
from testkit import wrk
from testkit.answers import Checked, answer_of, answers_in, check
from testkit.client import Client
from testkit.constant_rate import milliseconds
from testkit.machine import processor
from testkit.progress import Progress
from testkit.sampler import Sampler
from testkit.servers import redis_server
from testkit.service import NotServing, Server, service
from testkit.stage import Stage, stage

_SETTINGS = ("fsync=on", "max_wal_size=4GB")
"""Postgres syncs to disk, as in production."""

_WARM_SECONDS = 2
_SAMPLE = 200
_LOAD_SECONDS = 900


def run(plan: Plan, folder: Path, progress: Progress) -> Figures:
    """Start everything, generate the load, check the answers, stop everything. Locust writes its
    page to `folder`."""
    machine = _machine()
    openrtb = plan.scenario.openrtb
    with (
        stage(
            plan.campaigns,
            progress,
            workload_of(openrtb, plan.seed),
            plan.bodies,
            _SETTINGS,
            lambda events: bodies_of(openrtb, events),
        ) as staged,
        redis_server() as redis,
        service(
            "service", staged.url, plan.campaigns, workers=plan.workers, redis_url=redis.url
        ) as server,
    ):
        if plan.scenario.statistics:
            asyncio.run(keep(staged.url, staged.workload.schema, staged.events))
        progress.show("workers load", 0, 1)
        _wait_for_workers(server, staged, plan)
        index = staged.index()
        driven = _wrk(plan, staged, server, progress)
        with locust_process(plan, staged, server.url, folder) as locust:
            sampler = Sampler(Monitor(server, locust.process.pid))
            first = locust.first_second()
            notes = _watch(plan, staged, server, locust, sampler, first, progress)
            seconds = locust.seconds()
            answers = answers_in(locust.samples())
        progress.show("answers", 0, 1)
        from_start = plan.campaigns if plan.scenario.writes else None
        checked = check(index, staged.events, answers, from_start)
        rev, digest = staged.settle(server)
        checked.add(_check_after(plan, staged, server, index))
        change_bytes = feed_bytes(staged.url, redis.url) if plan.scenario.writes else None
    progress.done()
    start = first + RAMP_SECONDS
    those = counted(seconds, first, plan)
    return Figures(
        plan=plan,
        machine=machine,
        rows=rows_of(those, plan.seconds),
        samples=[each for each in sampler.samples if 0 < each.at - start <= plan.seconds],
        errors=errors_of(those),
        checked=checked,
        digest=f"{digest} at rev {rev}",
        notes=notes if driven else [*notes, "wrk was not run"],
        change_bytes=change_bytes,
        wrk_rate=driven.rate if driven else None,
        wrk_refused=driven.refused if driven else 0,
        missed=sampler.missed,
    )


def _wait_for_workers(server: Server, staged: Stage, plan: Plan) -> None:
    """Wait until each worker has every campaign."""
    deadline = time.monotonic() + _LOAD_SECONDS
    while time.monotonic() < deadline:
        loaded = [worker["campaigns"] for worker in server.workers(staged.token)]
        if loaded == [plan.campaigns] * plan.workers:
            return
        time.sleep(0.1)
    raise NotServing(f"the workers have {loaded} campaigns, not {plan.campaigns} each")


def _wrk(plan: Plan, staged: Stage, server: Server, progress: Progress) -> wrk.Driven | None:
    """Warm up, then measure the maximum throughput."""
    path = plan.scenario.path
    if path is None or not plan.wrk_seconds:
        return None
    progress.show("warm up", 0, 1)
    arguments = (server.url, staged.bodies, staged.token)
    wrk.drive(*arguments, min(_WARM_SECONDS, plan.wrk_seconds), plan.users, path)
    progress.show("wrk", 0, 1)
    return wrk.drive(*arguments, plan.wrk_seconds, plan.users, path)


def _watch(
    plan: Plan,
    staged: Stage,
    server: Server,
    locust: LocustProcess,
    sampler: Sampler[Sample],
    first: int,
    progress: Progress,
) -> list[str]:
    """Sample until Locust ends, and activate statistics in the middle if the scenario says so;
    returns notes for the report."""
    notes: list[str] = []
    middle = threading.Timer(
        max(0.0, first + RAMP_SECONDS + plan.seconds / 2 - time.time()),
        lambda: notes.append(f"Statistics in the middle: {activate(server, staged.token)}"),
    )
    sampler.start()
    if plan.scenario.statistics:
        middle.start()
    try:
        locust.wait(lambda seconds: _show(plan, first, seconds, sampler, progress))
    finally:
        sampler.stop()
        sampler.join()
        if plan.scenario.statistics:
            middle.join()
    return notes


def _show(
    plan: Plan,
    first: int,
    seconds: dict[int, Kinds],
    sampler: Sampler[Sample],
    progress: Progress,
) -> None:
    """Show the last complete second, all Locust processes together."""
    elapsed = time.time() - first
    last = seconds.get(int(time.time()) - 2, {})
    times = sorted(total(last.values()).times)
    p50, p99 = (milliseconds(times, share) or "–" for share in (0.5, 0.99))
    errors = sum(each.errors.total() for kinds in seconds.values() for each in kinds.values())
    text = f"{len(times):,}/s, p50 {p50} ms, p99 {p99} ms, {errors} errors"
    if sampler.samples:
        sample = sampler.samples[-1]
        text += f", service {sample.server:.2f} cores {sample.memory / 1e6:,.0f} MB"
        text += "" if sample.lag_seconds is None else f", lag {sample.lag_seconds:.2f} s"
    whole = plan.seconds + RAMP_SECONDS
    progress.show(f"{plan.scenario_name}: {text}", min(int(elapsed), whole), whole + 1)


def _check_after(plan: Plan, staged: Stage, server: Server, index: Index) -> Checked:
    """Without writes the answers must be exactly those of the database."""
    if plan.scenario.writes:
        index = staged.index()
    path = plan.scenario.path or "/v1/match"
    answers = []
    with Client(server.port, staged.token) as client:
        for place, body in enumerate(staged.sample(_SAMPLE)):
            sent = time.time()
            answer = client.send("POST", path, body)
            text = answer.body.decode()
            answers.append(answer_of(place, sent, time.time(), answer.status, text))
    return check(index, staged.events, answers)


def _machine() -> dict[str, str]:
    engine = current_engine()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{os.cpu_count()} × {processor()}",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "python": platform.python_version(),
        "copse": f"{version('copse')}, {engine.name} engine",
        "locust": version("locust"),
    }
