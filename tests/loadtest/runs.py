"""A run that never was, to make figures and pages of."""

from dataclasses import replace
from typing import Any

from loadtest.checking import Checked
from loadtest.figures import Figures, Mark, errors_of, rows_of, seconds_of
from loadtest.ledger import Account, Kinds, bucket_of
from loadtest.plan import Plan
from loadtest.watching import Look

PLAN = Plan(scenario_name="mixed", campaigns=1000, users=8, seconds=4)
START = 1_790_000_000


def account(*milliseconds: float, **errors: int) -> Account:
    found = Account()
    for each in milliseconds:
        found.buckets[bucket_of(each / 1000)] += 1
        found.longest = max(found.longest, each / 1000)
    found.errors.update({status.lstrip("_"): count for status, count in errors.items()})
    return found


SECONDS: dict[int, Kinds] = {
    START + second: {"match": account(1, 2, 3, 40), "pause": account(90)} for second in range(4)
}

LOOK = Look(
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


def figures(seconds: dict[int, Kinds] | None = None, look: Look = LOOK, **more: Any) -> Figures:
    """Figures of a good run, but for what is given."""
    seconds = SECONDS if seconds is None else seconds
    looks = [(float(at), replace(look, at=START + at)) for at in range(1, 5)]
    given: dict[str, Any] = {
        "plan": PLAN,
        "machine": {"date": "2026-11-17 06:00 UTC", "cpu": "2 × some", "load before": "0.10"},
        "begun": float(START),
        "rows": rows_of(seconds, PLAN.seconds),
        "seconds": seconds_of(seconds, START),
        "looks": looks,
        "marks": [Mark(2.0, "statistics")],
        "errors": errors_of(seconds),
        "checked": Checked(100),
        "digest": "00ff at rev 7",
        "notes": ["A <note>."],
        "wrk_rate": 5.0,
        "wrk_refused": 0,
        "unheard": 0,
    }
    return Figures(**(given | more))
