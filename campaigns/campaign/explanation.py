"""Why targetings match attributes or not. These can be slow: the analyst runs them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from campaigns.catalogue.model import BLOCKED_CATEGORIES, FLOOR
from index import Limits, Schema, parse
from index.costly.formula import NO_RESULTS, Results, named
from index.event import check_event
from index.explain import explain
from index.funnel import funnel
from index.language.json_form import from_json
from index.language.tree import And, Tree
from index.obstacles import obstacles_to


class Explained(NamedTuple):
    """The value of a targeting, its tree with all values, and its obstacles, both as JSON."""

    value: bool | None
    tree: bytes
    in_the_way: bytes


def explain_tree(
    tree: str,
    attributes: Mapping[str, object],
    schema: Schema,
    limits: Limits,
    results: Results = NO_RESULTS,
) -> Explained:
    """Explain a targeting, given as the JSON form of its tree, with results of its calls;
    `EventError`."""
    event, _ = check_event(attributes, schema)
    parsed = from_json(tree, schema, limits)
    event |= named(parsed, event, results)
    explanation = explain(parsed, event)
    in_the_way = obstacles_to(parsed, event)
    return Explained(
        explanation.value,
        orjson.dumps(explanation.to_dict()),
        orjson.dumps(in_the_way.to_dict()),
    )


def funnel_of(
    trees: Sequence[tuple[str, bool, int | None]],
    attributes: Mapping[str, object],
    schema: Schema,
    limits: Limits,
) -> dict[str, Any]:
    """What keeps campaigns out, given as the JSON forms of their trees, whether the request blocks
    their categories, and their bids if these are below the floor; `EventError`."""
    event, _ = check_event(attributes, schema)
    blocks_nothing = parse(f"{BLOCKED_CATEGORIES} is null", schema)

    def wanted(tree: str, blocked: bool, bid: int | None) -> Tree:
        found = [from_json(tree, schema, limits)]
        if blocked:
            found.append(blocks_nothing)
        if bid is not None:
            found.append(parse(f"{FLOOR} <= {bid}", schema))
        return And(tuple(found)) if len(found) > 1 else found[0]

    return funnel((wanted(*each) for each in trees), event).to_dict()
