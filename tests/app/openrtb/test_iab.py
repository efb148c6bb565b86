"""The IAB's example requests: what they become, and who matches, worked out by hand."""

from typing import Any

import pytest

from tests.app.openrtb import iab
from tests.app.openrtb.exchange import advertiser, body, campaign, events, view_of

VIEW = view_of(
    advertiser(1, "shop.example", seat="Agency1"),
    advertiser(2, "go-text.me", seat="Agency2"),
    campaign(1, "imp.sizes any of ('300x250') and imp.media any of ('banner')", bid=2_000_000),
    campaign(2, "categories any of ('IAB3')", bid=20_000),
    campaign(3, "app.bundle = '12345' and device.os = 'ios' and device.os_version >= '6'"),
    campaign(4, "device.carrier = 'VERIZON'", categories=("IAB7-39",)),
    campaign(5, "device.connection = 'cellular'", advertiser=2),
    campaign(6, "user.segments any of ('Data Provider 1|:12341318394918')"),
    campaign(7, "content.series = 'All About Cars' and keywords all of ('keyword-a', 'keyword-c')"),
    campaign(8, "imp.deals any of ('AB-Agency1-0001', 'XY-Agency2-0001')", bid=2_500_000),
    campaign(9, "imp.deals is not empty", bid=2_200_000, advertiser=2),
    campaign(
        10, "imp.video.maxduration >= 60 and imp.video.mimes any of ('video/mp4')", bid=8_000_000
    ),
    campaign(11, "imp.video.minduration <= 15 and imp.video.maxduration <= 15", bid=15_000_000),
    campaign(12, "keywords any of ('roadside', 'cannon street')", bid=6_600_000),
    campaign(13, "imp.video.skip", bid=10),
    campaign(14, "not imp.video.skip", bid=10),
    campaign(15, "imp.video.plcmt = 1"),
)
OPEN = None


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        # Campaign 2 is below the floor of 0.03.
        (iab.SIMPLE_BANNER, {"1": [(1, "banner", OPEN)]}),
        (iab.EXPANDABLE, {"1": [(1, "banner", OPEN)]}),
        # 4 is of a blocked category, 5 of a blocked advertiser.
        (iab.MOBILE, {"1": [(3, "banner", OPEN)]}),
        # The companion ads of 300x250 are no banner.
        (iab.VIDEO, {"1": [(6, "video", OPEN), (7, "video", OPEN)]}),
        # A private auction: 1 is for the open one; 9 bids 2.2, and its seat is in the second deal.
        (
            iab.DIRECT_DEAL,
            {"1": [(8, "banner", "AB-Agency1-0001"), (9, "banner", "XY-Agency2-0001")]},
        ),
        (
            iab.STRUCTURED_POD,
            {"1": [(10, "video", OPEN)], "2": [], "3": [], "4": [(10, "video", OPEN)]},
        ),
        (iab.DYNAMIC_POD, {"1": [(10, "video", OPEN)]}),
        (iab.HYBRID_POD, {"1": [(11, "video", OPEN)], "2": [(10, "video", OPEN)]}),
        # The floor is 5 GBP, or 6.5 USD; those of the deals are in USD.
        (iab.DOOH_BANNER, {"007": [(12, "banner", OPEN), (9, "banner", "444")]}),
        (iab.DOOH_VIDEO, None),
        (
            iab.SKIPPABLE,
            {
                "1": [(13, "video", OPEN)],
                "2": [(13, "video", OPEN)],
                "3": [(14, "video", OPEN)],
                "4": [],
            },
        ),
        (iab.INSTREAM, {"1": [(15, "video", OPEN)], "2": []}),
    ],
)
def test_who_matches(document: iab.Document, expected: dict[str, Any] | None) -> None:
    answered = body(document, VIEW, rates={"GBP": 1.3})
    found = answered and {
        imp["id"]: [(m["campaign_id"], m["format"], m["deal_id"]) for m in imp["matches"]]
        for imp in answered["imps"]
    }
    assert found == expected


def test_what_they_become() -> None:
    of_foobar = {
        "categories": ["IAB3-1", "IAB3"],
        "site.categories": ["IAB3-1", "IAB3"],
        "site.domain": "www.foobar.com",
        "site.page": "http://www.foobar.com/1234.html",
        "publisher.id": "8953",
        "publisher.name": "foobar.com",
        "imp.media": ["banner"],
        "imp.sizes": ["300x250"],
        "imp.floor_micros": 30_000,
    }
    assert events(iab.SIMPLE_BANNER) == [of_foobar]
    # Data without segments says nothing.
    more = {"imp.banner.battr": [13], "user.segments": []}
    assert events(iab.EXPANDABLE) == [{**of_foobar, **more}]
    deals = {"imp.deals": ["AB-Agency1-0001", "XY-Agency2-0001"], "imp.private_auction": True}
    assert events(iab.DIRECT_DEAL) == [{**of_foobar, **deals}]
    assert [e["imp.video.plcmt"] for e in events(iab.INSTREAM)] == [1, 4]
    assert [e.get("imp.video.skip") for e in events(iab.SKIPPABLE)] == [True, True, False, None]
    (dooh,) = events({**iab.DOOH_VIDEO, "cur": ["USD"]})
    assert dooh["keywords"] == [
        "largeformat",
        "cannon street stn",
        "cannon street",
        "main concourse",
    ]
    assert (dooh["device.type"], dooh["publisher.id"]) == ("other", "VJCDUK")
