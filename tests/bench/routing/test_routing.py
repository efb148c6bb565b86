"""The simulated overlays: deliveries, matches, destination lists, and the thesis's figures."""

import json
from random import Random

import pytest

from bench.routing.algorithms import Message, Routes, d_dbr, filter_based, merc
from bench.routing.faults import deliveries, faults
from bench.routing.figures import (
    destination_lists,
    line_outcome,
    stored_entries,
    throughput,
)
from bench.routing.overlay import (
    Clusters,
    clustered,
    general,
    linear,
    links_of,
    next_hops,
    path,
    without,
)
from bench.routing.regions import regions
from bench.routing.simulation import Costs, Outcome, Publication, simulate
from tests.bench.conftest import Bench


def test_a_general_overlay_is_connected_and_has_the_degree() -> None:
    graph = general(70, 6, Random(3))
    assert len(links_of(graph)) == 210
    assert all(path(next_hops(graph, 0), 0, to) for to in range(70))


def test_dead_brokers_and_links_carry_nothing() -> None:
    graph = linear(4)
    assert path(next_hops(without(graph, {1}, set()), 0), 0, 3) is None
    assert path(next_hops(without(graph, set(), {(2, 3)}), 0), 0, 3) is None
    assert path(next_hops(graph, 0), 0, 3) == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(5))
def test_every_broker_that_wants_an_event_gets_it_once(seed: int) -> None:
    rng = Random(seed)
    clusters = clustered(3, 6, 3, rng)
    routes = Routes(clusters.graph)
    wanted_by = [frozenset(rng.sample(range(18), rng.randint(1, 18))) for _ in range(20)]
    publications = [
        Publication(float(place), rng.randrange(18), brokers)
        for place, brokers in enumerate(wanted_by)
    ]
    wanted = sum(map(len, wanted_by))
    for step in (filter_based(routes), d_dbr(routes), merc(routes, clusters)):
        outcome = simulate(publications, step, [10.0] * 18, Costs())
        assert len(outcome.latencies_ms) == wanted


def test_copies_carry_the_destinations_behind_their_next_hop() -> None:
    routes = Routes([[1, 2], [0, 3], [0], [1]])
    copies = routes.copies(0, Message(frozenset({0, 1, 2, 3})))
    assert [(hop, set(copy.to)) for hop, copy in copies] == [(1, {1, 3}), (2, {2})]


def test_the_example_of_figure_5_0_1_goes_to_a3_and_the_edge_then_to_b2_and_b6() -> None:
    a1, a2, a3, ab, b2, b6 = range(6)
    clusters = Clusters(
        [[a2, a3], [a1, ab], [a1], [a2, b2], [ab, b6], [b2]], [0, 0, 0, 1, 1, 1], [ab, ab]
    )
    step = merc(Routes(clusters.graph), clusters)
    wanted = frozenset({a3, b2, b6})
    matched, copies = step(a1, Message(wanted), wanted)
    assert matched
    assert {hop: set(copy.to) for hop, copy in copies} == {a2: {ab}, a3: {a3}}
    arrived = next(copy for hop, copy in copies if hop == a2)
    assert step(a2, arrived, wanted)[0] is False  # only forwards
    matched, copies = step(ab, arrived, wanted)
    assert matched
    assert {hop: set(copy.to) for hop, copy in copies} == {b2: {b2, b6}}


def line(name: str) -> Outcome:
    return line_outcome(name, 10, 2000, events=200)


def test_on_a_line_d_dbr_matches_twice_and_merc_three_times() -> None:
    matches = {name: line(name).matches / 200 for name in ("filter-based", "D-DBR", "MERC")}
    assert matches == {"filter-based": 10, "D-DBR": 2, "MERC": 3}
    assert line("MERC").latency_ms / line("D-DBR").latency_ms == pytest.approx(1.5, abs=0.15)


def test_the_figures_of_faults_and_stored_entries_are_the_thesiss() -> None:
    shares = [float(ours.rstrip("%")) for _, _, ours in faults(seed=1, draws=2)]
    assert shares == pytest.approx([21.8, 8.7, 86.2, 17.5], abs=6)
    entries = [float(ours.replace(",", "")) for _, _, ours in stored_entries(seed=1)]
    assert entries == pytest.approx([5005, 1800, 1945, 167, 221], rel=0.1)


def test_a_seed_gives_the_same_figures_every_time() -> None:
    assert throughput(seed=3, events=20) == throughput(seed=3, events=20)
    assert throughput(seed=3, events=20) != throughput(seed=4, events=20)


def test_the_command_prints_every_figure(bench: Bench) -> None:
    printed = bench("routing", "--events", "40")
    assert sum(line.startswith("###") for line in printed) == 7


def test_in_regions_d_dbr_matches_at_both_ends_alone(bench: Bench) -> None:
    matches = {each.algorithm: each.matches for each in regions(seed=1, events=200)}
    assert matches["D-DBR"] == 2.0
    assert matches["D-DBR"] < matches["MERC"] < matches["filter-based"]
    printed = json.loads("".join(bench("routing", "--events", "200", "--json")))
    assert dict(zip(printed["algorithm"], printed["matches"], strict=True)) == matches


def test_the_destination_lists_are_as_long_as_the_thesiss() -> None:
    theirs_and_ours = [(float(a), float(b)) for _, a, b in destination_lists(1, 100)[:5]]
    for theirs, ours in theirs_and_ours:
        assert ours == pytest.approx(theirs, rel=0.06)


def test_fewer_events_arrive_the_more_is_gone_and_more_by_d_dbr() -> None:
    found = deliveries(seed=1, draws=1, gone=(0.0, 0.3, 0.6))
    for shares in found.values():
        arrived = [share for _, share in shares]
        assert arrived[0] == 1.0
        assert arrived == sorted(arrived, reverse=True)
        assert arrived[2] < 1.0
    for what in ("brokers", "links"):
        routed, fixed = found[f"{what} gone, D-DBR"], found[f"{what} gone, filter-based"]
        assert all(one[1] >= other[1] for one, other in zip(routed, fixed, strict=True))
