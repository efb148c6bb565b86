"""Faults of the second host: cut off, dead, drained, or asked for more than it can do."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.actions.effect import Effect
from tests.faults.bounds import HEALTH_SECONDS
from tests.faults.schedule import SECOND, Fault
from tests.faults.service import PORT
from tests.faults.stage import ROOT, Stage

_BURST_SECONDS = 60.0
"""How long a burst may take to end after its last request."""


@contextmanager
def host_cut(stage: Stage, _: Fault) -> Iterator[Effect]:
    """Postgres and Redis are gone for it, and it for them: no packet says so."""
    stage.second.cut()
    try:
        yield Effect(host=SECOND)
    finally:
        stage.second.heal()


@contextmanager
def host_kill(stage: Stage, _: Fault) -> Iterator[Effect]:
    service = stage.services[SECOND]
    stage.second.die()
    service.kill()
    try:
        yield Effect(host=SECOND)
    finally:
        stage.second.heal()
        service.start()


@contextmanager
def host_drain(stage: Stage, _: Fault) -> Iterator[Effect]:
    service = stage.services[SECOND]
    try:
        service.drain()
        yield Effect(host=SECOND)
    finally:
        service.start()


@contextmanager
def host_burst(stage: Stage, fault: Fault) -> Iterator[Effect]:
    """`burst.py` sends the matches from a process of its own."""
    command = [sys.executable, "-m", "tests.faults.burst", PORT, fault.amount, fault.seconds]
    with stage.services[SECOND].entered():
        sending = subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"BURST_TOKEN": stage.token},
        )
    effect = Effect(host=SECOND)
    yield effect
    told, _ = sending.communicate(timeout=_BURST_SECONDS)
    if sending.returncode != 0:
        raise RuntimeError(f"the burst ended with {sending.returncode}")
    effect.message = told.strip()
    seconds = json.loads(told)["health"]
    if seconds > HEALTH_SECONDS:
        effect.broken = f"health: /healthz/live took {seconds} s; {effect.message}"
