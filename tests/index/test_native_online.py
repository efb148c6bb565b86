"""Updates and matches at the same time: every match sees a state that existed, and none waits.

The threads run in a process of their own, so a thread that hangs fails the test instead of blocking
it.
"""

import sys
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from random import Random

import pytest

from index import Attribute, Index, Schema
from index.event import check_event
from index.language import Tree
from index.language.checks import make_predicate
from index.language.operators import Op
from index.scan import evaluate
from testkit.workloads import make
from tests.index.threads import beside
from tests.random_histories import Cases

TIMEOUT_SECONDS = 120
"""Seconds after which a process is taken to hang. It takes a few."""

UPDATES = 3000
MATCHERS = 3
CAMPAIGNS = 3000


def in_a_process(run: Callable[[], None]) -> None:
    """Run it apart, and fail if it fails or hangs."""
    process = get_context("spawn").Process(target=run, daemon=True)
    process.start()
    process.join(TIMEOUT_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        pytest.fail("the threads wait for each other")
    assert process.exitcode == 0, "the traceback is above"


class States:
    """What the answer to each event has been, update by update, as a set of bits.

        states   s0  s1  s2  s3           the last one is being applied, or just was
        applied          ▲                those before are certainly in the index

    A match may see any state from `applied` when it starts to the last when it ends.
    """

    def __init__(self, schema: Schema, ids: list[int], events: list[dict[str, object]]) -> None:
        self.bits = {id: 1 << place for place, id in enumerate(ids)}
        self.events = events
        self.checked = [check_event(event, schema)[0] for event in events]
        self.states = [[0] for _ in events]
        self.applied = 0

    def announce(self, id: int, tree: Tree | None) -> None:
        """An id is about to have this tree, or to be gone."""
        bit = self.bits[id]
        for states, event in zip(self.states, self.checked, strict=True):
            true = tree is not None and evaluate(tree, event) is True
            states.append(states[-1] | bit if true else states[-1] & ~bit)

    def done(self) -> None:
        """All that was announced is in the index."""
        self.applied = len(self.states[0]) - 1

    def check(self, which: int, first: int, found: list[int]) -> None:
        """A match that began when `first` was applied may have found this."""
        assert found == sorted(set(found))
        seen = sum(self.bits[id] for id in found)
        states = self.states[which]
        assert seen in states[first:], f"no state from {first} to {len(states) - 1} has {found}"


def matches_see_only_states_that_existed(seed: int = 11) -> None:
    random = Random(seed)
    cases = Cases(random)
    while len(cases.schema) < 5:
        cases = Cases(random)
    ids = sorted({*range(40), *(random.randrange(2**63) for _ in range(40))})
    states = States(cases.schema, ids, [cases.event() for _ in range(6)])
    index = Index(cases.schema, engine="native")
    matched = [0] * MATCHERS

    def keep_matching(number: int, over: threading.Event) -> None:
        which = number
        while not over.is_set() or not matched[number]:
            which = (which + 1) % len(states.events)
            first = states.applied
            found = index.match(states.events[which])
            states.check(which, first, found)
            matched[number] += 1

    with beside(*(partial(keep_matching, number) for number in range(MATCHERS))) as problems:
        for _ in range(UPDATES):
            if problems:
                break
            update(index, states, cases, random.choice(ids))
    index.check_invariants()
    for which, event in enumerate(states.events):
        states.check(which, states.applied, index.match(event))
    sys.stderr.write(f"{UPDATES} updates, {sum(matched)} matches beside them\n")


def update(index: Index, states: States, cases: Cases, id: int) -> None:
    """Do one random thing to the index, announced before."""
    dice = cases.random.random()
    if dice < 0.6:
        tree = cases.expression()
        states.announce(id, tree)
        index.insert(id, tree)
    elif dice < 0.9:
        states.announce(id, None)
        index.remove(id)
    elif dice < 0.97:
        items = [(cases.random.choice(list(states.bits)), cases.expression()) for _ in range(10)]
        for each in items:
            states.announce(*each)
        index.insert_many(items)
    elif dice < 0.985:
        index.use_statistics(cases.statistics())
    else:
        index.replan()
    states.done()


def everything_at_once() -> None:
    """Each way to ask, while another thread writes: nothing waits for itself."""
    schema = Schema([Attribute("n", "int"), Attribute("s", "string")])
    index = Index(schema, engine="native")
    index.insert_many([(id, f"n >= {id % 50} and s != 'x{id % 7}'") for id in range(5000)])
    core = index._native().core
    asked: list[Callable[[], object]] = [
        lambda: index.match({"n": 30, "s": "a"}),
        lambda: index.match(b'{"n": 30, "s": "a"}'),
        lambda: index.top({"n": 30, "s": "a"}, 10),
        lambda: (len(index), 7 in index, index.plan(4999), index.explain(4999, {"n": 5})),
        lambda: (index.to_dot(5), core.normal_form(b'[1,["=","n",1]]'), core.tree(4999)),
        lambda: core.time_matches([b'{"n": 3}'] * 10),
    ]

    def keep_asking(ask: Callable[[], object], over: threading.Event) -> None:
        while not over.is_set():
            ask()

    with beside(*(partial(keep_asking, ask) for ask in asked)):
        for step in range(1000):
            index.insert(step % 100, f"n = {step % 60} or s in ('a', 'b{step % 9}')")
            index.remove((step + 50) % 100)
        index.use_statistics({"version": 1, "attributes": {"n": {"presence": 0.5}}})
    index.check_invariants()


def others_run_while_a_match_does() -> None:
    """A match that takes long lets the GIL go: this thread counts on meanwhile."""
    schema = Schema([Attribute("s", "string")])
    index = Index(schema, engine="native")
    index.insert_many([(id, f"s contains 'needle{id}'") for id in range(1000)])
    event = {"s": "needle" * 100_000}
    count = 0
    went_on: list[bool] = []

    def match() -> None:
        for _ in range(20):
            before = count
            assert index.match(event) == []
            went_on.append(count > before)

    thread = threading.Thread(target=match)
    thread.start()
    while thread.is_alive():
        count += 1
    # With the GIL held, only a switch of threads right at the ends of a match would count.
    assert sum(went_on) > 10, went_on


def many_are_inserted_side_by_side() -> None:
    """Some check their rows while others write theirs, and the catalogue grows: the names that
    come sort before and between those in use."""
    schema = Schema([Attribute("m", "int"), Attribute("s", "string")])
    index = Index(schema, engine="native")

    def row(id: int) -> tuple[int, str]:
        return id, f'[1,["and",["=","m",{id % 50}],["in","s","a","b{id % 7}"]]]'

    def insert(first: int, _: threading.Event) -> None:
        for start in range(first, 24_000, 3_000):
            index.insert_json([row(id) for id in range(start, start + 1_000)])

    with beside(*(partial(insert, first) for first in (0, 1_000, 2_000))):
        for number in range(100):
            index.add_attribute(Attribute(f"{'anz'[number % 3]}{number}", "int"))
    index.check_invariants()
    assert len(index) == 24_000
    assert index.match({"m": 3, "s": "b4"}) == [
        id for id in range(24_000) if id % 50 == 3 and id % 7 == 4
    ]


@pytest.mark.parametrize(
    "run",
    [
        matches_see_only_states_that_existed,
        everything_at_once,
        others_run_while_a_match_does,
        many_are_inserted_side_by_side,
    ],
)
def test_threads(run: Callable[[], None]) -> None:
    in_a_process(run)


def bytes_of(index: Index) -> int:
    """What matching and updating need."""
    parts = index.stats()["bytes"]
    assert isinstance(parts, dict)
    return sum(size for part, size in parts.items() if part != "trees_as_written")


def test_churn_gives_memory_back(capsys: pytest.CaptureFixture[str]) -> None:
    random, workload = Random(7), make("ads", seed=7)
    campaigns = workload.expressions()
    churned = Index(workload.schema, engine="native")
    content = dict(zip(range(CAMPAIGNS), campaigns, strict=False))
    churned.insert_json(content.items())
    churned._native().core.take_longest_update_ns()
    for step in range(10 * CAMPAIGNS):
        id = random.randrange(CAMPAIGNS)
        content[id] = next(campaigns)
        if step % 4 == 0:
            churned.remove(id)
        churned.insert_json([(id, content[id])])
    longest = churned._native().core.take_longest_update_ns()
    assert longest > 0
    assert churned._native().core.take_longest_update_ns() == 0
    churned.check_invariants()
    fresh = Index(workload.schema, engine="native")
    fresh.insert_json(content.items())
    requests = workload.events(50)
    assert churned.match_many(requests) == fresh.match_many(requests)
    assert any(fresh.match_many(requests))
    ratio = bytes_of(churned) / bytes_of(fresh)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{10 * CAMPAIGNS} replacements among {CAMPAIGNS}: {ratio:.2f} times the bytes of a "
            f"fresh build; the longest update held matching up for {longest / 1000:.0f} µs\n"
        )
    for part in ("distinct_expressions", "nodes", "edges", "levels", "expressions"):
        assert churned.stats()[part] == fresh.stats()[part]
    assert ratio <= 1.2


def test_removing_everything_gives_nearly_everything_back() -> None:
    workload = make("ads", seed=8)
    campaigns = workload.expressions()
    index = Index(workload.schema, engine="native")
    for _ in range(3):
        index.insert_json(zip(range(CAMPAIGNS), campaigns, strict=False))
        full = bytes_of(index)
        for id in range(CAMPAIGNS):
            index.remove(id)
    index.check_invariants()
    index.insert_json(zip(range(CAMPAIGNS), campaigns, strict=False))
    assert bytes_of(index) <= 1.2 * full


def test_updates_of_huge_sets_are_done_in_portions() -> None:
    """Strings that came with a huge set go with it, and those that others name stay."""
    schema = Schema([Attribute("s", "string")])
    index = Index(schema, engine="native")
    texts = [f"v{number}" for number in range(30_000)]
    index.insert(1, "s = 'v7' or s starts with 'v29'")
    for _ in range(3):
        index.insert(2, make_predicate(schema["s"], Op.IN, texts))
        index.check_invariants()
        assert index.match({"s": "v7"}) == [1, 2]
        assert index.match({"s": "v8"}) == [2]
        index.remove(2)
        index.check_invariants()
        assert index.match({"s": "v7"}) == [1]
        assert index.match({"s": "v29999"}) == [1]
