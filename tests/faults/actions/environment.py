"""Faults of the network before Postgres and Redis, the disk and the clock."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults import proxy
from tests.faults.actions.effect import Effect
from tests.faults.schedule import Fault
from tests.faults.stage import Stage

PROXIED = 0
"""The host whose service is behind the proxies."""


def _proxy_of(stage: Stage, fault: Fault) -> proxy.Proxy:
    return stage.postgres_proxy if fault.target == "postgres" else stage.redis_proxy


@contextmanager
def cut(stage: Stage, fault: Fault) -> Iterator[Effect]:
    _proxy_of(stage, fault).cut()
    yield Effect(host=PROXIED)


@contextmanager
def turned(stage: Stage, fault: Fault) -> Iterator[Effect]:
    before = _proxy_of(stage, fault)
    before.turn(fault.kind.rpartition(".")[2])
    try:
        yield Effect(host=PROXIED)
    finally:
        before.turn(proxy.PASS)


@contextmanager
def slow(stage: Stage, fault: Fault) -> Iterator[Effect]:
    before = _proxy_of(stage, fault)
    before.delay = fault.amount
    try:
        yield Effect(f"{fault.amount:g} s", host=PROXIED)
    finally:
        before.delay = 0.0


@contextmanager
def disk_full(stage: Stage, _: Fault) -> Iterator[Effect]:
    stage.disk.fill(stage.pids())
    try:
        yield Effect(stage.disk.means)
    finally:
        stage.disk.clear(stage.pids())


@contextmanager
def clock_step(stage: Stage, fault: Fault) -> Iterator[Effect]:
    stage.clock.step(int(fault.amount))
    try:
        yield Effect(f"{fault.amount:+g} s")
    finally:
        stage.clock.step(0)
