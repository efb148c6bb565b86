"""The outcome of a write, judged by its answer: done, not done, or unknown."""

import json
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from testkit.client import Answer
from tests.faults.history import ACKNOWLEDGED, REFUSED, UNKNOWN, Write

_GONE = "database.unavailable"


def known(sent: Write, answer: Answer | None) -> Write:
    """The attempt, completed with what its answer says."""
    if answer is None:
        return sent
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # The connection to the database may have broken in its answer to the commit.
        return replace(sent, status=answer.status)
    if answer.status >= HTTPStatus.BAD_REQUEST:
        return replace(sent, status=answer.status, outcome=REFUSED)
    content = answer.content
    known = replace(sent, status=answer.status, outcome=ACKNOWLEDGED)
    return replace(known, rev=content["rev"], new_version=content.get("version"))


def outcome_of(result: dict[str, Any] | None) -> str:
    """The outcome of a line of an import; a database that went away may have committed it."""
    if result is None or any(each["code"] == _GONE for each in result["errors"]):
        return UNKNOWN
    return REFUSED if result["outcome"] == "failed" else ACKNOWLEDGED


def results_of(answer: Answer | None) -> dict[int, dict[str, Any]]:
    """The complete results of an import, by line number."""
    results = {}
    for line in answer.body.splitlines() if answer and answer.status == HTTPStatus.OK else ():
        try:
            result = json.loads(line)
        except ValueError:
            continue  # truncated
        if "line" in result:
            results[result["line"]] = result
    return results
