"""The answer: which campaign for which imp, format and deal, and its bytes."""

import json

from app.openrtb import answer, ask
from app.openrtb.response import bid_response, matches, no_bid_response
from tests.app.openrtb.exchange import (
    AT,
    NOW,
    advertiser,
    answered,
    asked,
    bid_request,
    body,
    campaign,
    parsed,
    view_of,
)

VIEW = view_of(
    advertiser(3, "shop.example", seat="s3"),
    campaign(1, "imp.sizes any of ('300x250') and now.hour = 14", bid=2_000_000, advertiser=3),
    campaign(2, "imp.media any of ('banner')", bid=1_000_000, categories=("IAB2", "5:150")),
)


def test_an_entry_for_each_imp_in_order_with_the_place_in_the_log() -> None:
    document = bid_request(
        id='r "1"\n',
        imp=[
            {"id": "é", "banner": {"w": 300, "h": 250}},
            {"id": "2", "video": {}},
            {"id": 3, "banner": {}},
        ],
    )
    common = {"priority": 0, "currency": "USD", "format": "banner", "deal_id": None}
    assert body(document, VIEW, limit=1) == {
        "id": 'r "1"\n',
        "imps": [
            {
                "id": "é",
                "matches": [
                    {
                        "campaign_id": 1,
                        "bid_micros": 2_000_000,
                        "advertiser_id": 3,
                        "seat": "s3",
                        "adomain": ["shop.example"],
                        **common,
                    }
                ],
            },
            {"id": "2", "matches": []},
            {
                "id": 3,
                "matches": [
                    {
                        "campaign_id": 2,
                        "bid_micros": 1_000_000,
                        "advertiser_id": 1,
                        "seat": None,
                        "adomain": [],
                        **common,
                    }
                ],
            },
        ],
        "epoch": "e1",
        "rev": 3,
    }
    assert answered(document, VIEW).reasons == (None, "no_match", None)


def test_external_ids_are_there_as_far_as_they_are_known() -> None:
    question = asked(bid_request(imp=[{"id": "1", "banner": {"w": 300, "h": 250}}]), VIEW)
    names = {1: {"external_id": "spring", "advertiser_id": 3}}
    sent = matches(question, answer(question, VIEW, AT, NOW), VIEW, names)
    assert sent is not None
    found = json.loads(sent)["imps"][0]["matches"]
    assert [match.get("external_id", "?") for match in found] == ["spring", "?"]


def test_nothing_for_any_imp_is_no_answer() -> None:
    document = bid_request(imp=[{"id": "1"}, {"id": "2", "pmp": {"private_auction": 1}}])
    assert body(document, VIEW) is None
    assert answered(document, VIEW).reasons == ("no_match", "deals")


def test_windows_are_held_against_the_moment() -> None:
    view = view_of(campaign(1))
    view.index.insert(9, "true", start=AT, end=AT + 1)
    question = ask(parsed(bid_request()), view, AT)
    for at, ids in ((AT, [1, 9]), (AT + 1, [1])):
        (imp,) = answer(question, view, at, NOW).imps
        assert sorted(match.id for match in imp.matches) == ids


def test_imps_behind_the_deadline_are_left_out() -> None:
    banner = {"banner": {"w": 300, "h": 250}}
    question = asked(bid_request(imp=[{"id": str(n), **banner} for n in range(3)]), VIEW)
    found = answer(question, VIEW, AT, NOW, deadline=0.0)
    assert found.reasons == (None, "deadline", "deadline")
    assert [len(imp.matches) for imp in found.imps] == [2, 0, 0]


def test_a_bid_response_of_version_2_6() -> None:
    deal = {"id": "d1", "bidfloor": 1.5, "bidfloorcur": "EUR", "at": 3}
    view = view_of(
        advertiser(3, "shop.example", seat="s3"),
        campaign(1, bid=2_200_000, advertiser=3, categories=("IAB7-39", "IAB2")),
        campaign(2, "imp.deals any of ('d1')", bid=3_300_000, categories=("5:150",)),
        campaign(4, "imp.media any of ('native')", bid=1_100_000, advertiser=3),
    )
    document = bid_request(
        id=7,
        cur=["CHF", "EUR"],
        imp=[
            {"id": 1, "video": {}, "pmp": {"deals": [deal]}},
            {"id": "n", "native": {"request": "{}"}},
            {"id": "none", "bidfloor": 99},
        ],
    )
    question = asked(document, view, rates={"EUR": 1.1})
    sent = bid_response(question, answer(question, view, AT, NOW, 1), view)
    assert sent is not None
    of_shop = {"adomain": ["shop.example"]}
    assert json.loads(sent) == {
        "id": "7",
        "cur": "EUR",
        "seatbid": [
            {
                "bid": [
                    {
                        "id": "1-2",
                        "impid": "1",
                        "price": 1.5,
                        "cid": "2",
                        "crid": "2",
                        "cat": ["150"],
                        "cattax": 5,
                        "dealid": "d1",
                        "mtype": 2,
                    }
                ]
            },
            {
                "seat": "s3",
                "bid": [
                    {
                        "id": "n-1",
                        "impid": "n",
                        "price": 2.0,
                        "cid": "1",
                        "crid": "1",
                        "cat": ["IAB2", "IAB7-39"],
                        "cattax": 1,
                        "mtype": 4,
                        **of_shop,
                    }
                ],
            },
        ],
    }
    assert json.loads(no_bid_response(7, "floor")) == {"id": "7", "nbr": 502}
