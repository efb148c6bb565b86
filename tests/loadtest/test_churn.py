"""The life of a campaign, and the pace of managers."""

from random import Random

from campaigns.campaign.statuses import ACTIVE, DRAFT, PAUSED
from loadtest.churn import ACTIVATE, CHANGE, CREATE, DELETE, KINDS, PAUSE, Pace, life

MOVES = {(DRAFT, ACTIVATE): ACTIVE, (ACTIVE, PAUSE): PAUSED, (PAUSED, ACTIVATE): ACTIVE}


def test_a_life_has_every_kind_of_write_in_an_order_that_is_allowed() -> None:
    writes = list(life(Random(1), 5, ["true", "country = 'US'"]))
    assert {write.kind for write in writes} == set(KINDS)
    assert writes[0].kind == CREATE
    assert writes[-1].kind == DELETE
    status = DRAFT
    for write in writes[1:-1]:
        if write.kind != CHANGE:
            status = MOVES[status, write.kind]
    assert status == PAUSED  # one that serves cannot be deleted


def test_lives_are_seeded() -> None:
    texts = [f"age = {number}" for number in range(100)]
    one, same, other = (list(life(Random(seed), 5, texts)) for seed in (1, 1, 2))
    assert one == same != other


def test_writes_are_a_share_of_all_requests() -> None:
    pace, writes = Pace(0.05, None), 0
    for _ in range(1900):
        pace.matched()
        writes += pace.take(0.0)
    assert writes in (100, 101)  # the first match allows the first write


def test_writes_are_no_more_than_the_rate() -> None:
    pace = Pace(None, 10.0)
    writes = sum(pace.take(100 + place / 1000) for place in range(5000))
    assert 50 <= writes <= 61  # a second may be made up for


def test_without_bounds_one_may_always_write() -> None:
    assert all(Pace(None, None).take(0.0) for _ in range(10))
