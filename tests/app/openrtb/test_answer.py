"""The bytes of the answer."""

import json

from app.openrtb import answer, ask
from tests.app.openrtb.exchange import AT, NOW, bid_request, campaign, parsed, view_of

VIEW = view_of(
    campaign(1, "imp.sizes any of ('300x250') and now.hour = 14", bid=2_000_000),
    campaign(2, "imp.media any of ('banner')", bid=1_000_000),
)


def test_an_entry_for_each_imp_in_order_with_the_place_in_the_log() -> None:
    document = bid_request(
        id='r "1"\n',
        imp=[
            {"id": "é", "banner": {"w": 300, "h": 250}},
            {"id": "2", "video": {}},
            {"id": "2", "banner": {}},
        ],
    )
    result = answer(ask(parsed(document), VIEW, AT), VIEW, AT, NOW, limit=1)
    assert result.body is not None
    assert json.loads(result.body) == {
        "id": 'r "1"\n',
        "imps": [
            {
                "id": "é",
                "matches": [{"campaign_id": 1, "priority": 0, "bid_micros": 2_000_000}],
            },
            {"id": "2", "matches": []},
            {
                "id": "2",
                "matches": [{"campaign_id": 2, "priority": 0, "bid_micros": 1_000_000}],
            },
        ],
        "epoch": "e1",
        "rev": 2,
    }
    assert result.reasons == (None, "no_match", None)


def test_nothing_for_any_imp_is_no_answer() -> None:
    document = bid_request(imp=[{"id": "1"}, {"id": "2", "pmp": {"private_auction": 1}}])
    result = answer(ask(parsed(document), VIEW, AT), VIEW, AT, NOW)
    assert result.body is None
    assert result.reasons == ("no_match", "deals")


def test_windows_are_held_against_the_moment() -> None:
    view = view_of(campaign(1))
    view.index.insert(9, "true", start=AT, end=AT + 1)
    question = ask(parsed(bid_request()), view, AT)
    assert answer(question, view, AT, NOW).counts == (2,)
    assert answer(question, view, AT + 1, NOW).counts == (1,)
