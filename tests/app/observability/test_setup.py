"""Numbers that somebody else keeps, as metrics."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from app.observability.impressions.log import ImpressionLog
from app.observability.metrics.registry import Registry
from app.observability.setup import Gauges
from campaigns.feed.service import WorkerFeed


def test_a_resync_and_a_load_for_the_same_reason_are_both_counted() -> None:
    counts = {("resync", "epoch"): 3, ("load", "epoch"): 1, ("applied", "log"): 9}
    follower = SimpleNamespace(lag=0, stale_seconds=None, counts=counts, current=None)
    registry = Registry("1")
    Gauges(registry, cast(WorkerFeed, SimpleNamespace(follower=follower)), None).refresh()
    dumped: Any = registry.dump()
    series = {tuple(labels): number for labels, number in dumped["copse_feed_resyncs_total"]}
    assert series == {("log", "epoch"): 3, ("load", "epoch"): 1}


def test_every_reason_of_a_lost_row_is_there_before_it_happens(tmp_path: Path) -> None:
    registry = Registry("1")
    Gauges(registry, cast(WorkerFeed, None), ImpressionLog(tmp_path, "w1"))
    lost = registry.dump()["copse_impressions_lost_total"]
    assert [["queue_full"], 0] in lost
    assert {count for _, count in lost} == {0}
