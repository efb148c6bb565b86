"""What explain says and what the match does is the same, on random requests and campaigns."""

from random import Random
from typing import Any

import pytest

from app.openrtb import BidRequest, Question, answer, ask
from app.openrtb.explanation import Candidate, explain, funnel
from campaigns.feed.view import View
from index.score import score_of
from tests.app.openrtb.exchange import (
    AT,
    NOW,
    advertiser,
    bid_request,
    campaign,
    parsed,
    view_of,
)

TARGETINGS = (
    "true",
    "country = 'US'",
    "age >= 18",
    "user.segments any of ('p|:1') or geo.zip = '1'",
    "device.ip not in network ('10.0.0.0/8')",
    "imp.deals any of ('A')",
    "imp.deals any of ('A', 'B') and country = 'US'",
    "imp.deals all of ('A', 'B')",
    "imp.deals none of ('A')",
    "imp.deals is not empty",
    "imp.deals is null",
    "imp.deals is null or imp.deals any of ('B')",
    "not (imp.deals any of ('C'))",
    "imp.deals any of ('B') or country = 'US'",
    "imp.media any of ('video') and imp.sizes any of ('640x480')",
    "imp.sizes any of ('300x250')",
    "imp.floor_micros > 0 or imp.private_auction",
)
SEATS, DOMAINS = ("s1", "s2", None), ("a.example", "b.a.example", "c.example", None)
CATEGORIES: tuple[tuple[str, ...], ...] = ((), ("IAB7",), ("IAB7-39", "IAB2"), ("5:150",))


def world(random: Random) -> tuple[View, list[Candidate]]:
    owners = {n: (random.choice(DOMAINS), random.choice(SEATS)) for n in range(1, 5)}
    changes = [advertiser(n, domain, seat=seat) for n, (domain, seat) in owners.items()]
    candidates = []
    for id in range(1, 31):
        bid, owner = random.randrange(0, 4) * 500_000, random.randrange(1, 5)
        categories = random.choice(CATEGORIES)
        changes.append(
            campaign(
                id, random.choice(TARGETINGS), bid=bid, advertiser=owner, categories=categories
            )
        )
        candidates.append((id, bid, owner))
    view = view_of(*changes)
    return view, [candidate_of(view, id, bid, owner) for id, bid, owner in candidates]


def candidate_of(view: View, id: int, bid: int, owner: int, *reasons: tuple[str, str]) -> Candidate:
    tree, labels = str(view.index.tree_json(id)), view.index.labels(id)
    seat, domain = view.seats.get(owner), view.domains.get(owner)
    return Candidate(id, tree, score_of(0, bid), owner, labels, seat, domain, reasons)


def explained(candidate: Candidate, bid: BidRequest, question: Question, view: View) -> Any:
    schema, limits = view.index.schema, view.index.limits
    return explain(candidate, question, bid.privacy, NOW, schema, limits)


def some(random: Random, *values: Any) -> list[Any]:
    return random.sample(values, random.randrange(0, len(values) + 1))


def request(random: Random) -> dict[str, Any]:
    def deal(id: str) -> dict[str, Any]:
        made: dict[str, Any] = {"id": id, "bidfloor": random.choice((0, 0.5, 1, 2))}
        made |= random.choice(({}, {}, {"wseat": ["s1"]}, {"wadomain": ["a.example"]}, {"at": 3}))
        return made

    def imp(id: int) -> dict[str, Any]:
        made: dict[str, Any] = {"id": str(id), "bidfloor": random.choice((0, 0.5, 1, 9))}
        if random.random() < 0.5:
            made["banner"] = {"w": 300, "h": 250}
        if random.random() < 0.5:
            made["video"] = {"w": 640, "h": 480}
        if random.random() < 0.7:
            deals = [deal(id) for id in some(random, "A", "B", "C", "D")]
            made["pmp"] = {"private_auction": random.randrange(2), "deals": deals}
        return made | random.choice(({}, {}, {}, {"bidfloorcur": "XXX"}))

    fields: dict[str, Any] = {
        "imp": [imp(n) for n in range(random.randrange(1, 4))],
        "device": {
            "ip": random.choice(("10.1.2.3", "203.0.113.7")),
            "geo": {"country": random.choice(("USA", "FRA")), "zip": "1"},
        },
        "user": {"yob": 1984, "data": [{"name": "p", "segment": [{"id": "1"}]}]},
        "regs": random.choice(({}, {"coppa": 1}, {"ext": {"gpc": 1}})),
        "bcat": some(random, "IAB7-39", "IAB2", "IAB7")[:1],
        "badv": some(random, "a.example", "c.example")[:1],
    }
    more: tuple[dict[str, Any], ...] = (
        {},
        {},
        {},
        {"acat": ["IAB7", "IAB2"]},
        {"wseat": ["s1"]},
        {"bseat": ["s2"]},
    )
    return bid_request(**fields, **random.choice(more), cur=random.choice((["USD"], ["XXX"], [])))


@pytest.mark.parametrize("seed", range(60))
def test_explain_and_match_agree(seed: int) -> None:
    random = Random(seed)
    view, candidates = world(random)
    for _ in range(3):
        bid = parsed(request(random))
        question = ask(bid, view, AT)
        answered = answer(question, view, AT, NOW, limit=100)
        for candidate in candidates:
            verdicts = explained(candidate, bid, question, view)
            for imp, of in zip(question.imps, answered.imps, strict=True):
                mine = [match for match in of.matches if match.id == candidate.id]
                found = [(match.format, match.offer.deal_id) for match in mine]
                good = [v for v in verdicts if v.imp_id == imp.id and not v.reasons]
                assert [(v.format, v.deal_id) for v in good[:1]] == found
        matched = {match.id for imp in answered.imps for match in imp.matches}
        for best in (matched, set(sorted(matched)[:3])):
            schema, limits = view.index.schema, view.index.limits
            counted = funnel(candidates, best, question, bid.privacy, NOW, schema, limits)
            assert (counted["campaigns"], counted["matched"]) == (len(candidates), len(best))
            assert counted["by_reason"].get("outranked", 0) == len(matched - best)


def test_every_reason_is_named() -> None:
    view = view_of(
        advertiser(1, "a.example", seat="s1"),
        campaign(1, "user.segments any of ('x')", bid=1_000_000, categories=("IAB7-39",)),
    )
    candidate = candidate_of(view, 1, 1_000_000, 1, ("paused", "…"))
    document = bid_request(
        bcat=["IAB7"],
        acat=["IAB2"],
        badv=["a.example"],
        regs={"coppa": 1},
        imp=[
            {
                "id": "1",
                "bidfloor": 2,
                "pmp": {"deals": [{"id": "A", "wseat": ["s2"]}, {"id": "B", "wadomain": ["b.c"]}]},
            },
            {"id": "2", "pmp": {"private_auction": 1}},
        ],
    )
    bid = parsed(document)
    found = explained(candidate, bid, ask(bid, view, AT), view)
    verdicts = [verdict.to_dict() for verdict in found]
    common = ["paused", "blocked_category", "category_not_allowed", "blocked_advertiser"]
    codes = [[reason["code"] for reason in verdict["reasons"]] for verdict in verdicts]
    assert codes == [
        [*common, "floor", "targeting", "consent"],
        [*common, "seat", "targeting", "consent"],
        [*common, "domain", "targeting", "consent"],
        [*common, "deals"],
    ]
    assert [(v["imp_id"], v["deal_id"]) for v in verdicts] == [
        ("1", None),
        ("1", "A"),
        ("1", "B"),
        ("2", None),
    ]
    floor = verdicts[0]["reasons"][4]["detail"]
    assert floor == "it bids 1000000 micros, the floor is 2000000"
    targeting = verdicts[0]["reasons"][-2]["detail"]
    assert targeting == "its targeting is unknown: user.segments is missing"
    seat, domain = (verdicts[n]["reasons"][4]["detail"] for n in (1, 2))
    assert seat == "only some seats may buy, and its advertiser has s1"
    assert domain == "only some domains may buy, and its advertiser has a.example"
    consent = verdicts[0]["reasons"][-1]["detail"]
    assert consent == "user.segments may not be used: coppa"


def test_each_format_has_the_values_that_decided() -> None:
    view = view_of(campaign(1, "imp.sizes any of ('728x90') and country in ('US', 'CA')"))
    formats = {"banner": {"w": 300, "h": 250}, "video": {"w": 640, "h": 480}}
    bid = parsed(bid_request(imp=[{"id": "1", **formats}], device={"geo": {"country": "USA"}}))
    verdicts = explained(candidate_of(view, 1, 0, 1), bid, ask(bid, view, AT), view)
    assert [verdict.reasons for verdict in verdicts] == [
        [("targeting", "its targeting is false: imp.sizes is ('300x250')")],
        [("targeting", "its targeting is false: imp.sizes is ('640x480')")],
    ]
