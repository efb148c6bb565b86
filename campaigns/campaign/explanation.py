"""Why targetings match attributes or not. These can be slow: the analyst runs them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from index import Limits, Schema
from index.event import check_event
from index.explain import explain
from index.funnel import funnel
from index.language.json_form import from_json
from index.obstacles import obstacles_to


class Explained(NamedTuple):
    """The value of a targeting, its tree with all values, and its obstacles, both as JSON."""

    value: bool | None
    tree: bytes
    in_the_way: bytes


def explain_tree(
    tree: str, attributes: Mapping[str, object], schema: Schema, limits: Limits
) -> Explained:
    """Explain a targeting, given as the JSON form of its tree; `EventError`."""
    event, _ = check_event(attributes, schema)
    parsed = from_json(tree, schema, limits)
    explanation = explain(parsed, event)
    in_the_way = obstacles_to(parsed, event)
    return Explained(
        explanation.value,
        orjson.dumps(explanation.to_dict()),
        orjson.dumps(in_the_way.to_dict()),
    )


def funnel_of(
    trees: Sequence[str], attributes: Mapping[str, object], schema: Schema, limits: Limits
) -> dict[str, Any]:
    """What keeps expressions out, given as the JSON forms of their trees; `EventError`."""
    event, _ = check_event(attributes, schema)
    return funnel((from_json(tree, schema, limits) for tree in trees), event).to_dict()
