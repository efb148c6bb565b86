"""Forms, differences and charts: pure functions."""

from datetime import UTC, datetime, timedelta

import pytest

from console.campaign_form import EMPTY, changed, read_base, to_form
from console.chart import HEIGHT, WIDTH, chart, reason_shares
from console.difference import fields, words
from console.formats import age, money, number, percent, sentence, when
from console.pages.operations import differing_revs, state_of
from console.settings import ConsoleSettings

CAMPAIGN = {
    "name": "Spring",
    "advertiser_id": 3,
    "external_id": None,
    "priority": 5,
    "bid_micros": 1_250_000,
    "starts_at": "2026-11-20T08:30:00Z",
    "ends_at": None,
    "categories": ["IAB2", "IAB7"],
    "targeting": "a = 1\nand b = 2",
}


def test_only_what_a_person_changed_is_sent() -> None:
    form = to_form(CAMPAIGN)
    assert form["bid"] == "1.25"
    assert form["starts_at"] == "2026-11-20T08:30"
    assert changed(form, form) == {}
    assert changed(form | {"targeting": "a = 1\r\nand b = 2\r\n"}, form) == {}
    typed = {
        "bid": "0.000001",
        "priority": "7",
        "ends_at": "2026-12-01T00:00",
        "starts_at": "",
        "categories": "IAB3",
        "external_id": "x",
    }
    assert changed(form | typed, form) == {
        "bid_micros": 1,
        "priority": 7,
        "ends_at": "2026-12-01T00:00Z",
        "starts_at": None,
        "categories": ["IAB3"],
        "external_id": "x",
    }


@pytest.mark.parametrize("bid", ["many", "1.2.3", "0.0000001", "1e999999", "NaN", "9" * 20])
def test_what_is_no_bid_stays_text_for_the_api_to_refuse(bid: str) -> None:
    assert changed(EMPTY | {"bid": bid}, EMPTY) == {"bid_micros": bid}


def test_a_base_that_is_not_ours_is_empty() -> None:
    assert read_base("no json") == read_base("[1]") == {}
    assert read_base('{"name": "x"}') == {"name": "x"}


def test_a_difference_is_by_words_and_loses_nothing() -> None:
    before, after = "country = 'US' and age > 3", "country = 'DE' and age > 30"
    pieces = words(before, after)
    assert ("gone", "'US'") in pieces
    assert ("new", "'DE'") in pieces
    assert "".join(text for kind, text in pieces if kind != "new") == before
    assert "".join(text for kind, text in pieces if kind != "gone") == after
    told = fields({"status": "draft", "rev": 1, "x": 1}, {"status": "active", "rev": 2, "x": 1})
    assert [label for label, _ in told] == ["Status"]


def test_a_field_other_than_the_targeting_is_shown_as_a_whole() -> None:
    ((label, pieces),) = fields({"bid_micros": 1_393_000}, {"bid_micros": 2_000_000})
    assert label == "Bid (USD, CPM)"
    assert pieces == [("gone", "$1.393"), ("same", " → "), ("new", "$2.00")]


def test_the_chart_divides_the_misses_of_an_hour_by_their_reasons() -> None:
    phone = {"code": "targeting", "predicate": "device.type = 'phone'", "count": 3}
    hour = {
        "hour": "2026-11-18T04:00:00Z",
        "considered": 10,
        "matched": 6,
        "answered": 2,
        "outranked": 1,
        "reasons": [phone],
    }
    unexplained = hour | {"hour": "2026-11-18T03:00:00Z", "outranked": 0, "reasons": []}
    shares = reason_shares(hour)
    assert [(each.code, each.share, each.series) for each in shares] == [
        ("targeting", 0.75, "reason-1"),
        ("outranked", 0.25, "reason-2"),
    ]
    now = datetime(2026, 11, 18, 5, 30, tzinfo=UTC)
    changes = [(now - timedelta(hours=1), "Paused by Ada"), (now - timedelta(days=2), "too old")]
    made = chart([unexplained, hour], shares, changes, 24, now)
    assert len(made.bars) == 24
    assert [(p.series, p.height) for p in made.bars[-2].pieces] == [
        ("answered", HEIGHT * 0.2),
        ("reason-1", HEIGHT * 0.6),
        ("reason-2", HEIGHT * 0.2),
    ]
    assert made.bars[-2].pieces[-1].y == 0
    assert [p.series for p in made.bars[-3].pieces] == ["answered", "unknown"]
    assert made.bars[-1].pieces == []
    assert "10 considered" in made.bars[-2].label
    assert [(mark.x, mark.label) for mark in made.marks] == [(WIDTH * 22.5 / 24, "Paused by Ada")]


def test_reasons_without_a_colour_of_their_own_are_one_piece() -> None:
    reasons = [{"code": "targeting", "predicate": f"a = {n}", "count": 9 - n} for n in range(8)]
    hour = {"hour": "2026-11-18T05:00:00Z", "considered": 8, "matched": 0, "answered": 0}
    hour |= {"outranked": 0, "reasons": reasons}
    made = chart([hour], reason_shares(hour), [], 24, datetime(2026, 11, 18, 5, 30, tzinfo=UTC))
    assert [p.series for p in made.bars[-1].pieces] == [
        *(f"reason-{n}" for n in (1, 2, 3, 4, 5)),
        "other",
    ]


def test_numbers_times_and_paths() -> None:
    assert [money(n) for n in (0, 1_200_000, 1, 12_345_678_900_000)] == [
        *("$0.00", "$1.20", "$0.000001", "$12,345,678.90")
    ]
    assert (number(1234), number(0.5), number(None)) == ("1,234", "0.5", "–")
    assert [percent(share) for share in (0, 0.001, 0.5)] == ["0 %", "< 1 %", "50 %"]
    now = datetime(2026, 11, 18, 5, 0, tzinfo=UTC)
    days = ("2026-11-18T04:59:30Z", "2026-11-18T03:30:00Z", "2026-11-15T04:00:00Z")
    assert [age(day, now) for day in days] == ["less than a minute", "1 hour", "3 days"]
    assert sentence("its advertiser is ACME") == "Its advertiser is ACME."
    assert (when("2026-11-18T04:05:00Z"), when(None, "open")) == ("18 Nov 2026, 04:05", "open")
    assert ConsoleSettings("x", "/a/").root_path == "/a"
    with pytest.raises(ValueError, match="begins with a slash"):
        ConsoleSettings("x", "a")


def test_workers_that_differ_at_the_same_rev_are_found() -> None:
    def worker(rev: int, digest: str | None) -> dict[str, object]:
        return {"epoch": "e", "rev": rev, "digest": digest}

    assert differing_revs([worker(1, "a"), worker(2, "b"), worker(2, "b"), worker(3, None)]) == []
    assert differing_revs([worker(1, "a"), worker(2, "b"), worker(2, "c")]) == [2]


def test_a_key_is_valid_until_it_expires_or_is_revoked() -> None:
    now = datetime(2026, 11, 18, tzinfo=UTC)
    past, future = "2026-11-17T00:00:00Z", "2026-11-19T00:00:00Z"
    times = ((None, None), (future, None), (past, None), (None, past))
    keys = [{"expires_at": expires, "revoked_at": revoked} for expires, revoked in times]
    assert [state_of(key, now) for key in keys] == ["valid", "valid", "expired", "revoked"]
