"""Two targetings on sampled requests: which of these would a change gain, and which lose?"""

from collections.abc import Mapping, Sequence
from typing import Any

from index import EventError, Limits, Schema
from index.event import check_event
from index.language.json_form import from_json
from index.scan import evaluate

SHOWN = 5
"""How many gained and lost requests are shown."""


def compare(
    before: str | None,
    after: str,
    requests: Sequence[Mapping[str, Any]],
    schema: Schema,
    limits: Limits,
) -> dict[str, Any]:
    """Compare two trees in their JSON form; without the first, everything is gained. Requests that
    do not fit the catalogue any more are left out. This can be slow: the analyst runs it."""
    trees = [from_json(text, schema, limits) if text else None for text in (before, after)]
    gained, lost, matched, tried = [], [], [0, 0], 0
    for request in requests:
        try:
            event, _ = check_event(request["attributes"], schema)
        except EventError:
            continue
        tried += 1
        was, will = (tree is not None and evaluate(tree, event) is True for tree in trees)
        matched[0] += was
        matched[1] += will
        if will and not was:
            gained.append(request)
        elif was and not will:
            lost.append(request)
    return {
        "requests": tried,
        "before": matched[0],
        "after": matched[1],
        "gained": len(gained),
        "lost": len(lost),
        "gained_requests": gained[:SHOWN],
        "lost_requests": lost[:SHOWN],
    }
