"""The checker on hand-made histories: each kind of violation, and none in a good history. A broken
history is the good one with one record changed."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index import digest_of
from tests.faults import checker
from tests.faults.bounds import (
    HEALTHY_SECONDS,
    REPEAT_SECONDS,
    SETTLE_SECONDS,
    SILENCE_SECONDS,
    STALE_SECONDS,
)
from tests.faults.checker import check
from tests.faults.history import (
    ACKNOWLEDGED,
    ANSWERED,
    LOST,
    REFUSED,
    UNKNOWN,
    Begin,
    Commit,
    End,
    History,
    Impression,
    Injected,
    Look,
    Match,
    Record,
    Tip,
    Write,
)

EPOCH = "an epoch"
WALL = 1_800_000_000.0
TEXTS = ["true", "age >= 18"]
EVENTS: list[dict[str, Any]] = [{}, {"age": 30}]

BEGIN = Begin(EPOCH, 1, WALL, TEXTS, EVENTS)
OWNER = Commit(1, "advertiser", "1", "create", {"status": "active", "version": 1})


def campaign(version: int, name: str, status: str, text: str = "true", **more: Any) -> Any:
    fields = {"priority": 5, "bid_micros": 100, "starts_at": None, "ends_at": None}
    numbers = {"version": version, "advertiser_id": 1}
    return {"name": name, "status": status, "targeting": text, **fields, **numbers, **more}


def sent(name: str, text: str = "true") -> dict[str, Any]:
    return {"name": name, "targeting": text, "priority": 5, "bid_micros": 100}


# Campaign 7 is created (rev 2), serves (3), asks for adults only (4); 8 is imported (5).
COMMITS = (
    Commit(2, "campaign", "7", "create", campaign(1, "a", "draft")),
    Commit(3, "campaign", "7", "activate", campaign(2, "a", "active")),
    Commit(4, "campaign", "7", "patch", campaign(3, "b", "active", TEXTS[1])),
    Commit(5, "campaign", "8", "import", campaign(1, "c", "active")),
)
CREATE = Write("a", "campaign", "create", None, None, sent("a"), 1, 1.1, ACKNOWLEDGED, 201, 2, 1)
ACTIVATE = Write("w", "campaign", "activate", 7, 1, {}, 2, 2.1, ACKNOWLEDGED, 200, 3, 2)
PATCH = Write("b", "campaign", "patch", 7, 2, sent("b", TEXTS[1]), 3, 3.1, UNKNOWN, 503)
IMPORT = Write("c", "campaign", "import", None, None, sent("c"), 4, 4.1, ACKNOWLEDGED, 200, 5, 1)
WRITES = (CREATE, ACTIVATE, PATCH, IMPORT)

SEVEN, EIGHT = (7, 5, 100), (8, 5, 100)


def asked(
    at: float, event: int, rev: int, matches: list[tuple[int, int, int]], **more: Any
) -> Match:
    total = len(matches)
    given: dict[str, Any] = {"min_rev": 0, "status": 200, "epoch": EPOCH} | more
    match = Match(
        "a matcher", 1, event, 0, at, at + 0.1, ANSWERED, rev=rev, matches=matches, total=total
    )
    return replace(match, **given)


YOUNG = asked(2.5, 0, 3, [SEVEN])
ADULT = asked(5, 1, 5, [SEVEN, EIGHT])
NOBODY_SAID = asked(5.5, 0, 5, [EIGHT], min_rev=5)
MATCHES = (YOUNG, ADULT, NOBODY_SAID)


def digest(*pairs: tuple[int, int]) -> str:
    return f"{digest_of(pairs):016x}"


def worker(rev: int, *pairs: tuple[int, int], **more: Any) -> dict[str, Any]:
    return {"pid": 1, "epoch": EPOCH, "rev": rev, "digest": digest(*pairs), "poisoned": []} | more


LOOK = Look(2.6, 2.7, [worker(3, (7, 2))], [])
ROW = Impression(1, EPOCH, 5, [7, 8], 2)
END = End(
    EPOCH,
    5,
    digest((7, 3), (8, 1)),
    {"7": campaign(3, "b", "active", TEXTS[1]), "8": campaign(1, "c", "active")},
    {"1": "active"},
    [(4, "campaign", "7"), (5, "campaign", "8")],
    in_step=True,
)
GOOD: tuple[Record, ...] = (BEGIN, OWNER, *COMMITS, *WRITES, *MATCHES, LOOK, ROW, END)


def found(*records: Record) -> dict[str, int]:
    return dict(check(History(records)).found)


def instead(old: Record, *new: Record) -> tuple[Record, ...]:
    """The good history, with one record replaced."""
    place = GOOD.index(old)
    return (*GOOD[:place], *new, *GOOD[place + 1 :])


def but(old: Record, **fields: Any) -> tuple[Record, ...]:
    """The good history, with some fields of one record changed."""
    return instead(old, replace(old, **fields))


def test_a_good_history_is_good() -> None:
    verdict = check(History(GOOD))
    assert dict(verdict.found) == {}
    assert verdict.counts["answers at their rev"] == 3
    assert verdict.counts["indexes looked at"] == 1
    assert verdict.counts["impressions"] == 1
    assert verdict.counts["checked for staleness"] == 4


LATER = 10.0 + STALE_SECONDS
PULSE_SECONDS = 4.0


def alive(until: float, matches: bool = True, writes: bool = True) -> list[Record]:
    """Answers that keep a host from being silent after the good history, up to `until`."""
    times = [5.0 + PULSE_SECONDS * n for n in range(1 + int((until - 5.0) / PULSE_SECONDS))]
    answers: list[Record] = [asked(at, 0, 5, [EIGHT], client="poller") for at in times]
    unchanged = replace(IMPORT, token="nothing new", rev=None, new_version=None)
    written: list[Record] = [replace(unchanged, begin=at, end=at + 0.1) for at in times]
    return answers * matches + written * writes


LONG = 6 + HEALTHY_SECONDS
AFTERWARDS = asked(LONG, 0, 5, [EIGHT])
SILENT = (*GOOD, *alive(LONG, matches=False))

BROKEN: dict[str, dict[str, tuple[Record, ...]]] = {
    "lost": {
        "an acknowledged write is in no log": instead(
            IMPORT, replace(IMPORT, rev=6), replace(IMPORT, token="d", outcome=UNKNOWN)
        ),
        "an acknowledged write became something else": but(IMPORT, fields=sent("c", TEXTS[1])),
        "an acknowledged activation did not activate": but(ACTIVATE, action="pause"),
    },
    "unacknowledged": {
        "nobody sent what the log has": instead(PATCH),
        "what was refused is in the log": but(PATCH, outcome=REFUSED, status=412),
        "what may be in the log is there otherwise": but(PATCH, fields=sent("b")),
    },
    "rows": {
        "a row is not what its log says": but(
            END, campaigns=END.campaigns | {"8": campaign(1, "d", "active")}
        ),
        "a row is gone": but(END, campaigns={"7": END.campaigns["7"]}),
        "an advertiser is not what its log says": but(END, advertisers={"1": "paused"}),
        "the log of changes is not the audit log": but(END, kept=[(5, "campaign", "9")]),
    },
    "wrong": {
        "an answer has what no state allowed": but(NOBODY_SAID, matches=[SEVEN, EIGHT], total=2),
        "an answer lacks what every state required": but(ADULT, matches=[EIGHT], total=1),
        "an answer is in the wrong order": but(ADULT, matches=[EIGHT, SEVEN]),
        "an answer has another bid": but(NOBODY_SAID, matches=[(8, 5, 101)]),
        "an answer counts wrongly": but(ADULT, total=3),
        # 8 of rev 5, and 7 as it was before rev 4
        "an answer mixes two states": instead(
            NOBODY_SAID, asked(5.5, 0, 3, [SEVEN, EIGHT], client="other")
        ),
        "an answer is older than it says": instead(NOBODY_SAID, asked(5.5, 0, 5, [SEVEN])),
    },
    "future": {
        "an answer is of a rev that nobody wrote": but(ADULT, rev=6, client="other"),
        "an answer is of a rev that was written later": instead(YOUNG, asked(2.5, 0, 5, [EIGHT])),
        "an answer is of another epoch": but(YOUNG, epoch="another"),
    },
    "stale": {
        "an answer is too old": (
            *GOOD,
            *alive(LATER),
            asked(LATER, 0, 3, [SEVEN], client="slow"),
        ),
        "an index is too old": (*GOOD, replace(LOOK, begin=LATER, end=LATER + 0.1)),
    },
    "min_rev": {"an answer has not the rev that was asked for": but(YOUNG, min_rev=4)},
    "backwards": {"a worker goes back": (*GOOD, asked(5.7, 0, 3, [SEVEN]))},
    "digest": {"an index is not the database": but(LOOK, workers=[worker(3, (7, 1))])},
    "poisoned": {
        "a change was poisoned": but(LOOK, workers=[worker(3, (7, 2), poisoned=[{"rev": 3}])])
    },
    "refused": {
        "a match was refused for nothing": (*GOOD, replace(YOUNG, outcome=REFUSED, status=503)),
        "a match was lost for nothing": (*GOOD, replace(YOUNG, outcome=LOST, status=0)),
    },
    "drained": {
        "a match was lost on a connection that a drained worker kept": (
            *GOOD,
            Injected("worker.drain", 5.0, 5.1),
            replace(NOBODY_SAID, begin=5.7, end=5.8, outcome=LOST, status=0),
        ),
        "the whole service was drained": (
            *GOOD,
            Injected("host.drain", 5.0, 5.1),
            replace(NOBODY_SAID, begin=5.7, end=5.8, outcome=LOST, status=0),
        ),
    },
    "silence": {
        "nobody answered for long": (*SILENT, AFTERWARDS),
        "a host that was cut off did not answer its own clients": (
            *SILENT,
            Injected("host.cut", 4.0, LONG, host=0),
            AFTERWARDS,
        ),
        "a fault of the other host was no reason": (
            *SILENT,
            Injected("host.kill", 4.0, LONG, host=1),
            AFTERWARDS,
        ),
        "all workers were stopped, for too long": (
            *GOOD,
            *alive(6 + SILENCE_SECONDS, matches=False),
            Injected("worker.stop", 1.0, 6 + SILENCE_SECONDS),
            asked(6 + SILENCE_SECONDS, 0, 5, [EIGHT]),
        ),
    },
    "writeless": {
        "a host wrote nothing for long": (*GOOD, *alive(LONG, writes=False), AFTERWARDS),
        "the other host was cut off": (
            *GOOD,
            *alive(LONG, writes=False),
            Injected("host.cut", 4.0, LONG, host=1),
            AFTERWARDS,
        ),
    },
    "lane": {"the stream stays behind": (*GOOD, Tip(LATER, LATER + 0.1, 4))},
    "repeat": {
        "a create cannot be repeated": (
            *GOOD,
            replace(CREATE, begin=1.2, end=1.3, outcome=REFUSED, status=409),
            replace(CREATE, end=1.4 + REPEAT_SECONDS, outcome=REFUSED, status=409),
        )
    },
    "forged": {
        "a key that only Redis had was accepted": (
            *GOOD,
            Injected("redis.forge", 5.0, 5.1, broken="forged: 200 on host 1"),
        )
    },
    "import": {
        "an import went on": (
            *GOOD,
            Injected("key.revoke", 5.0, 5.1, broken="import: 3.1 s after"),
        )
    },
    "command": {
        "a migration hung": (
            *GOOD,
            Injected("command.migrate", 5.0, 5.1, broken="command: timed out"),
        )
    },
    "health": {
        "a health check was late": (
            *GOOD,
            Injected("host.burst", 5.0, 5.1, broken="health: 7 s"),
        )
    },
    "failed": {"a write was answered with 500": but(PATCH, status=500)},
    "apart": {"an index never became the database": but(END, in_step=False)},
    "impression": {
        "a row of the impression log is broken": but(ROW, whole=False),
        "a row of the impression log has what no answer had": but(ROW, matches=[8], total=1),
    },
}
STORIES = {story: (kind, records) for kind, of in BROKEN.items() for story, records in of.items()}


@pytest.mark.parametrize("story", STORIES)
def test_a_broken_history_is_found_out(story: str) -> None:
    kind, records = STORIES[story]
    assert found(*records) == {kind: 1}


def test_a_write_that_is_repeated_must_not_be_made_twice() -> None:
    again = replace(COMMITS[3], rev=6, object_id="9")
    records = (*instead(COMMITS[3], COMMITS[3], again), replace(IMPORT, outcome=UNKNOWN))
    assert found(*records)["unacknowledged"] == 2  # nobody's, and a name that was given


def test_every_kind_of_violation_is_among_them() -> None:
    listed = re.findall(r"^    (\w+)  ", checker.__doc__ or "", re.MULTILINE)
    assert set(BROKEN) == set(listed)


# What is allowed.


def test_a_lost_answer_may_mean_either() -> None:
    without = [
        each for each in instead(COMMITS[2]) if not isinstance(each, Match | Look | Impression)
    ]
    imported = replace(COMMITS[3], rev=4)
    end = replace(
        END,
        rev=4,
        digest=digest((7, 2), (8, 1)),
        campaigns=END.campaigns | {"7": campaign(2, "a", "active")},
        kept=[],
    )
    replaced = {COMMITS[3].rev: imported}
    records = [
        replaced.get(each.rev, each) if isinstance(each, Commit) else each for each in without
    ]
    records = [end if isinstance(each, End) else each for each in records]
    records = [replace(IMPORT, rev=4) if each == IMPORT else each for each in records]
    assert found(*records) == {}


def test_an_answer_may_be_ahead_of_its_rev() -> None:
    """Changes that are applied at once may be seen before the rev moves."""
    ahead = asked(4.5, 0, 3, [EIGHT])
    verdict = check(History((*GOOD, ahead)))
    assert dict(verdict.found) == {}
    assert verdict.counts["answers ahead of their rev"] == 1


@pytest.mark.parametrize(
    ("fault", "record"),
    [
        ("postgres.stop", asked(LATER, 0, 3, [SEVEN], client="slow")),
        ("worker.stop", replace(YOUNG, begin=LATER, end=LATER + 1, outcome=LOST)),
        ("relay.kill", replace(YOUNG, begin=LATER, end=LATER + 1, outcome=REFUSED, status=503)),
    ],
)
def test_near_a_fault_more_is_allowed(fault: str, record: Match) -> None:
    near = Injected(fault, LATER - SETTLE_SECONDS, LATER - SETTLE_SECONDS + 0.5)
    assert found(*GOOD, *alive(LATER), near, record) == {}
    long_before = Injected(fault, 0.0, LATER - SETTLE_SECONDS - 0.5)
    assert found(*GOOD, *alive(LATER), long_before, record) != {}


@pytest.mark.parametrize("kind", ["host.kill", "host.drain", "relay.stop"])
def test_a_host_may_be_silent_for_its_own_faults(kind: str) -> None:
    own = Injected(kind, 5.0, LONG, host=0)
    assert found(*GOOD, own, AFTERWARDS) == {}


def test_a_service_that_ends_may_refuse_new_connections() -> None:
    drained = Injected("host.drain", 5.0, 5.1)
    new = replace(NOBODY_SAID, connection=2, begin=5.7, end=5.8, outcome=LOST, status=0)
    assert found(*GOOD, drained, new) == {}
    again = replace(new, begin=5.9, end=6.0, outcome=REFUSED, status=503)
    assert found(*GOOD, drained, new, again) == {}
    one_worker = Injected("worker.drain", 5.0, 5.1)
    assert found(*GOOD, one_worker, new) == {"drained": 1}


def test_a_stopped_worker_may_hold_an_idempotency_key() -> None:
    assert found(*STORIES["a create cannot be repeated"][1], Injected("worker.stop", 1, 5)) == {}
    assert found(*STORIES["a create cannot be repeated"][1], Injected("postgres.kill", 1, 5)) != {}


def test_pauses_are_told_by_host() -> None:
    verdict = check(History((*GOOD, *alive(LONG), AFTERWARDS)))
    assert verdict.pauses.keys() == {"match of host 0", "write of host 0"}
    assert verdict.pauses["write of host 0"].healthy == pytest.approx(PULSE_SECONDS)


def test_a_fault_of_redis_is_no_reason_to_refuse_a_match() -> None:
    refused = replace(YOUNG, outcome=REFUSED, status=503)
    assert found(*GOOD, Injected("redis.kill", 2.0, 3.0), refused) == {"refused": 1}


@pytest.mark.parametrize(
    ("at", "serves"), [(2.0, False), (5.0, None), (8.0, True), (12.0, None), (15.0, False)]
)
def test_a_flight_is_held_against_the_clock_of_the_service(at: float, serves: bool | None) -> None:
    """It is an hour away, and the clock is off by more from 5 s to 12 s."""
    flight = {"starts_at": "2027-01-15T09:00:00Z", "ends_at": "2027-01-15T11:00:00Z"}
    created = Commit(2, "campaign", "7", "create", campaign(1, "a", "active", **flight))
    end = replace(
        END,
        rev=2,
        digest=digest((7, 1)),
        campaigns={"7": campaign(1, "a", "active", **flight)},
        kept=[],
    )
    stepped = Injected("clock.step", 5.0, 12.0, clock=7200.0)
    base = (BEGIN, OWNER, created, CREATE, stepped, end)

    def wrong(*matches: tuple[int, int, int]) -> bool:
        return "wrong" in found(*base, asked(at, 0, 2, list(matches)))

    assert wrong(SEVEN) == (serves is False)
    assert wrong() == (serves is True)


def test_a_history_can_be_kept(tmp_path: Path) -> None:
    History(GOOD).save(tmp_path / "history.jsonl")
    assert History.load(tmp_path / "history.jsonl").records[:-1] == list(GOOD)[:-1]
    assert found(*History.load(tmp_path / "history.jsonl").records) == {}
