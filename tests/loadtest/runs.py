"""An invented run, for tests of figures and reports."""

from collections import Counter
from dataclasses import replace
from typing import Any

from loadtest.feed_bytes import FeedBytes
from loadtest.figures import Figures, errors_of, rows_of
from loadtest.latencies import Kinds, Latencies
from loadtest.monitor import Sample
from loadtest.plan import Plan
from testkit.answers import Checked

PLAN = Plan(scenario_name="mixed", campaigns=1000, users=8, seconds=4)
START = 1_790_000_000


def latencies(*milliseconds: float, **errors: int) -> Latencies:
    by_status = {status.lstrip("_"): count for status, count in errors.items()}
    return Latencies([each / 1000 for each in milliseconds], Counter(by_status))


SECONDS: dict[int, Kinds] = {
    START + second: {"match": latencies(1, 2, 3, 40), "pause": latencies(90)} for second in range(4)
}

SAMPLE = Sample(
    at=0.0,
    server=1.5,
    memory=200_000_000,
    locust=0.5,
    wanted=0.6,
    machine=2.0,
    others=0.1,
    lag_seconds=0.2,
    lag_revs=3,
)


def figures(
    seconds: dict[int, Kinds] | None = None, sample: Sample = SAMPLE, **more: Any
) -> Figures:
    """Figures of a good run, with some of them replaced."""
    seconds = SECONDS if seconds is None else seconds
    given: dict[str, Any] = {
        "plan": PLAN,
        "machine": {"date": "2026-11-17 06:00 UTC", "cpu": "2 × some", "load before": "0.10"},
        "rows": rows_of(seconds, PLAN.seconds),
        "samples": [replace(sample, at=START + at) for at in range(1, 5)],
        "errors": errors_of(seconds),
        "checked": Checked(100),
        "digest": "00ff at rev 7",
        "notes": ["a note"],
        "change_bytes": FeedBytes(250.0, 310.0),
        "wrk_rate": 5.0,
        "wrk_refused": 0,
        "missed": 0,
    }
    return Figures(**(given | more))
