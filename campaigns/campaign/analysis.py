"""The analysis of a targeting: its normal form, warnings, and the cost of matching it."""

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import orjson

from campaigns.campaign.targeting import Targeting, read
from campaigns.catalogue.knowledge import NOTHING, Knowledge
from index import Index, Limits, Schema
from index.language import ExpressionWarning, Tree, predicate_count

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
    cost: Cost


def understand(
    text: str, schema: Schema, limits: Limits, knowledge: Knowledge = NOTHING
) -> Understanding:
    """Analyse a text, or raise `ExpressionError`. This can be slow: run it in a thread."""
    found = read(text, schema, limits, knowledge)
    return Understanding(
        targeting=found.targeting,
        text=found.form.to_text(NORMAL_FORM_MAX_CHARS),
        graph=found.form.to_json(),
        predicates=predicate_count(found.tree),
        cost=_cost(found.tree, found.form.literal_count, schema, limits),
    )


def validated(text: str, schema: Schema, limits: Limits, knowledge: Knowledge = NOTHING) -> bytes:
    """What `POST /v1/expressions/validate` answers, or `ExpressionError`."""
    found = read(text, schema, limits, knowledge)
    tree, form = found.tree, found.form
    # The two JSON texts are sent as they are: parsing them could only change them.
    return orjson.dumps(
        {
            "text": str(tree),
            "tree": orjson.Fragment(found.targeting.tree),
            "normal_form": {
                "text": form.to_text(NORMAL_FORM_MAX_CHARS),
                "graph": orjson.Fragment(form.to_json()),
            },
            "predicates": predicate_count(tree),
            "cost": _cost(tree, form.literal_count, schema, limits),
            "warnings": [described(each, "/text") for each in found.targeting.warnings],
        }
    )


def described(warning: ExpressionWarning, pointer: str = "/targeting") -> dict[str, Any]:
    """A warning as clients see it: `pointer` is the field with the text, or the field that the
    warning is about."""
    start, end = warning.span or (None, None)
    return {
        "code": warning.code,
        "message": warning.message,
        "pointer": warning.pointer or pointer,
        "start": start,
        "end": end,
        "suggestion": warning.suggestion,
        "replacement": warning.replacement,
    }


_planning = Lock()


def _cost(tree: Tree, literals: int, schema: Schema, limits: Limits) -> Cost:
    """From the plan of an index with this one expression."""
    with _planning:
        index = _planner(schema, limits)
        index.insert(1, tree)
        plan: dict[str, Any] = index.plan(1)
    entries = plan.get("entries", ())
    access = tuple(str(entry["access"]) for entry in entries)
    return Cost(str(plan.get("way", "tree")), access, literals)


@lru_cache(maxsize=1)
def _planner(schema: Schema, limits: Limits) -> Index:
    """An index for plans alone. The first expression of an index takes a millisecond, another one
    a fiftieth of that."""
    return Index(schema, limits=limits)
