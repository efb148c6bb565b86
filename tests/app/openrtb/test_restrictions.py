"""What a request forbids, on real campaigns in a real index, through the feed."""

from typing import Any

import pytest

from campaigns.feed.view import View
from tests.app.openrtb.exchange import (
    advertiser,
    answered,
    bid_request,
    body,
    campaign,
    view_of,
)


def served(view: View, document: object, **options: Any) -> list[list[int]]:
    """The campaigns of each imp."""
    return [[match.id for match in imp.matches] for imp in answered(document, view, **options).imps]


def ids(view: View, **fields: Any) -> list[int]:
    """Who is served on the only imp."""
    imp = fields.pop("imp", {})
    rates = fields.pop("rates", {})
    (found,) = served(view, bid_request(imp=[{"id": "1", **imp}], **fields), rates=rates)
    return sorted(found)


def reasons(view: View, document: object, **options: Any) -> tuple[str | None, ...]:
    return answered(document, view, **options).reasons


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
        ({"bcat": ["IAB7"], "cattax": 2}, [1, 5, 7]),
        ({"bcat": ["IAB7", "150"], "cattax": 5}, [1, 7]),
        ({"acat": ["IAB7"], "cattax": 7}, [2, 3, 6]),
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
        (["ford.example/"], [3, 4]),
        (["http://ford.example"], [3, 4]),
        (["https://ann@www.Ford.example:443/cars?x=1#y"], [3, 4]),
        (["//ford.example/cars"], [3, 4]),
        (["*.ford.example"], [3, 4]),
        ([".ford.example"], [3, 4]),
        (["*.shop.ford.example"], [1, 3, 4]),
        ([" WWW.FORD.EXAMPLE "], [3, 4]),
        (["http://", "*", "..", "www."], [1, 2, 3, 4]),
    ],
)
def test_blocked_advertisers_and_all_their_domains(blocked: object, expected: list[int]) -> None:
    assert ids(view_of(*ADVERTISERS), badv=blocked) == expected


def test_a_blocked_domain_with_umlauts_is_the_one_in_punycode() -> None:
    view = view_of(advertiser(1, "xn--mnchen-3ya.example"), campaign(1, advertiser=1))
    assert ids(view, badv=["münchen.example"]) == []
    assert ids(view, badv=["https://www.MÜNCHEN.example/"]) == []
    assert ids(view, badv=["m" * 300 + "ü.example"]) == [1]


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
        (private({"id": []}, None), []),
        (private({"id": 7}), [7]),
        ({"pmp": {"private_auction": "1", "deals": [{"id": "d2"}]}}, [3, 7]),
        # The floor of a deal is the deal's, and 0 if it has none.
        (private({"id": "d1", "bidfloor": 2}), [10]),
        (private({"id": "d1", "bidfloor": 0.5}, bidfloor=9), [2, 4, 7, 10]),
        (private({"id": "d1"}, bidfloor=2), [2, 4, 7, 10]),
        (private({"id": "d1", "bidfloor": 2}, {"id": "d2", "bidfloor": 0.5}), [3, 7, 8, 10]),
        (private({"id": "d1", "bidfloor": 2, "bidfloorcur": "XXX"}, {"id": "d2"}), [3, 7]),
        (private({"id": "d1", "bidfloor": 2, "bidfloorcur": "XXX"}), []),
    ],
)
def test_in_a_private_auction_only_deals_count(imp: dict[str, Any], expected: list[int]) -> None:
    assert ids(view_of(*DEALERS), imp=imp) == expected


def test_a_deal_whose_floor_cannot_be_used_is_not_offered_in_the_open_auction_either() -> None:
    view = view_of(campaign(1), campaign(2, "imp.deals any of ('d1')"))
    deal = {"id": "d1", "bidfloor": 2, "bidfloorcur": "XXX"}
    assert ids(view, imp={"pmp": {"deals": [deal]}}) == [1]


def test_any_number_of_deals_keep_their_floors() -> None:
    deals = [{"id": f"d{n}", "bidfloor": n} for n in range(1, 21)]
    view = view_of(
        *(campaign(n, f"imp.deals any of ('d{n}')", bid=n * 10**6) for n in range(1, 21))
    )
    assert ids(view, imp=private(*deals)) == [*range(1, 21)]
    higher = [{"id": f"d{n}", "bidfloor": n + (n > 8)} for n in range(1, 21)]
    assert ids(view, imp=private(*higher)) == [*range(1, 9)]


def offers(view: View, imp: dict[str, Any], **fields: Any) -> dict[int, tuple[Any, Any]]:
    """The format and the deal of each campaign of the only imp."""
    found = body(bid_request(imp=[{"id": "1", **imp}], **fields), view)
    matches = found["imps"][0]["matches"] if found else []
    return {match["campaign_id"]: (match["format"], match["deal_id"]) for match in matches}


def test_the_floor_of_a_deal_is_its_own_and_that_of_the_imp_is_for_the_open_auction() -> None:
    view = view_of(
        campaign(1, bid=700_000),
        campaign(2, "imp.deals any of ('A')", bid=700_000),
        campaign(3, "imp.deals any of ('A')", bid=2_000_000),
    )
    low = {"bidfloor": 0.1, "pmp": {"deals": [{"id": "A", "bidfloor": 2}]}}
    assert offers(view, low) == {1: (None, None), 3: (None, "A")}
    high = {"bidfloor": 1, "pmp": {"deals": [{"id": "A", "bidfloor": 0.5}]}}
    assert offers(view, high) == {2: (None, "A"), 3: (None, "A")}
    free = {"bidfloor": 1, "pmp": {"deals": [{"id": "A"}]}}
    assert offers(view, free) == {2: (None, "A"), 3: (None, "A")}
    other = {"bidfloor": 1, "bidfloorcur": "XXX", "pmp": {"deals": [{"id": "A", "bidfloor": 1}]}}
    assert offers(view, other) == {3: (None, "A")}


def test_which_deal_a_campaign_is_for() -> None:
    view = view_of(
        campaign(1, "imp.deals all of ('A', 'B')"),
        campaign(2, "imp.deals any of ('B', 'A')"),
        campaign(3, "imp.deals any of ('A') and not (imp.deals any of ('C'))"),
        campaign(4, "imp.deals is not empty"),
        campaign(5, "imp.deals none of ('Z')"),
        campaign(6, "imp.deals any of ('C') or country = 'US'"),
        campaign(7, "imp.deals any of ('B')", bid=5_000_000),
    )
    deals = [{"id": "A", "bidfloor": 2}, {"id": "B"}, {"id": "C", "bidfloor": 1}]
    assert offers(view, {"pmp": {"deals": deals}}) == {
        1: (None, "B"),
        2: (None, "B"),
        4: (None, "B"),
        5: (None, None),
        6: (None, "C"),
        7: (None, "B"),
    }
    here = {"device": {"geo": {"country": "USA"}}}
    assert offers(view, {"pmp": {"deals": deals}}, **here)[6] == (None, None)
    assert 6 not in offers(view, private(*deals), **here)
    assert offers(view, {"pmp": {"deals": deals[:1]}}) == {5: (None, None)}


def test_many_campaigns_that_no_offer_fits_do_not_hide_the_one_that_one_does() -> None:
    outbid = [campaign(n, "imp.deals any of ('A')", bid=9_000_000) for n in range(1, 200)]
    view = view_of(*outbid, campaign(500, "imp.deals any of ('B')", bid=2_000_000))
    deals = [{"id": "A", "bidfloor": 10}, {"id": "B", "bidfloor": 1}]
    (imp,) = answered(bid_request(imp=[{"id": "1", **private(*deals)}]), view, limit=2).imps
    assert [match.id for match in imp.matches] == [500]


def test_a_fixed_price_is_in_the_answer() -> None:
    view = view_of(campaign(1, "imp.deals any of ('A')", bid=3_000_000))
    fixed = private({"id": "A", "bidfloor": 2, "at": 3})
    found = body(bid_request(imp=[{"id": "1", **fixed}]), view)
    assert found["imps"][0]["matches"][0]["price_micros"] == 2_000_000
    assert ids(view, imp=private({"id": "A", "bidfloor": 4, "at": 3})) == []


SEATED = [
    advertiser(1, "a.example", seat="s1"),
    advertiser(2, "b.a.example", seat="s2", apps=["com.game", "628677149"]),
    advertiser(3, None),
    *(campaign(n, advertiser=n) for n in range(1, 4)),
    *(campaign(n + 10, "imp.deals any of ('A')", advertiser=n) for n in range(1, 4)),
]


@pytest.mark.parametrize(
    ("fields", "deal", "expected"),
    [
        ({}, {}, [1, 2, 3, 11, 12, 13]),
        ({"wseat": ["s1"]}, {}, [1, 11]),
        ({"wseat": "s2"}, {}, [2, 12]),
        ({"wseat": []}, {}, [1, 2, 3, 11, 12, 13]),
        ({"bseat": ["s1", "s9"]}, {}, [2, 3, 12, 13]),
        ({}, {"wseat": ["s1"]}, [1, 2, 3, 11]),
        ({"wseat": ["s2"]}, {"wseat": ["s1"]}, [2]),
        ({}, {"wadomain": ["a.example"]}, [1, 2, 3, 11, 12]),
        ({}, {"wadomain": ["https://B.a.example/"]}, [1, 2, 3, 12]),
        ({"bapp": ["com.game"]}, {}, [1, 3, 11, 13]),
        ({"bapp": [" COM.Game "]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["https://play.google.com/store/apps/details?id=com.game"]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["https://apps.apple.com/us/app/x/id628677149"]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["play.google.com/store/apps/details?hl=de&id=com.game"]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["apps.apple.com/us/app/x/id628677149/?mt=8#top"]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["market://details?id=com.game"]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["id628677149"]}, {}, [1, 3, 11, 13]),
        ({"bapp": [628677149]}, {}, [1, 3, 11, 13]),
        ({"bapp": ["com.gam", "http://[", {}]}, {}, [1, 2, 3, 11, 12, 13]),
    ],
)
def test_seats_domains_and_apps(
    fields: dict[str, Any], deal: dict[str, Any], expected: list[int]
) -> None:
    imp = {"pmp": {"deals": [{"id": "A", **deal}]}}
    assert ids(view_of(*SEATED), imp=imp, **fields) == expected


def test_an_advertiser_that_changes_its_seat_and_apps_is_found_by_the_new_ones() -> None:
    view = view_of(*SEATED, advertiser(2, None, seat="s3", apps=["x"]))
    assert ids(view, bseat=["s2"], bapp=["com.game"]) == [1, 2, 3]
    assert ids(view, bseat=["s3"]) == [1, 3]
    assert ids(view, bapp=["X"]) == [1, 3]


def test_each_format_is_matched_by_itself() -> None:
    view = view_of(
        campaign(1, "imp.media any of ('banner') and imp.sizes any of ('640x480')"),
        campaign(2, "imp.media any of ('video') and imp.sizes any of ('640x480')"),
        campaign(3, "imp.sizes any of ('300x250')"),
        campaign(4),
        campaign(5, "imp.video.maxduration >= 15 and imp.video.mimes any of ('video/mp4')"),
        campaign(6, "imp.banner.api any of (3) and imp.video.maxduration > 0"),
    )
    both = {
        "banner": {"w": 300, "h": 250, "api": [3]},
        "video": {"w": 640, "h": 480, "maxduration": 30, "mimes": ["video/mp4"]},
    }
    assert offers(view, both) == {
        2: ("video", None),
        3: ("banner", None),
        4: ("banner", None),
        5: ("video", None),
    }


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
    fields = {"bseat": ["2"], "bapp": ["x"], "wlang": ["en"], "at": 3}
    imp = {"banner": {"battr": [1], "btype": [4]}, "instl": 1, "exp": 7}
    assert ids(view_of(*BIDS), imp=imp, **fields) == [1, 2, 3, 4]


@pytest.mark.parametrize("limit", [1, 3, 8])
@pytest.mark.parametrize(
    ("imp", "fields", "expected"),
    [
        ({"private_auction": 1}, {}, [205, 204, 203, 202, 201]),
        ({"private_auction": 1}, {"bcat": ["IAB7"]}, [205, 203, 201]),
        ({"bidfloor": 8}, {}, [205, 204, 203, 202, 201]),
        ({"bidfloor": 2.999}, {}, [200, 199, 205, 204, 203, 202, 201]),
        ({}, {"wseat": ["s2"]}, [205, 203, 201]),
    ],
)
def test_campaigns_for_deals_are_found_below_many_that_are_for_the_open_auction(
    imp: dict[str, Any], fields: dict[str, Any], expected: list[int], limit: int
) -> None:
    view = view_of(
        advertiser(1, "a.example", seat="s1"),
        advertiser(2, "b.example", seat="s2"),
        *(campaign(n, bid=3_000_000 - 1000 * (200 - n)) for n in range(1, 201)),
        *(
            campaign(
                n,
                "imp.deals any of ('A')",
                bid=1000 * (n - 200),
                advertiser=1 + n % 2,
                categories=("IAB2",) if n % 2 else ("IAB7-1",),
            )
            for n in range(201, 206)
        ),
    )
    pmp = {"private_auction": imp.get("private_auction", 0), "deals": [{"id": "A"}]}
    document = bid_request(imp=[{"id": "1", **imp, "pmp": pmp}], **fields)
    (found,) = answered(document, view, limit=limit).imps
    assert [match.id for match in found.matches] == expected[:limit]
