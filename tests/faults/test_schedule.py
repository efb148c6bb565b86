"""The schedule is a function of its seed, and nothing else."""

from itertools import pairwise

import pytest

from tests.faults.bounds import CALM_SECONDS, SETTLE_SECONDS, STALE_SECONDS
from tests.faults.injector import ACTIONS
from tests.faults.schedule import KINDS, Fault, schedule

SEEDS = range(50)
FIVE_MINUTES = 300.0


def test_the_same_seed_is_the_same_schedule() -> None:
    assert schedule(7, FIVE_MINUTES) == schedule(7, FIVE_MINUTES)
    assert schedule(7, FIVE_MINUTES) != schedule(8, FIVE_MINUTES)


def test_a_seed_means_today_what_it_meant_yesterday() -> None:
    """A report names its seed: changing what it stands for makes reports lie."""
    assert schedule(1, 60.0)[:4] == (
        Fault(2.0, "command.migrate", host=1),
        Fault(4.79, "host.drain", host=1),
        Fault(5.39, "postgres.hang", 5.13, host=1),
        Fault(6.32, "redis.cut", host=1),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_two_faults_of_one_target_never_overlap(seed: int) -> None:
    by_target: dict[str, list[Fault]] = {}
    for fault in schedule(seed, FIVE_MINUTES):
        by_target.setdefault(fault.target, []).append(fault)
    for faults in by_target.values():
        assert all(sooner.end < later.at for sooner, later in pairwise(faults))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_has_calms_and_ends_in_one(seed: int) -> None:
    faults = schedule(seed, FIVE_MINUTES)
    last = max(fault.end for fault in faults)
    assert last + CALM_SECONDS <= FIVE_MINUTES
    ends = [max(each.end for each in faults[: place + 1]) for place in range(len(faults))]
    calms = [later.at - end for end, later in zip(ends, faults[1:], strict=False)]
    assert sum(calm >= CALM_SECONDS - 0.01 for calm in calms) >= 3
    assert CALM_SECONDS > SETTLE_SECONDS
    assert SETTLE_SECONDS > STALE_SECONDS


def test_every_kind_comes_within_minutes_and_can_be_done() -> None:
    names = {kind.name for kind in KINDS}
    assert {fault.kind for fault in schedule(1, FIVE_MINUTES)} == names
    assert set(ACTIONS) == names


def test_a_longer_run_has_the_faults_of_a_shorter_one() -> None:
    assert set(schedule(3, 120.0)) <= set(schedule(3, FIVE_MINUTES))
