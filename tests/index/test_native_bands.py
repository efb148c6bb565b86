"""The best matches come from the bands of the best entries, and are those of a scan."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from index import Attribute, Exclude, Index, Query, Schema
from index.score import score_of

SCHEMA = Schema([Attribute("n", "int"), Attribute("tags", "int list")])
ENTRIES = 300
SCORES: dict[str, Callable[[Random, int], int]] = {
    "all equal": lambda random, id: 7,
    "two values": lambda random, id: random.choice([3, 4]),
    "a heavy tail": lambda random, id: int(random.paretovariate(0.3)) % 2**62,
    "by id": lambda random, id: id,
    "against the ids": lambda random, id: -id,
    "priorities and bids": lambda random, id: score_of(random.randrange(4), random.randrange(9)),
}
LIMITS = (0, 1, 2, 10, 50, 1000)


class Pair:
    """The native engine with small bands, and the oracle."""

    def __init__(self, bands: int = 2) -> None:
        self.native = Index(SCHEMA, engine="native")
        self.native._native().core.tune("bands", bands)
        self.scan = Index(SCHEMA, engine="scan")

    def insert(self, id: int, score: int, **beside: Any) -> None:
        targeting = ("n = 1", "n in (1, 2, 3, 4, 300) and tags any of (1, 7)", "n < 3", "true")
        for index in (self.native, self.scan):
            index.insert(id, targeting[id % 4], score, **beside)

    def remove(self, id: int) -> None:
        assert self.native.remove(id)
        assert self.scan.remove(id)

    def check(self, **query: Any) -> None:
        self.native.check_invariants()
        for event in ({"n": 1, "tags": [7]}, {"n": 2}, {"n": 9}):
            for limit in LIMITS:
                asked = Query(limit=limit, **query)
                expected = self.scan.ask(event, asked).to_json(b"}")
                assert self.native.ask(event, asked).to_json(b"}") == expected

    def sizes(self) -> list[int]:
        bands = self.native.stats()["bands"]
        assert isinstance(bands, list)
        return [band["entries"] for band in bands]


@pytest.mark.parametrize("scores", SCORES)
def test_the_best_are_those_of_a_scan(scores: str) -> None:
    random, pair = Random(scores), Pair()
    score = SCORES[scores]
    for id in range(ENTRIES):
        pair.insert(id, score(random, id), group=id % 7, start=id % 3, end=id % 5 + 3)
    first, second, third = pair.sizes()
    assert first == 4
    assert 14 <= second <= 18
    assert 56 <= third <= 72
    pair.check()
    pair.check(at=2.5)
    pair.check(exclude=Exclude(groups=[1, 2, 3, 4, 5, 6]))
    pair.check(floor=5)
    best = pair.scan.top({"n": 1, "tags": [7]}, 100)
    pair.check(exclude=Exclude(ids=best[:60]))  # the first bands are empty
    for index in (pair.native, pair.scan):
        index.mute(3)
    pair.check()


def test_scores_that_change_move_entries_between_the_bands() -> None:
    random, pair = Random("moves"), Pair(3)
    scores = {id: random.randrange(50) for id in range(ENTRIES)}
    for id, score in scores.items():
        pair.insert(id, score)
    for step in range(600):
        id = random.randrange(ENTRIES)
        scores[id] = max(scores.values()) + 1 if step % 3 else random.randrange(50)
        pair.insert(id, scores[id])
        if step % 3:
            assert pair.native.plan(id)["band"] == 1
            assert pair.native.top({"n": 1, "tags": [1]}, 1) == [id]
        if step % 60 == 0:
            pair.check()
    for id in random.sample(range(ENTRIES), ENTRIES - 20):
        pair.remove(id)
        if id % 30 == 0:
            pair.check()
    pair.check()
    assert sum(pair.sizes()) <= 12


def test_bands_stay_as_they_are_in_a_snapshot(tmp_path: Path) -> None:
    pair = Pair()
    for id in range(ENTRIES):
        pair.insert(id, id * 37 % 101)
    before, stats = pair.sizes(), pair.native.stats()
    pair.native.save(tmp_path / "index")
    pair.native = Index.load(tmp_path / "index", SCHEMA)
    assert pair.sizes() == before
    assert pair.native.stats()["bands"] == stats["bands"]
    pair.check()
    for id in range(0, ENTRIES, 2):
        pair.insert(id, 1000 - id)
    pair.check()


def test_statistics_and_replanning_keep_the_bands() -> None:
    pair = Pair()
    for id in range(ENTRIES):
        pair.insert(id, id * 37 % 101)
    shares = {"version": 1, "attributes": {"n": {"presence": 1.0, "values": [[1, 0.9]]}}}
    for statistics in (shares, None):
        pair.native.use_statistics(statistics)
        pair.check()


def test_few_of_many_postings_are_read_for_the_best() -> None:
    index = Index(SCHEMA, engine="native")
    count = 60_000
    rows = [(id, f'[1,["and",["=","n",{id % 10}],["any of","tags",{id}]]]') for id in range(count)]
    rows += [(count + id, f'[1,["=","n",{id % 10}]]') for id in range(count)]
    index.insert_json([(id, tree, id * 0x9E3779B1 % 2**32) for id, tree in rows])
    bands = index.stats()["bands"]
    assert isinstance(bands, list)
    assert 0.8 * 2 * count / 32 < sum(band["entries"] for band in bands) < 1.3 * 2 * count / 32
    core = index._native().core
    event = b'{"n": 3, "tags": [3, 13, 23]}'
    ((_,), (matches,), (read,)) = core.time_matches([event], 10)
    assert matches == 10
    (_, (all_matches,), (all_read,)) = core.time_matches([event])
    assert all_matches > count / 10
    assert read * 20 < all_read


def test_no_update_of_the_bands_holds_matching_up() -> None:
    index = Index(SCHEMA, engine="native")
    core = index._native().core
    count = 70_000
    index.insert_json([(id, f'[1,["=","n",{id}]]', id) for id in range(count)])
    longest = []
    for _ in range(4):  # on a busy machine, one may be interrupted
        core.take_longest_update_ns()
        for id in range(500):  # the worst becomes the best, and then the worst again
            index.insert(id, f"n = {id}", 2**40 + id)
        for id in range(500):
            index.insert(id, f"n = {id}", -1)
        longest.append(core.take_longest_update_ns())
    assert min(longest) < 5_000_000
    assert index.top({"n": count - 1}) == [count - 1]
    index.check_invariants()
