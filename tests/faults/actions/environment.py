"""Faults of the network, the disk and the clock."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults import proxy
from tests.faults.schedule import Fault
from tests.faults.stage import Stage


def _proxy_of(stage: Stage, fault: Fault) -> proxy.Proxy:
    return stage.postgres_proxy if fault.target == "postgres" else stage.redis_proxy


@contextmanager
def cut(stage: Stage, fault: Fault) -> Iterator[str]:
    _proxy_of(stage, fault).cut()
    yield ""


@contextmanager
def turned(stage: Stage, fault: Fault) -> Iterator[str]:
    before = _proxy_of(stage, fault)
    before.turn(fault.kind.rpartition(".")[2])
    try:
        yield ""
    finally:
        before.turn(proxy.PASS)


@contextmanager
def slow(stage: Stage, fault: Fault) -> Iterator[str]:
    before = _proxy_of(stage, fault)
    before.delay = fault.amount
    try:
        yield f"{fault.amount:g} s"
    finally:
        before.delay = 0.0


@contextmanager
def disk_full(stage: Stage, _: Fault) -> Iterator[str]:
    def pids() -> list[int]:
        return [stage.service.pid, *stage.workers().values()]

    stage.disk.fill(pids())
    try:
        yield stage.disk.means
    finally:
        stage.disk.clear(pids())


@contextmanager
def clock_step(stage: Stage, fault: Fault) -> Iterator[str]:
    stage.clock.step(int(fault.amount))
    try:
        yield f"{fault.amount:+g} s"
    finally:
        stage.clock.step(0)
