"""Groups of expressions, and muting all expressions of a group at once, on every engine."""

import threading

import pytest

from index import Index
from tests.index.conftest import Make
from tests.index.language.test_parser import SCHEMA
from tests.index.threads import beside

EVENT: dict[str, object] = {"vip": True}
MANY = 100_000


def test_a_muted_group_stays_and_never_matches(make: Make) -> None:
    index = make()
    index.insert(1, "vip", group=7)
    index.insert(2, "vip", group=8)
    index.insert(3, "vip")
    assert index.mute(7) is True
    assert index.mute(7) is False
    assert index.muted() == {7}
    assert index.match(EVENT) == [2, 3]
    assert index.top(EVENT, total=True) == ([2, 3], 2)
    assert len(index) == 3
    assert 1 in index
    assert index.explain(1, EVENT).value is True
    index.check_invariants()
    assert index.unmute(7) is True
    assert index.unmute(7) is False
    assert index.muted() == set()
    assert index.match(EVENT) == [1, 2, 3]


def test_what_joins_a_muted_group_is_muted_and_what_leaves_it_is_not(make: Make) -> None:
    index = make()
    index.mute(7)
    index.insert(1, "vip", group=7)
    index.insert(2, "vip", group=8)
    assert index.match(EVENT) == [2]
    index.insert(1, "vip", group=8)
    index.insert(2, "vip", group=7)
    assert index.match(EVENT) == [1]
    index.insert(2, "vip")
    assert index.match(EVENT) == [1, 2]
    index.remove(1)
    index.remove(2)
    assert index.muted() == {7}
    index.insert(3, "vip", group=7)
    assert index.match(EVENT) == []
    index.check_invariants()


def test_groups_differ_whatever_their_numbers(make: Make) -> None:
    index = make()
    groups = [1, 2, 63, 64, 65, 2**32, 2**32 + 1, 2**62, 2**63 - 1]
    index.insert_many((id, "true", 0, None, None, group) for id, group in enumerate(groups))
    for id, group in enumerate(groups):
        index.mute(group)
        assert index.match({}) == [other for other in range(len(groups)) if other != id]
        index.unmute(group)
    assert index.stats()["groups"] == len(groups)


def test_stats_say_how_many_there_are(make: Make) -> None:
    index = make()
    index.insert_many([(1, "vip", 0, None, None, 5), (2, "vip", 0, None, None, 5), (3, "vip")])
    index.mute(6)
    assert (index.stats()["groups"], index.stats()["muted_groups"]) == (1, 1)
    index.remove(1)
    assert index.stats()["groups"] == 1
    index.remove(2)
    assert index.stats()["groups"] == 0


@pytest.mark.parametrize("group", [-1, 2**63, 1.0, "1", None, True])
def test_what_is_no_group_is_refused(make: Make, group: object) -> None:
    message = "a group is an integer from 0 to"
    with pytest.raises(ValueError, match=message):
        make().insert(1, "true", group=group)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        make().mute(group)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        make().unmute(group)  # type: ignore[arg-type]


def test_group_0_cannot_be_muted(make: Make) -> None:
    index = make()
    index.insert(1, "true")
    for change in (index.mute, index.unmute):
        with pytest.raises(ValueError, match="group 0 means no group"):
            change(0)
    assert index.match({}) == [1]


@pytest.mark.parametrize("version", [-1, 2**32, 1.0, "1", None, True])
def test_what_is_no_version_is_refused(make: Make, version: object) -> None:
    with pytest.raises(ValueError, match="a version is an integer from 0 to"):
        make().insert(1, "true", version=version)  # type: ignore[arg-type]


def bytes_of(index: Index) -> int:
    parts = index.stats()["bytes"]
    assert isinstance(parts, dict)
    return int(parts["groups_and_versions"])


def test_no_memory_is_spent_until_somebody_has_a_group_or_a_version() -> None:
    index = Index(SCHEMA, engine="native")
    index.insert_json((id, '[1,["holds","vip"]]') for id in range(MANY))
    assert bytes_of(index) == 0
    core = index._native().core
    core.take_longest_update_ns()
    index.insert(MANY - 1, "vip", group=5, version=1)
    assert 0 < bytes_of(index) < 200_000, "a chunk, not a place for each"
    assert core.take_longest_update_ns() < 5_000_000
    index.insert_json((id, '[1,["holds","vip"]]', 0, None, None, 5, 1) for id in range(MANY))
    assert bytes_of(index) < 9 * MANY + 200_000
    index.check_invariants()


def test_muting_a_hundred_thousand_takes_a_moment() -> None:
    index = Index(SCHEMA, engine="native")
    rows = ((id, '[1,["holds","vip"]]', 0, None, None, 1 + id % 2, 1) for id in range(2 * MANY))
    index.insert_json(rows)
    core = index._native().core
    core.take_longest_update_ns()
    index.mute(1)
    assert core.take_longest_update_ns() < 1_000_000
    assert index.top(EVENT, 1, total=True) == ([1], MANY)
    index.mute(2)
    assert index.top(EVENT, 1, total=True) == ([], 0)
    index.unmute(1)
    index.unmute(2)
    assert core.take_longest_update_ns() < 1_000_000
    assert index.top(EVENT, 1, total=True) == ([0], 2 * MANY)


def test_many_groups_come_and_go() -> None:
    index = Index(SCHEMA, engine="native")
    for first in (0, 50_000, 10**12):
        index.insert_json(
            (id, '[1,["holds","vip"]]', 0, None, None, first + id + 1) for id in range(50_000)
        )
        index.mute(first + 1)
        assert index.stats()["groups"] == 50_000
        assert index.top(EVENT, 1, total=True) == ([1], 49_999)
        size = bytes_of(index)
    assert size < 50_000 * 40, "what was given back is used again"
    index.check_invariants()


def test_mutes_are_seen_whole_while_others_match() -> None:
    """Between two mutes either all of a group match or none does."""
    index = Index(SCHEMA, engine="native")
    index.insert_many((id, "vip", 0, None, None, 1) for id in range(500))

    def keep_matching(over: threading.Event) -> None:
        seen: set[int] = set()
        while not over.is_set() or not seen:
            seen.add(index.top(EVENT, 1, total=True)[1])
        assert seen <= {0, 500}

    with beside(keep_matching, keep_matching):
        for _ in range(500):
            index.mute(1)
            index.unmute(1)
