"""One run: from an empty database to the figures."""

import os
import platform
import threading
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from app.observability.engine import current_engine
from index import Index
from loadtest.checking import Checked, answer_of, answers_in, check, settle
from loadtest.driving import Driving, driving
from loadtest.feed_bytes import feed_bytes
from loadtest.figures import Figures, Mark, counted, errors_of, rows_of, seconds_of
from loadtest.ground import Ground, ground
from loadtest.ledger import Kinds, total
from loadtest.plan import RAMP_SECONDS, Plan
from loadtest.statistics import Activation, activate
from loadtest.watching import Watch
from testkit import wrk
from testkit.progress import Progress
from testkit.service import NotServing, Server, service

_WARM_SECONDS = 2
_SAMPLE = 200
_LOAD_SECONDS = 900


def run(plan: Plan, progress: Progress) -> Figures:
    """Start everything, drive it, check it, stop it."""
    machine = _machine()
    with (
        ground(plan, progress) as on,
        service(
            "service", on.database, plan.campaigns, workers=plan.workers, redis_url=on.redis
        ) as server,
    ):
        progress.show("workers load", 0, 1)
        _wait_for_workers(server, on, plan)
        index = on.index()
        notes: list[str] = []
        found = _wrk(plan, on, server, progress, notes)
        with driving(plan, on, server.url) as locust:
            watch = Watch(server, locust.process.pid)
            first = locust.begun()
            activation = _drive(plan, on, server, locust, watch, first, progress)
            seconds = locust.seconds()
            answers = answers_in(locust.samples())
        progress.show("answers", 0, 1)
        from_start = plan.campaigns if plan.scenario.writes else None
        checked = check(index, on.events, answers, from_start)
        digest = settle(server, on.token, on.database)
        checked.add(_check_after(plan, on, server, index))
        if plan.scenario.writes and (carried := feed_bytes(on.database, on.redis)):
            stream = "" if carried.stream is None else f", {carried.stream:,.0f} in the stream"
            notes.append(f"A change of a campaign has {carried.log:,.0f} bytes in the log{stream}.")
    progress.done()
    start = first + RAMP_SECONDS
    marks = []
    if activation is not None:
        notes.append(f"Statistics in the middle: {activation.told}.")
        if activation.at is not None:
            marks.append(Mark(activation.at - start, "statistics"))
    those = counted(seconds, first, plan)
    looks = [(look.at - start, look) for look in watch.looks]
    return Figures(
        plan=plan,
        machine=machine,
        begun=start,
        rows=rows_of(those, plan.seconds),
        seconds=seconds_of(those, start),
        looks=[(at, look) for at, look in looks if 0 < at <= plan.seconds],
        marks=marks,
        errors=errors_of(those),
        checked=checked,
        digest=digest,
        notes=notes,
        wrk_rate=found.rate if found else None,
        wrk_refused=found.refused if found else 0,
        unheard=watch.unheard,
    )


def _wait_for_workers(server: Server, on: Ground, plan: Plan) -> None:
    """Until each has every campaign."""
    deadline = time.monotonic() + _LOAD_SECONDS
    while time.monotonic() < deadline:
        loaded = server.campaigns(on.token)
        if loaded == [plan.campaigns] * plan.workers:
            return
        time.sleep(0.2)
    raise NotServing(f"the workers have {loaded} campaigns, not {plan.campaigns} each")


def _wrk(
    plan: Plan, on: Ground, server: Server, progress: Progress, notes: list[str]
) -> wrk.Driven | None:
    """Warm up, then as much as the service takes."""
    path = plan.scenario.path
    if path is None or not plan.wrk_seconds:
        notes.append("wrk was not run.")
        return None
    progress.show("warm up", 0, 1)
    arguments = (server.url, on.bodies, on.token)
    wrk.drive(*arguments, _WARM_SECONDS, plan.users, path)
    progress.show("wrk", 0, 1)
    return wrk.drive(*arguments, plan.wrk_seconds, plan.users, path)


def _drive(
    plan: Plan,
    on: Ground,
    server: Server,
    locust: Driving,
    watch: Watch,
    first: int,
    progress: Progress,
) -> Activation | None:
    """Watch until Locust ends; in the middle statistics are activated, where the plan has it."""
    done: list[Activation] = []
    middle = threading.Timer(
        max(0.0, first + RAMP_SECONDS + plan.seconds / 2 - time.time()),
        lambda: done.append(activate(server, on.token)),
    )
    watch.start()
    if plan.scenario.statistics:
        middle.start()
    try:
        locust.wait(lambda seconds: _show(plan, first, seconds, watch, progress))
    finally:
        watch.stop()
        watch.join()
        if plan.scenario.statistics:
            middle.join()
    return done[0] if done else None


def _show(
    plan: Plan, first: int, seconds: dict[int, Kinds], watch: Watch, progress: Progress
) -> None:
    """What the last whole second was like, all processes of Locust together."""
    elapsed = time.time() - first
    last = seconds.get(int(time.time()) - 2, {})
    together = total(last.values())
    times = [together.percentile(share) for share in (0.5, 0.99)]
    p50, p99 = (f"{1000 * each:.1f}" if each is not None else "–" for each in times)
    wrong = sum(account.wrong for kinds in seconds.values() for account in kinds.values())
    told = f"{together.count:,}/s, p50 {p50} ms, p99 {p99} ms, {wrong} errors"
    if watch.looks:
        look = watch.looks[-1]
        told += f", service {look.server:.2f} cores {look.memory / 1e6:,.0f} MB"
        told += "" if look.lag_seconds is None else f", lag {look.lag_seconds:.2f} s"
    whole = plan.seconds + RAMP_SECONDS
    progress.show(f"{plan.scenario_name}: {told}", min(int(elapsed), whole), whole + 1)


def _check_after(plan: Plan, on: Ground, server: Server, index: Index) -> Checked:
    """When nobody writes any more the answers must be exactly those of the database."""
    if plan.scenario.writes:
        index = on.index()
    path = plan.scenario.path or "/v1/match"
    answers = []
    for place, body in enumerate(on.bodies.read_bytes().splitlines()[:_SAMPLE]):
        sent = time.time()
        status, told = server.ask(path, body, on.token)
        answers.append(answer_of(place, sent, time.time(), status, told.decode()))
    return check(index, on.events, answers)


def _machine() -> dict[str, str]:
    engine = current_engine()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{os.cpu_count()} × {_model()}",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "python": platform.python_version(),
        "copse": f"{version('copse')}, {engine.name} engine",
        "locust": version("locust"),
    }


def _model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
