"""What tests say about answers."""

import time
from collections.abc import Callable
from typing import Any

DEADLINE_SECONDS = 10.0


def problem(response: Any, status: int) -> Any:
    """The problem in a response, which must be one with that status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    answer = response.json()
    assert answer["status"] == status
    assert answer["title"]
    assert answer["detail"]
    return answer


def codes(response: Any, status: int) -> list[tuple[str, str]]:
    """The pointers and codes in a problem."""
    return [(error["pointer"], error["code"]) for error in problem(response, status)["errors"]]


def ok(response: Any, status: int = 200) -> Any:
    """The content of a response that went well."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


def eventually(check: Callable[[], bool], within: float = DEADLINE_SECONDS) -> None:
    """Wait until it is so."""
    end = time.monotonic() + within
    while not check():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
