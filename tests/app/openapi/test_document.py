"""The OpenAPI document: plain words and an example for every operation and every error."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.api.advertisers import ADVERTISER, AdvertiserChanges, NewAdvertiser
from app.api.attributes import ATTRIBUTE, AttributeChanges, NewAttribute
from app.api.campaign_models import CAMPAIGN, CampaignChanges, NewCampaign
from app.main import ROUTERS, create_app
from app.settings import Settings
from campaigns.advertiser.model import Advertiser
from campaigns.campaign.model import Campaign
from campaigns.catalogue.model import AttributeRecord
from campaigns.record import check_changes, check_new

DOCUMENT = create_app(Settings()).openapi()


def operations() -> list[tuple[str, Any]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    ]


def contents(operation: Any) -> Iterator[tuple[str, Any]]:
    for status, response in operation["responses"].items():
        for content in response.get("content", {}).values():
            yield status, content


@pytest.mark.parametrize(
    ("name", "operation"), operations(), ids=[name for name, _ in operations()]
)
class TestEveryOperation:
    def test_has_a_name_and_plain_words(self, name: str, operation: Any) -> None:
        assert operation["operationId"].replace("_", "").isalpha()
        assert operation["summary"]
        assert operation["description"]

    def test_has_an_example_of_every_answer(self, name: str, operation: Any) -> None:
        for status, content in contents(operation):
            assert content.get("example") or content["examples"], status

    def test_has_an_example_of_what_it_takes(self, name: str, operation: Any) -> None:
        for content in operation.get("requestBody", {"content": {}})["content"].values():
            assert content.get("example") or content["examples"]

    def test_names_every_error_that_any_route_can_answer(self, name: str, operation: Any) -> None:
        if "security" not in operation:
            return
        answered = set(operation["responses"])
        assert {"401", "503"} <= answered
        assert ("403" in answered) == bool(operation["security"][0]["api_key"])
        content = operation.get("requestBody", {}).get("content", {})
        takes_json = any(media_type.endswith(("/json", "+json")) for media_type in content)
        assert ({"400", "413", "415"} <= answered) or not takes_json
        if takes_json:  # an exchange gets 400 for whatever is not a bid request
            assert ("422" in answered) == (operation["operationId"] != "match_openrtb")


def test_operation_names_differ() -> None:
    names = [operation["operationId"] for _, operation in operations()]
    assert len(names) == len(set(names))


def test_every_example_of_a_success_is_what_its_model_says() -> None:
    for router in ROUTERS:
        for route in router.routes:
            model = getattr(route, "response_model", None)
            responses: dict[int, Any] = getattr(route, "responses", {})
            for status, response in responses.items():
                content = response.get("content", {}).get("application/json", {})
                if status < 300 and status != 204 and model is not None:
                    example = content["example"]
                    shown = TypeAdapter(model).validate_python(example)
                    # Members that are left out, not null, are unset.
                    dumped = TypeAdapter(model).dump_python(shown, mode="json", exclude_unset=True)
                    assert dumped == example


@pytest.mark.parametrize(
    ("model", "check", "record"),
    [
        (NewCampaign, partial(check_new, Campaign), CAMPAIGN),
        (CampaignChanges, partial(check_changes, Campaign), CAMPAIGN),
        (NewAdvertiser, partial(check_new, Advertiser), ADVERTISER),
        (AdvertiserChanges, partial(check_changes, Advertiser), ADVERTISER),
        (NewAttribute, partial(check_new, AttributeRecord), ATTRIBUTE),
        (AttributeChanges, partial(check_changes, AttributeRecord), ATTRIBUTE),
    ],
)
def test_a_described_body_has_the_fields_that_the_store_takes(
    model: Any, check: Any, record: dict[str, Any]
) -> None:
    """The models only describe: the store's own checks say whether they are right."""
    schema = model.model_json_schema()
    described = set(schema["properties"])
    assert described == {name for name in record if not _wrong(check, name, record[name])}
    assert set(schema.get("required", ())) == {
        problem.pointer.lstrip("/") for problem in check({})[1]
    }
    assert {name for name in described if not _wrong(check, name, None)} == {
        name
        for name, field in schema["properties"].items()
        if {"type": "null"} in field.get("anyOf", ())
    }


def _wrong(check: Any, name: str, value: object) -> bool:
    return any(problem.pointer == f"/{name}" for problem in check({name: value})[1])
