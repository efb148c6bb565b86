"""The service and a naive second mapping agree on recombined bid requests."""

import json
from random import Random
from typing import Any

import pytest

from app.openrtb import answer, ask
from tests.app.openrtb.exchange import AT, NOW, advertiser, campaign, parsed, view_of
from tests.app.openrtb.oracle import Advertiser, Campaign, Event, answers
from tests.app.openrtb.recombination import Document, recombined, sections_of

RATES = {"EUR": 1.1, "GBP": 1.3}

OWNERS = {
    1: Advertiser("shop.example", "s1"),
    2: Advertiser("sale.shop.example", "s2", ("com.brand.app",)),
    3: Advertiser("brand.example", "Agency1", ("628677149",)),
    4: Advertiser("xn--mnchen-3ya.de", "Agency2"),
    5: Advertiser(),
}


def has(name: str, *values: object) -> Any:
    return lambda event: event.get(name) is not None and bool(set(event[name]) & set(values))


def equals(name: str, value: object) -> Any:
    return lambda event: event.get(name) == value


TARGETINGS: list[tuple[str, Any]] = [
    ("true", lambda e: True),
    ("country = 'US'", equals("country", "US")),
    ("country != 'US'", lambda e: e.get("country") not in (None, "US")),
    (
        "age >= 18 or user.gender = 'F'",
        lambda e: (e.get("age") or 0) >= 18 or e.get("user.gender") == "F",
    ),
    ("user.segments any of ('p|:1', '3|:7')", has("user.segments", "p|:1", "3|:7")),
    (
        "geo.zip is not null or geo.lat > 50",
        lambda e: e.get("geo.zip") is not None or (e.get("geo.lat") or 0) > 50,
    ),
    (
        "device.ip in network ('203.0.112.0/23', '2001:db8:ff00::/40')",
        lambda e: e.get("device.ip") in ("203.0.113.0", "2001:db8:ffff:ff00::"),
    ),
    (
        "device.ip not in network ('2001:db8::/32')",
        lambda e: not (e.get("device.ip") or "2001:db8").startswith("2001:db8"),
    ),
    ("imp.deals any of ('A')", has("imp.deals", "A")),
    ("imp.deals any of ('B', '7', '333')", has("imp.deals", "B", "7", "333")),
    ("imp.deals all of ('A', 'B')", lambda e: {"A", "B"} <= set(e["imp.deals"] or ())),
    ("imp.deals none of ('A')", lambda e: e["imp.deals"] is not None and "A" not in e["imp.deals"]),
    ("imp.deals is not empty", lambda e: bool(e["imp.deals"])),
    ("imp.deals is null", lambda e: e["imp.deals"] is None),
    (
        "not (imp.deals any of ('C'))",
        lambda e: e["imp.deals"] is not None and "C" not in e["imp.deals"],
    ),
    (
        "imp.deals any of ('D') or country = 'US'",
        lambda e: "D" in (e["imp.deals"] or ()) or e.get("country") == "US",
    ),
    (
        "imp.deals any of ('AB-Agency1-0001', 'XY-Agency2-0001', 'V123')",
        has("imp.deals", "AB-Agency1-0001", "XY-Agency2-0001", "V123"),
    ),
    ("imp.media any of ('banner') and imp.sizes any of ('640x480')", lambda e: False),
    ("imp.sizes any of ('300x250')", has("imp.sizes", "300x250")),
    ("imp.video.maxduration >= 30", lambda e: (e.get("imp.video.maxduration") or 0) >= 30),
    ("imp.media any of ('audio', 'native')", has("imp.media", "audio", "native")),
    (
        "imp.private_auction or imp.floor_micros > 0",
        lambda e: e["imp.private_auction"] or (e["imp.floor_micros"] or 0) > 0,
    ),
    ("categories any of ('IAB7', '6:150')", has("categories", "IAB7", "6:150")),
]
CATEGORIES: tuple[tuple[str, ...], ...] = ((), ("IAB7",), ("IAB7-39", "IAB2"), ("6:150",))


def campaigns(random: Random) -> list[Campaign]:
    found = []
    for id, (targeting, holds) in enumerate(TARGETINGS * 2, 1):
        bid, owner = (
            random.choice((300_000, 1_000_000, 3_000_000, 9_000_000)),
            random.choice(list(OWNERS)),
        )
        found.append(Campaign(id, targeting, holds, bid, random.choice(CATEGORIES), OWNERS[owner]))
    return found


def plain(event: Event) -> Event:
    """Without missing values and empty lists; lists as sets."""
    return {
        name: frozenset(value) if isinstance(value, list) and name != "geo.point" else value
        for name, value in event.items()
        if value is not None
    }


def difference(document: Document, known: list[Campaign], view: Any) -> str | None:
    """What the two disagree about."""
    ours = answers(document, known, AT, RATES, sections_of(document))
    question = ask(parsed(document), view, AT, rates=RATES)
    theirs = answer(question, view, AT, NOW, limit=1000).imps
    if len(ours) != len(theirs):
        return f"{len(ours)} imps, not {len(theirs)}"
    for imp, asked, (events, matches) in zip(theirs, question.imps, ours, strict=True):
        formats = [(each.format, plain(each.event)) for each in asked.formats]
        if [format for format, _ in formats] not in ([], [format for format, _ in events]):
            return f"{formats}"
        for (format, event), (_, naive) in zip(formats, events, strict=False):
            naive = plain(naive)
            for name in sorted(event.keys() | naive.keys()):
                if event.get(name) != naive.get(name):
                    return f"{format}: {name} is {event.get(name)!r}, not {naive.get(name)!r}"
        found = {(m.id, m.format, m.offer.deal_id) for m in imp.matches}
        wanted = {(m.campaign, m.format, m.deal) for m in matches}
        if found != wanted:
            return f"{sorted(found - wanted, key=str)}, not {sorted(wanted - found, key=str)}"
    return None


def disagreements(seed: int, requests: int) -> list[str]:
    random = Random(seed)
    known = campaigns(random)
    owners = [
        advertiser(id, owner.domain, seat=owner.seat, apps=list(owner.apps))
        for id, owner in OWNERS.items()
    ]
    ids = {owner: id for id, owner in OWNERS.items()}
    made = [
        campaign(
            each.id,
            each.targeting,
            bid=each.bid,
            advertiser=ids[each.advertiser],
            categories=each.categories,
        )
        for each in known
    ]
    view = view_of(*owners, *made)
    found = []
    for _ in range(requests):
        document = recombined(random)
        if said := difference(document, known, view):
            found.append(f"{said}: {json.dumps(document)}")
    return found


@pytest.mark.parametrize("seed", range(10))
def test_both_say_the_same(seed: int) -> None:
    assert disagreements(seed, 100) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_both_say_the_same_of_5000_requests(seed: int) -> None:
    assert disagreements(seed, 100) == []


def test_the_requests_are_of_every_shape() -> None:
    """Most campaigns match in some request, in the open auction and by deals, in every format."""
    random = Random(1)
    known = campaigns(random)
    found = {
        (match.format, match.deal is None)
        for document in (recombined(random) for _ in range(300))
        for _, matches in answers(document, known, AT, RATES, sections_of(document))
        for match in matches
    }
    every = {(f, open) for f in ("banner", "video", "audio", "native") for open in (True, False)}
    assert every <= found
