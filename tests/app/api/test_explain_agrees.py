"""What `/v1/explain` says and what the match routes do is the same: random campaigns, random
requests, over HTTP with the limit of an answer."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.settings import Settings
from tests.app.answers import create_campaign, ok
from tests.app.conftest import POLL_SECONDS, client_of
from tests.app.openrtb.test_explanation import TARGETINGS
from tests.app.openrtb.test_explanation import request as bid_request

CAMPAIGNS = 24
LIMIT = 1


def filled(client: TestClient, random: Random) -> list[int]:
    """Campaigns of every kind; all that were written are in the index."""
    owners = [
        ok(client.post("/v1/advertisers", json={"name": "Shop", **fields}), 201)["id"]
        for fields in ({"domain": "a.example", "seat": "s1"}, {"domain": "c.example"}, {})
    ]
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    ids = []
    for number in range(CAMPAIGNS):
        made = create_campaign(
            client,
            random.choice(owners),
            targeting=random.choice(("true", *TARGETINGS)),
            bid_micros=random.randrange(5) * 500_000,
            categories=random.choice(([], ["IAB7-39"], ["IAB2", "IAB7"])),
            starts_at=later if number % 8 == 0 else None,
        )
        ids.append(made["id"])
        if number % 6:
            ok(client.post(f"/v1/campaigns/{made['id']}/activate"))
    paused = ok(client.post(f"/v1/advertisers/{owners[2]}/pause"))
    ok(client.post("/v1/match", json={"attributes": {}, "min_rev": paused["rev"]}))
    return ids


@pytest.fixture
def exchange(url: str, tokens: dict[str, str]) -> Iterator[TestClient]:
    settings = Settings(database_url=url, feed_poll_seconds=POLL_SECONDS, openrtb_limit=LIMIT)
    with client_of(settings, tokens["all"]) as client:
        yield client


@pytest.mark.parametrize("seed", range(2))
def test_a_bid_request(exchange: TestClient, seed: int) -> None:
    client, random = exchange, Random(seed)
    ids = filled(client, random)
    outranked = matched = 0
    for _ in range(6):
        bid = {**bid_request(random), "cur": ["USD"]}
        answered = client.post("/v1/openrtb", json=bid)
        imps = ok(answered)["imps"] if answered.status_code == 200 else []
        by_imp = {imp["id"]: imp["matches"] for imp in imps}
        for id in ids:
            told = ok(client.post("/v1/explain", json={"campaign_id": id, "bid_request": bid}))
            found = {
                (imp, m["format"], m["deal_id"])
                for imp, matches in by_imp.items()
                for m in matches
                if m["campaign_id"] == id
            }
            first: dict[str, tuple[str, str | None, str | None]] = {}
            for offer in told["offers"]:
                if offer["matched"]:
                    place = (offer["imp_id"], offer["format"], offer["deal_id"])
                    first.setdefault(offer["imp_id"], place)
            assert set(first.values()) == found
            assert told["matched"] == bool(found)
            codes = {reason["code"] for each in told["offers"] for reason in each["reasons"]}
            outranked += "outranked" in codes
            matched += told["matched"]
        funnel = ok(client.post("/v1/explain", json={"bid_request": bid}))["funnel"]
        answered_ids = {match["campaign_id"] for imp in imps for match in imp["matches"]}
        assert funnel["matched"] == len(answered_ids)
    assert matched > 0
    assert outranked > 0


def test_attributes(client: TestClient) -> None:
    random = Random(7)
    ids = filled(client, random)
    for _ in range(8):
        sent: dict[str, Any] = {
            "country": random.choice(("US", "FR")),
            "age": random.choice((15, 30)),
            "imp.sizes": ["300x250"],
            "imp.deals": random.sample(("A", "B", "C"), random.randrange(3)),
            "imp.floor_micros": random.choice((None, -1, 0, 500_000, 1_200_000, 2**60)),
        }
        asked = {"attributes": sent, "limit": CAMPAIGNS}
        matches = ok(client.post("/v1/match", json=asked))["matches"]
        found = {match["campaign_id"] for match in matches}
        for id in ids:
            told = ok(client.post("/v1/explain", json={"campaign_id": id, "attributes": sent}))
            assert told["matched"] == (id in found), told["reasons"]
