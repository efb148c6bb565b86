"""Forms, differences and charts: pure functions."""

from datetime import UTC, datetime

import pytest

from console.campaign_form import EMPTY, changed, read_base, to_form
from console.chart import HEIGHT, bars
from console.difference import fields, words
from console.render import money, number, when
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


def test_the_chart_has_a_bar_for_each_hour() -> None:
    hour = {"hour": "2026-11-18T04:00:00Z", "considered": 10, "matched": 6, "answered": 2}
    made = bars([hour], 24, datetime(2026, 11, 18, 5, 30, tzinfo=UTC))
    assert len(made) == 24
    full = made[-2]
    assert (full.answered, full.matched, full.missed) == (HEIGHT * 0.2, HEIGHT * 0.4, HEIGHT * 0.4)
    assert "10 considered" in full.label
    assert sum(bar.answered for bar in made) == full.answered


def test_numbers_times_and_paths() -> None:
    assert [money(n) for n in (0, 1_200_000, 1, 12_345_678_900_000)] == [
        *("$0.00", "$1.20", "$0.000001", "$12,345,678.90")
    ]
    assert (number(1234), number(0.5), number(None)) == ("1,234", "0.5", "–")
    assert (when("2026-11-18T04:05:00Z"), when(None, "open")) == ("18 Nov 2026, 04:05", "open")
    assert ConsoleSettings("x", "/a/").root_path == "/a"
    with pytest.raises(ValueError, match="begins with a slash"):
        ConsoleSettings("x", "a")
