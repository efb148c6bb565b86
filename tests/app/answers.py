"""What tests say about answers."""

import time
from collections.abc import Callable
from typing import Any

from app.errors.codes import CODES, PYDANTIC

DEADLINE_SECONDS = 10.0


def problem(response: Any, status: int) -> Any:
    """The problem in a response, which must be one with that status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    answer = response.json()
    assert answer["status"] == status
    assert answer["title"]
    assert answer["detail"]
    for error in answer["errors"]:
        assert error["code"] in CODES or error["code"].startswith(PYDANTIC), error
    return answer


def codes(response: Any, status: int) -> list[tuple[str, str]]:
    """The pointers and codes in a problem."""
    return [(error["pointer"], error["code"]) for error in problem(response, status)["errors"]]


def ok(response: Any, status: int = 200) -> Any:
    """The content of a response that went well."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


def create_campaign(client: Any, owner: int, **fields: Any) -> Any:
    """A new draft."""
    body = {"advertiser_id": owner, "name": "Spring"} | fields
    return ok(client.post("/v1/campaigns", json=body), 201)


def activate(client: Any, owner: int | None = None, **fields: Any) -> tuple[int, int]:
    """A campaign that serves: its id, and the rev since which it does. Its advertiser is new
    without `owner`."""
    if owner is None:
        owner = ok(client.post("/v1/advertisers", json={"name": "Shop"}), 201)["id"]
    id: int = create_campaign(client, owner, **fields)["id"]
    return id, ok(client.post(f"/v1/campaigns/{id}/activate"))["rev"]


def eventually(check: Callable[[], bool], within: float = DEADLINE_SECONDS) -> None:
    """Wait until it is so."""
    end = time.monotonic() + within
    while not check():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
