"""What a query leaves out, on every engine."""

from typing import Any

import pytest

from index import Exclude, Index, Query
from tests.index.conftest import Make
from tests.index.language.test_parser import SCHEMA

EVENT: dict[str, object] = {"vip": True}
BID_MAX = 2**53 - 1


def match(index: Index, event: dict[str, object] | bytes, **query: Any) -> list[int]:
    return index.ask(event, Query(**query)).ids


def top(
    index: Index,
    event: dict[str, object] | bytes,
    limit: int,
    at: float | None = None,
    **query: Any,
) -> tuple[list[int], int | None]:
    found = index.ask(event, Query(at, limit, True, **query))
    return found.ids, found.total


def filled(make: Make) -> Index:
    """Ids 0 to 299, in groups by their hundreds; the last hundred in none."""
    index = make()
    index.insert_many(
        (id, "vip" if id % 2 else "vip or age = 1", id, None, None, (id // 100 + 1) % 3)
        for id in range(300)
    )
    return index


def test_ids_and_groups_are_left_out_of_answers_and_totals(make: Make) -> None:
    index = filled(make)
    assert match(index, EVENT, exclude=Exclude()) == list(range(300))
    assert match(index, EVENT, exclude=Exclude(ids=[5, 64])) == [
        id for id in range(300) if id not in (5, 64)
    ]
    assert match(index, EVENT, exclude=Exclude(groups=(1,))) == list(range(100, 300))
    assert top(index, EVENT, 2, exclude=Exclude([299], [2])) == ([298, 297], 199)
    assert top(index, EVENT, 2, exclude=Exclude(range(300))) == ([], 0)
    assert index.match(EVENT) == list(range(300)), "nothing stays of an exclusion"


def test_repeats_and_strangers_do_no_harm(make: Make) -> None:
    index = filled(make)
    exclude = Exclude([7, 7, 7, 1000, 2**63 - 1, *range(100)] * 20, [2, 2, 99, 0, 2**63 - 1] * 20)
    assert match(index, EVENT, exclude=exclude) == list(range(200, 300))
    assert top(index, EVENT, 1, exclude=exclude) == ([299], 100)
    assert match(index, {}, exclude=exclude) == []


def test_group_0_is_none_and_excludes_nothing(make: Make) -> None:
    assert len(match(filled(make), EVENT, exclude=Exclude(groups=[0]))) == 300


def test_the_floor_is_under_the_lower_bits_of_a_score(make: Make) -> None:
    index = make()
    scores = [0, 1, 5 << 53, (5 << 53) + 1, 2**63 - 1, -1, -(2**63), BID_MAX, 7]
    index.insert_many((id, "true", score) for id, score in enumerate(scores))
    assert match(index, {}, floor=0) == list(range(9))
    assert match(index, {}, floor=1) == [1, 3, 4, 5, 7, 8]
    assert match(index, {}, floor=2) == [4, 5, 7, 8]
    assert match(index, {}, floor=8) == [4, 5, 7]
    assert match(index, {}, floor=BID_MAX) == [4, 5, 7]
    assert top(index, {}, 2, floor=2) == ([4, 7], 4)
    assert top(index, {}, 1, floor=BID_MAX, exclude=Exclude([4])) == ([7], 2)
    assert match(index, b"{}", floor=8) == [4, 5, 7]
    assert top(index, b"{}", 1, floor=8, exclude=Exclude([4])) == ([7], 2)


def test_everything_at_once(make: Make) -> None:
    index = make()
    index.insert(1, "vip", 10, start=5, group=1)
    index.insert(2, "vip", 10, end=5, group=1)
    index.insert(3, "vip", 9, group=2)
    index.insert(4, "vip", 10, group=3)
    index.insert(5, "vip", 10, group=4)
    index.insert(6, "vip", 11)
    index.mute(3)
    exclude = Exclude(ids=[6], groups=[4])
    assert top(index, EVENT, 9, 6, exclude=exclude, floor=10) == ([1], 1)
    assert top(index, EVENT, 9, 4, exclude=exclude, floor=10) == ([2], 1)
    assert match(index, EVENT, exclude=exclude, floor=9) == [1, 2, 3]


@pytest.mark.parametrize("floor", [-1, 2**53, 0.5, None, True, "1"])
def test_what_is_no_floor_is_refused(make: Make, floor: object) -> None:
    with pytest.raises(ValueError, match="a floor is an integer from 0 to"):
        match(make(), {}, floor=floor)
    with pytest.raises(ValueError, match="a floor is an integer from 0 to"):
        top(make(), {}, 10, floor=floor)


@pytest.mark.parametrize("number", [-1, 2**63, 1.0, "1", None, True])
def test_what_is_no_id_or_group_is_refused(number: object) -> None:
    with pytest.raises(ValueError, match="an id is an integer from 0"):
        Exclude(ids=[1, number])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="a group is an integer from 0"):
        Exclude(groups=[1, number])  # type: ignore[list-item]


def test_any_sequence_will_do() -> None:
    index = Index(SCHEMA, engine="native")
    index.insert_many((id, "true", 0, None, None, id) for id in range(10))
    assert match(index, {}, exclude=Exclude(range(3), {4, 5})) == [3, 6, 7, 8, 9]  # type: ignore[arg-type]
