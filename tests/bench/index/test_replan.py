"""`python -m bench replan`: activating statistics replans every expression, changes no answer, and
keeps matches and inserts waiting only briefly."""

import json
from itertools import islice

import pytest

from bench.index import replan
from bench.index.measure import Disagreement
from bench.index.replan import ACTIVATED, ALONE, WITHDRAWN, Phase, Replan
from index import Index
from testkit.workloads import make
from tests.bench.conftest import Bench

N = 3000
MOST_HELD = 0.2
"""Longest hold as a share of the activation's CPU; one single hold would be above a third."""

Plans = list[str]


@pytest.fixture(scope="module")
def measured() -> tuple[list[Phase], list[Plans]]:
    """The phases, and the plan of every expression before the first and after each."""
    measuring = Replan(make("ads"), N)
    phases, plans = [], [plans_of(measuring.index)]
    for phase in measuring.phases(0.2):
        phases.append(phase)
        plans.append(plans_of(measuring.index))
    return phases, plans


def plans_of(index: Index) -> Plans:
    return [index._native().core.plan(id) for id in range(N)]


def test_no_activation_keeps_matches_out_for_long(measured: tuple[list[Phase], object]) -> None:
    phases, _ = measured
    assert [phase.name for phase in phases] == [ALONE, ACTIVATED, ALONE, WITHDRAWN]
    for phase in phases:
        assert phase.match
        assert phase.insert
        assert phase.hold > 0  # the inserts, at the least
        if phase.name != ALONE:
            assert phase.hold <= MOST_HELD * phase.cpu, phase.name


def test_every_expression_is_replanned(measured: tuple[object, list[Plans]]) -> None:
    _, (before, _, activated, *_) = measured
    workload = make("ads")
    fresh = Index(workload.schema)
    fresh.use_statistics(Replan(workload, N).statistics)
    fresh.insert_json(
        (id, tree.encode()) for id, tree in enumerate(islice(workload.expressions(), N))
    )
    wanted = plans_of(fresh)
    changes = [id for id in range(N) if wanted[id] != before[id]]
    assert len(changes) > N / 2
    kept = sum(activated[id] == before[id] for id in changes)
    assert kept < 0.05 * len(changes)  # a tie between two plans may be broken either way


def test_statistics_are_used_and_then_they_are_not() -> None:
    measuring = Replan(make("ads"), 200)
    used = [measuring.index.stats()["has_statistics"] for _ in measuring.phases(0.01)]
    assert used == [False, True, True, False]


def test_a_changed_answer_is_an_error() -> None:
    measuring = Replan(make("ads"), 200)
    phases = measuring.phases(0.01)
    next(phases)
    for id in range(200):
        measuring.index.remove(id)
    with pytest.raises(Disagreement, match="the answers are not those from before"):
        next(phases)


def test_every_phase_has_its_line(bench: Bench) -> None:
    command = ["replan", "-n", "200", "--seconds", "0.05"]
    results = [json.loads(line) for line in bench(*command, "--json")]
    assert [result["phase"] for result in results] == [ALONE, ACTIVATED, ALONE, WITHDRAWN]
    for result in results:
        for kind in ("match", "insert"):
            quantiles = [result[f"{kind}_{name}_ms"] for name in replan.QUANTILES]
            assert quantiles == sorted(quantiles)
    table = bench(*command)[2:]
    assert len(table) == 6
    assert len({line.count("|") for line in table}) == 1
