"""`python -m bench account`, small."""

import pytest

from bench.service import account
from campaigns.catalogue.model import BLOCKED_CATEGORIES, schema_of
from index import Exclude, Index, Query
from testkit.workloads import make


def test_every_cause_has_a_figure_with_it_and_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(account, "SEEN", 100)
    monkeypatch.setattr(account, "CACHES", 1000)
    items = account.measure(1_000, rounds=1, events=20)
    assert len(items) == 17
    assert all(item.without > 0 and item.with_it > 0 for item in items)
    page = account.page({1_000: items}, "python -m bench account")
    for item in items:
        assert f"| {item.cause} " in page


def test_categories_in_the_expression_and_beside_it_answer_alike() -> None:
    workload = make("ads")
    rows = account.rows_of(workload, 300)
    types = [(each.name, each.type.value) for each in workload.schema]
    beside, inside = (Index(schema_of(types)) for _ in range(2))
    beside.insert_json(rows)
    inside.insert_json(account.guarded(row) for row in rows)
    blocked = ["IAB1", "IAB7", "IAB20"]
    query = Query(account.NOW, exclude=Exclude(labels=blocked))
    for event in workload.events(20):
        expected = inside.match(event | {BLOCKED_CATEGORIES: blocked}, account.NOW)
        assert beside.ask(event, query).ids == expected
    assert len(beside) == 300
