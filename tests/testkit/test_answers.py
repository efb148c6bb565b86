"""The check of answers finds wrong ones, also while managers write."""

import json

import pytest

from index import Attribute, Index, Schema
from testkit.answers import LIMIT, Answer, answer_of, check

EVENTS = [{"age": 30}, {"age": 10}]


@pytest.fixture(scope="module")
def index() -> Index:
    """Campaigns 1 to 20 match the first event, higher ids first; none matches the second."""
    found = Index(Schema([Attribute("age", "int")]))
    for id in range(1, 21):
        found.insert(id, "age > 20", score=id)
    return found


BEST = tuple(range(20, 10, -1))


def answer(ids: tuple[int, ...], total: int, place: int = 0) -> Answer:
    return Answer(place, 0.0, 0.0, ids, total)


def test_the_right_answer_is_right(index: Index) -> None:
    checked = check(index, EVENTS, [answer(BEST, 20), answer((), 0, place=1)])
    assert (checked.compared, checked.wrong) == (2, [])


@pytest.mark.parametrize(
    ("ids", "total"),
    [(BEST, 19), (BEST[:9], 20), (BEST[::-1], 20), ((*BEST[:9], 1), 20), ((99, *BEST[:9]), 21)],
)
def test_a_wrong_answer_is_reported(index: Index, ids: tuple[int, ...], total: int) -> None:
    checked = check(index, EVENTS, [answer(BEST, 20), answer(ids, total)])
    assert len(checked.wrong) == 1
    assert "1 of 2 answers are WRONG: request 0" in checked.summary


@pytest.mark.parametrize(
    ("ids", "total", "right"),
    [
        ((99, *BEST[:9]), 21, True),
        ((*BEST[:5], 98, 99, *BEST[5:8]), 22, True),
        (BEST, 20, True),
        ((99, *BEST[1:]), 21, False),  # the best of the start is missing
        ((99, *BEST[:8]), 21, False),  # there is room for one more
        ((99, *BEST[:9]), 19, False),  # fewer than there were at the start
    ],
)
def test_campaigns_of_managers_may_be_in_between(
    index: Index, ids: tuple[int, ...], total: int, right: bool
) -> None:
    assert len(ids) <= LIMIT
    checked = check(index, EVENTS, [answer(ids, total)], from_start=20)
    assert (checked.wrong == []) is right


def test_a_flight_may_begin_while_the_answer_is_on_its_way() -> None:
    index = Index(Schema([Attribute("age", "int")]))
    index.insert(7, "age > 20", start=100.0)
    for total in (0, 1):
        ids = (7,) * total
        between = Answer(0, 99.9, 100.1, ids, total)
        assert check(index, EVENTS, [between]).wrong == []
    assert check(index, EVENTS, [Answer(0, 99.0, 99.1, (7,), 1)]).wrong


def test_answers_of_both_routes_are_read() -> None:
    matches = {"matches": [{"campaign_id": 7, "priority": 1}], "total": 1}
    plain = json.dumps({**matches, "epoch": "e", "rev": 3})
    bid = json.dumps({"id": "r", "imps": [{"id": "1", **matches}], "epoch": "e", "rev": 3})
    for body in (plain, bid):
        assert answer_of(3, 1.0, 2.0, 200, body) == Answer(3, 1.0, 2.0, (7,), 1)
    assert answer_of(3, 1.0, 2.0, 204, "") == Answer(3, 1.0, 2.0, (), None)
