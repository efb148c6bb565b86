"""`/v1/forecast`: the sample of the active statistics against a targeting."""

from typing import Any

from fastapi.testclient import TestClient

from app.api.forecast import EXAMPLE, Forecast
from campaigns.statistics import service
from tests.app.answers import codes, ok
from tests.app.conftest import on_store
from tests.campaigns.statistics.traffic import request, statistics

ROUTE = "/v1/forecast"

# 400 requests: 100 from the US, 40 of them with an age of 30; 60 from elsewhere have it, too.
ROWS = [
    *[request(country="US", age=30)] * 40,
    *[request(country="US", age=50)] * 60,
    *[request(country="DE", age=30)] * 60,
    *[request(country="DE")] * 240,
]


def activate(url: str, rows: list[dict[str, Any]], rate: float = 0.1) -> int:
    async def work(store: Any) -> int:
        version = await service.keep(store, "nightly", *statistics(rows, rate=rate))
        return (await service.activate(store, "test", version.id, force=True)).id

    return on_store(url, work)


def ask(client: TestClient, targeting: str) -> Any:
    return client.post(ROUTE, json={"targeting": targeting})


def test_without_statistics_there_is_nothing_to_forecast_from(client: TestClient) -> None:
    assert codes(ask(client, "true"), 409) == [("", "statistics.none_active")]


def test_of_a_version_whose_sample_has_gone_there_is_none(client: TestClient, url: str) -> None:
    async def work(store: Any) -> None:
        old = await service.keep(store, "nightly", *statistics(ROWS))
        await service.keep(store, "nightly", *statistics(ROWS[1:]), samples=1)
        await service.activate(store, "test", old.id, force=True)

    on_store(url, work)
    assert codes(ask(client, "true"), 409) == [("", "statistics.sample_gone")]


def test_a_forecast_is_counted_by_hand(client: TestClient, url: str) -> None:
    id = activate(url, ROWS)
    found = ok(ask(client, "country = 'US' and age = 30"))
    Forecast.model_validate(found)
    assert list(found) == list(EXAMPLE)
    assert found["statistics"]["id"] == id
    assert (found["hits"], found["sampled_requests"], found["requests_per_day"]) == (40, 400, 4000)
    bounds = found["matched_requests_per_day"]
    assert bounds["low"] < 400 < bounds["high"]
    assert found["insufficient_data"] is False
    assert [each["words"] for each in found["without"]] == [
        "without country +150%",
        "without age +150%",
    ]
    assert [each["matched_requests_per_day"] for each in found["without"]] == [1000, 1000]
    assert found["nearest_miss"]["attribute"] == "country"
    assert found["meaning"].startswith("matched, not won")
    assert (found["sample_rate"], found["window"]["days"]) == (0.1, ["2026-11-16"])


def test_few_hits_are_said_to_be_few_and_none_have_an_upper_bound(
    client: TestClient, url: str
) -> None:
    activate(url, ROWS)
    few = ok(ask(client, "country = 'US' and age = 50 and now.hour = 7 and age != 30"))
    assert few["insufficient_data"] is False
    activate(url, ROWS[12:])
    few = ok(ask(client, "country = 'US' and age = 30"))
    assert (few["hits"], few["insufficient_data"]) == (28, True)
    none = ok(ask(client, "country = 'FR'"))
    bounds = none["matched_requests_per_day"]
    assert (none["hits"], none["insufficient_data"], bounds["low"]) == (0, True, 0)
    assert 30 <= bounds["high"] <= 70  # 3 of 388, of 3,880 a day, times e^0.785 for the day
    assert none["without"][0]["change"] is None
    assert none["nearest_miss"]["predicate"] == "country = 'FR'"


def test_requests_that_do_not_fit_the_catalogue_are_counted(client: TestClient, url: str) -> None:
    wrong = [request(country=7)] * 3
    activate(url, [*ROWS, *wrong])
    found = ok(ask(client, "true"))
    assert (found["unreadable_requests"], found["hits"]) == (3, 400)
    assert (found["without"], found["nearest_miss"]) == ([], None)


def test_a_wrong_targeting_is_told_with_its_place(client: TestClient, url: str) -> None:
    activate(url, ROWS)
    refused = ask(client, "contry = 'US'")
    assert codes(refused, 422) == [("/targeting", "attribute.unknown")]
    assert "did you mean country?" in refused.json()["errors"][0]["caret"]
    narrow = ask(client, "device.ip = '203.0.113.7'")
    assert codes(narrow, 422) == [("/targeting", "value.narrow")]
    assert codes(client.post(ROUTE, json={"text": "true"}), 422)
