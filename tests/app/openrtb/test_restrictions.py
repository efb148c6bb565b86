"""What a request forbids, on real campaigns in a real index, through the feed."""

import json
from typing import Any

import pytest

from app.openrtb import answer, ask
from campaigns.feed.view import View
from tests.app.openrtb.exchange import (
    AT,
    NOW,
    advertiser,
    bid_request,
    campaign,
    parsed,
    view_of,
)


def served(view: View, document: object, **options: Any) -> list[list[int]]:
    """The campaigns of each imp."""
    result = answer(ask(parsed(document), view, AT, **options), view, AT, NOW, limit=100)
    found = [json.loads(part) for part in result.parts]
    return [[m["campaign_id"] for m in part["matches"]] for part in found]


def ids(view: View, **fields: Any) -> list[int]:
    """Who is served on the only imp."""
    imp = fields.pop("imp", {})
    rates = fields.pop("rates", {})
    (found,) = served(view, bid_request(imp=[{"id": "1", **imp}], **fields), rates=rates)
    return sorted(found)


def reasons(view: View, document: object, **options: Any) -> tuple[str | None, ...]:
    return answer(ask(parsed(document), view, AT, **options), view, AT, NOW).reasons


BIDS = [campaign(n, bid=n * 500_000) for n in range(1, 5)]


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        ({}, [1, 2, 3, 4]),
        ({"bidfloor": 0}, [1, 2, 3, 4]),
        ({"bidfloor": -3}, [1, 2, 3, 4]),
        ({"bidfloor": 1}, [2, 3, 4]),
        ({"bidfloor": 1.0000001}, [3, 4]),
        ({"bidfloor": 1.5, "bidfloorcur": "USD"}, [3, 4]),
        ({"bidfloor": 1.5, "bidfloorcur": "usd"}, [3, 4]),
        ({"bidfloor": 1.5, "bidfloorcur": None}, [3, 4]),
        ({"bidfloor": "1.5"}, [3, 4]),
        ({"bidfloor": 1.2, "bidfloorcur": "EUR"}, [3, 4]),
        ({"bidfloor": 2, "bidfloorcur": "EUR"}, []),
        ({"bidfloor": 150, "bidfloorcur": "JPY"}, []),
        ({"bidfloor": 0, "bidfloorcur": "JPY"}, [1, 2, 3, 4]),
        ({"bidfloor": 1, "bidfloorcur": 7}, []),
        ({"bidfloor": "much"}, []),
        ({"bidfloor": "nan"}, []),
        ({"bidfloor": True}, []),
        ({"bidfloor": 1e300}, []),
    ],
)
def test_nobody_below_the_floor(floor: dict[str, Any], expected: list[int]) -> None:
    assert ids(view_of(*BIDS), imp=floor, rates={"EUR": 1.25}) == expected


def test_binary_fractions_do_not_move_a_floor() -> None:
    for micros in (10_000, 70_000, 290_000, 570_000, 1_100_000, 4_350_000):
        view = view_of(campaign(1, bid=micros), campaign(2, bid=micros - 1))
        assert ids(view, imp={"bidfloor": micros / 1e6}) == [1]


def test_why_nobody_can_bid_is_told_for_each_imp() -> None:
    document = bid_request(
        imp=[
            {"id": "1", "bidfloor": 1, "bidfloorcur": "JPY"},
            {"id": "2", "bidfloor": "much"},
            {"id": "3", "pmp": {"private_auction": 1}},
            {"id": "4", "bidfloor": 100},
            {"id": "5"},
        ]
    )
    view = view_of(*BIDS)
    assert reasons(view, document) == ("currency", "floor", "deals", "no_match", None)
    euros = bid_request(cur=["EUR", "CHF"])
    assert reasons(view, euros) == ("currency",)
    assert reasons(view, euros, rates={"CHF": 1.1}) == (None,)
    assert reasons(view, bid_request(cur=["EUR", "USD"])) == (None,)
    assert reasons(view, bid_request(cur=[])) == (None,)


CATEGORISED = [
    campaign(1),
    campaign(2, categories=("IAB7",)),
    campaign(3, categories=("IAB7-39",)),
    campaign(4, categories=("IAB2", "iab7-1")),
    campaign(5, categories=("5:150",)),
    campaign(6, "country = 'US'", categories=("IAB7",)),
    campaign(7, "country = 'US'", categories=("IAB8",)),
]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [1, 2, 3, 4, 5, 6, 7]),
        ({"bcat": []}, [1, 2, 3, 4, 5, 6, 7]),
        ({"bcat": None}, [1, 2, 3, 4, 5, 6, 7]),
        ({"bcat": ["IAB7"]}, [1, 5, 7]),
        ({"bcat": ["iab7"]}, [1, 5, 7]),
        ({"bcat": "IAB7"}, [1, 5, 7]),
        ({"bcat": ["IAB7-39"]}, [1, 2, 4, 5, 6, 7]),
        ({"bcat": ["IAB7-1", "IAB8", 7, None]}, [1, 2, 3, 5, 6]),
        ({"bcat": ["150"]}, [1, 2, 3, 4, 5, 6, 7]),
        ({"bcat": ["150"], "cattax": 5}, [1, 2, 3, 4, 6, 7]),
        ({"bcat": [150], "cattax": 5}, [1, 2, 3, 4, 6, 7]),
        ({"bcat": ["IAB7"], "cattax": 5}, [1, 2, 3, 4, 5, 6, 7]),
        ({"acat": ["IAB7"]}, [2, 3, 6]),
        ({"acat": ["IAB7-39", "IAB8"]}, [3, 7]),
        ({"acat": ["IAB7", "IAB2"], "bcat": ["IAB2"]}, [2, 3, 6]),
        ({"acat": ["150"], "cattax": 5}, [5]),
    ],
)
def test_blocked_categories_and_what_lies_in_them(
    fields: dict[str, Any], expected: list[int]
) -> None:
    place = {"geo": {"country": "USA"}}
    assert ids(view_of(*CATEGORISED), device=place, **fields) == expected


def test_the_plain_match_knows_nothing_of_blocked_categories() -> None:
    view = view_of(*CATEGORISED)
    assert view.index.match({"country": "US"}) == [1, 2, 3, 4, 5, 6, 7]
    assert view.index.match({}) == [1, 2, 3, 4, 5]


ADVERTISERS = [
    advertiser(1, "ford.example"),
    advertiser(2, "shop.ford.example"),
    advertiser(3, "notford.example"),
    advertiser(4, None),
    *(campaign(n, advertiser=n) for n in range(1, 5)),
]


@pytest.mark.parametrize(
    ("blocked", "expected"),
    [
        (None, [1, 2, 3, 4]),
        (["ford.example"], [3, 4]),
        (["FORD.example."], [3, 4]),
        (["www.ford.example"], [3, 4]),
        ("ford.example", [3, 4]),
        (["shop.ford.example"], [1, 3, 4]),
        (["example"], [1, 2, 3, 4]),
        (["x.ford.example", 7, {}, "", "."], [1, 2, 3, 4]),
        (["notford.example", "ford.example"], [4]),
    ],
)
def test_blocked_advertisers_and_all_their_domains(blocked: object, expected: list[int]) -> None:
    assert ids(view_of(*ADVERTISERS), badv=blocked) == expected


def test_an_advertiser_that_moves_is_found_where_it_is() -> None:
    view = view_of(*ADVERTISERS, advertiser(1, "gone.example"), ("advertiser", "2", None))
    assert ids(view, badv=["ford.example"]) == [1, 2, 3, 4]
    assert ids(view, badv=["gone.example"]) == [2, 3, 4]


DEALERS = [
    campaign(1),
    campaign(2, "imp.deals any of ('d1')"),
    campaign(3, "imp.deals any of ('d2', 'd3')"),
    campaign(4, "imp.deals any of ('d1') or country = 'US'"),
    campaign(5, "imp.deals none of ('d1')"),
    campaign(6, "not (imp.deals any of ('d9'))"),
    campaign(7, "imp.deals is not empty"),
    campaign(8, "imp.deals all of ('d1', 'd2')"),
    campaign(9, "imp.deals any of ('d1') and country = 'US'"),
    campaign(10, "imp.deals any of ('d1')", bid=5_000_000),
]


def private(*deals: object, **fields: Any) -> dict[str, Any]:
    return {"pmp": {"private_auction": 1, "deals": list(deals)}, **fields}


@pytest.mark.parametrize(
    ("imp", "expected"),
    [
        ({}, [1]),
        ({"pmp": {"deals": [{"id": "d1"}]}}, [1, 2, 4, 6, 7, 10]),
        (private({"id": "d1"}), [2, 4, 7, 10]),
        (private({"id": "d2"}), [3, 7]),
        (private({"id": "d1"}, {"id": "d2"}), [2, 3, 4, 7, 8, 10]),
        (private({"id": "d8"}), [7]),
        (private(), []),
        (private({"id": 7}, None), []),
        ({"pmp": {"private_auction": "1", "deals": [{"id": "d2"}]}}, [3, 7]),
        # The floor of a deal is the deal's, else the imp's.
        (private({"id": "d1", "bidfloor": 2}), [10]),
        (private({"id": "d1", "bidfloor": 0.5}, bidfloor=9), [2, 4, 7, 10]),
        (private({"id": "d1"}, bidfloor=2), [10]),
        (private({"id": "d1", "bidfloor": 2}, {"id": "d2", "bidfloor": 0.5}), [3, 7, 10]),
        (private({"id": "d1", "bidfloor": 2, "bidfloorcur": "XXX"}, {"id": "d2"}), [3, 7]),
        (private({"id": "d1", "bidfloor": 2, "bidfloorcur": "XXX"}), []),
    ],
)
def test_in_a_private_auction_only_deals_count(imp: dict[str, Any], expected: list[int]) -> None:
    assert ids(view_of(*DEALERS), imp=imp) == expected


def test_many_floors_of_deals_are_bounded_by_the_strictest() -> None:
    deals = [{"id": f"d{n}", "bidfloor": n} for n in range(1, 21)]
    view = view_of(
        *(campaign(n, f"imp.deals any of ('d{n}')", bid=n * 10**6) for n in range(1, 21))
    )
    assert ids(view, imp=private(*deals)) == [*range(1, 8), 20]


def test_restrictions_hold_together() -> None:
    view = view_of(
        advertiser(1, "a.example"),
        advertiser(2, "b.example"),
        campaign(1, "imp.deals any of ('d1')", advertiser=1),
        campaign(2, "imp.deals any of ('d1')", advertiser=2),
        campaign(3, "imp.deals any of ('d1')", advertiser=2, categories=("IAB7-3",)),
    )
    imp = private({"id": "d1"})
    assert ids(view, imp=imp) == [1, 2, 3]
    assert ids(view, imp=imp, badv=["a.example"]) == [2, 3]
    assert ids(view, imp=imp, badv=["a.example"], bcat=["IAB7"]) == [2]
    assert ids(view, imp=imp, bcat=["IAB7"], acat=["IAB7"]) == []


def test_what_we_have_no_data_for_is_tolerated() -> None:
    fields = {"wseat": ["1"], "bseat": ["2"], "bapp": ["x"], "wlang": ["en"], "at": 3}
    imp = {"banner": {"battr": [1], "btype": [4]}, "instl": 1, "exp": 7}
    assert ids(view_of(*BIDS), imp=imp, **fields) == [1, 2, 3, 4]
