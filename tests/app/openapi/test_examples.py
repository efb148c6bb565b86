"""The examples of the OpenAPI page are true: they work after the quick start of the README."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.app.answers import activate, eventually

DOCUMENT = create_app(Settings()).openapi()

REFUSED = {
    "DELETE /v1/campaigns/{id}": (409, "campaign.active"),
    "POST /v1/campaigns/{id}/activate": (409, "status.transition"),
    "DELETE /v1/advertisers/{id}": (409, "advertiser.in_use"),
    "POST /v1/advertisers/{id}/resume": (409, "status.transition"),
    "GET /v1/statistics/{id}": (404, "statistics.not_found"),
    "POST /v1/statistics/{id}/activate": (404, "statistics.not_found"),
    "POST /v1/statistics/roll-back": (409, "statistics.none_active"),
    "POST /v1/forecast": (409, "statistics.none_active"),
}
"""What cannot work then: the campaign is active, and there are no statistics yet."""

LAST = ("pause", "archive")
"""These change what the other examples use."""


def operations() -> Iterator[tuple[str, str, Any]]:
    listed = [
        (method.upper(), path, operation)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    ]
    yield from sorted(listed, key=lambda each: each[1].endswith(LAST))


def value_of(parameter: Any) -> Any:
    """What the page fills in."""
    examples = parameter.get("examples", {"none": {"value": None}})
    return next(iter(examples.values()))["value"]


def send_example(client: TestClient, method: str, path: str, operation: Any) -> Any:
    headers, content = {}, None
    for parameter in operation.get("parameters", ()):
        value = value_of(parameter)
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(value))
        elif parameter["in"] == "header" and value is not None:
            headers[parameter["name"]] = value
    for media_type, media in operation.get("requestBody", {}).get("content", {}).items():
        headers["Content-Type"] = media_type
        example = media.get("example") or next(iter(media["examples"].values()))["value"]
        content = example if isinstance(example, str) else json.dumps(example)
    return client.request(method, path, headers=headers, content=content)


def test_every_first_example_works_after_the_quick_start(client: TestClient) -> None:
    targeting = "country in ('US', 'CA') and device.type = 'phone'"
    id, _ = activate(client, targeting=targeting, priority=5, bid_micros=1_200_000)
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["campaigns"] == 1)
    assert id == 1
    for method, path, operation in operations():
        name = f"{method} {path}"
        answer = send_example(client, method, path, operation)
        if name in REFUSED:
            status, code = REFUSED[name]
            assert (answer.status_code, answer.json()["errors"][0]["code"]) == (status, code), name
        else:
            assert answer.status_code in (200, 201), (name, answer.text)
            assert '"outcome":"failed"' not in answer.text
            if path.startswith("/v1/match") or path == "/v1/openrtb":
                assert '"campaign_id":1,' in answer.text, name


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    [each for each in operations() if "requestBody" in each[2] and "import" not in each[1]],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_request_without_a_body_gets_the_answer_of_the_page(
    shared_client: TestClient, method: str, path: str, operation: Any
) -> None:
    optional = not operation["requestBody"].get("required")
    headers = {"Content-Type": "application/json", "If-Match": "*"}
    answer = shared_client.request(method, path.replace("{id}", "1"), content=b"", headers=headers)
    shown = operation["responses"].get(str(answer.status_code), {"content": {}})["content"]
    if optional:
        return
    examples = shown["application/problem+json"]["examples"]
    assert answer.json() == examples["no_body"]["value"]
