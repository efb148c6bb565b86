"""The analysis of a targeting: its normal form, warnings, and the cost of matching it."""

from dataclasses import dataclass
from typing import Any

import orjson

from campaigns.campaign.targeting import Targeting, of_tree
from index import Index, Limits, Schema, parse
from index.language import (
    ExpressionWarning,
    Tree,
    normalize,
    predicate_count,
    to_json,
    warnings_for,
)

NORMAL_FORM_MAX_CHARS = 16 * 1024
"""A normal form can be longer than its source; above this length only the graph is returned."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How an index that has seen no traffic would search for a campaign.

    `way` is `always` if every request finds it, `never` if none does; otherwise a request that
    satisfies one of the `access` literals is checked against the rest. The fewer and the rarer they
    are, the cheaper. `literals` is the most literals that a request can be checked against.
    """

    way: str
    access: tuple[str, ...]
    literals: int


@dataclass(frozen=True, slots=True)
class Understanding:
    """A targeting and its analysis; `graph` is the normal form in JSON, `text` the same in the
    language, None if it is too long."""

    targeting: Targeting
    text: str | None
    graph: str
    predicates: int
    warnings: tuple[ExpressionWarning, ...]
    cost: Cost


def understand(text: str, schema: Schema, limits: Limits) -> Understanding:
    """Analyse a text, or raise `ExpressionError`. This can be slow: run it in a thread."""
    tree = parse(text, schema, limits)
    form = normalize(tree)
    return Understanding(
        targeting=of_tree(text, tree),
        text=form.to_text(NORMAL_FORM_MAX_CHARS),
        graph=form.to_json(),
        predicates=predicate_count(tree),
        warnings=tuple(warnings_for(tree)),
        cost=_cost(tree, form.literal_count, schema, limits),
    )


def validated(text: str, schema: Schema, limits: Limits) -> bytes:
    """What `POST /v1/expressions/validate` answers, or `ExpressionError`."""
    tree = parse(text, schema, limits)
    form = normalize(tree)
    # The two JSON texts are sent as they are: parsing them could only change them.
    return orjson.dumps(
        {
            "text": str(tree),
            "tree": orjson.Fragment(to_json(tree)),
            "normal_form": {
                "text": form.to_text(NORMAL_FORM_MAX_CHARS),
                "graph": orjson.Fragment(form.to_json()),
            },
            "predicates": predicate_count(tree),
            "warnings": [
                {"code": warning.code, "message": warning.message} for warning in warnings_for(tree)
            ],
        }
    )


def _cost(tree: Tree, literals: int, schema: Schema, limits: Limits) -> Cost:
    """From the plan of an index with this one expression, which takes a few milliseconds."""
    index = Index(schema, limits=limits)
    index.insert(1, tree)
    plan: dict[str, Any] = index.plan(1)
    entries = plan.get("entries", ())
    access = tuple(str(entry["access"]) for entry in entries)
    return Cost(str(plan.get("way", "tree")), access, literals)
