"""How a targeting is understood: its normal form, what is suspicious in it, what it will cost."""

from dataclasses import dataclass
from typing import Any

from campaigns.campaign.targeting import Targeting, of_tree
from index import Index, Limits, Schema, parse
from index.language import ExpressionWarning, Tree, normalize, predicate_count, warnings_for

NORMAL_FORM_MAX_CHARS = 16 * 1024
"""A normal form can be longer than what it stands for; past this it is given as a graph only."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How an index that has seen no traffic would look for a campaign.

    `way` is how it is found: `always` by every request, `never` by none, else by the `access`
    literals: a request that makes one of them true has the rest checked. The fewer and the rarer
    they are, the cheaper. `literals` is the most that there is to check.
    """

    way: str
    access: tuple[str, ...]
    literals: int


@dataclass(frozen=True, slots=True)
class Understanding:
    """A targeting and what can be said about it; `graph` is the normal form in JSON, `text` the
    same in the language, None when it is too long to print."""

    targeting: Targeting
    text: str | None
    graph: str
    predicates: int
    warnings: tuple[ExpressionWarning, ...]
    cost: Cost


def understand(text: str, schema: Schema, limits: Limits) -> Understanding:
    """Everything about a text, or `ExpressionError`. It may take a while: mind the event loop."""
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


def _cost(tree: Tree, literals: int, schema: Schema, limits: Limits) -> Cost:
    """By asking an index of its own, which costs a few milliseconds."""
    index = Index(schema, limits=limits)
    index.insert(1, tree)
    plan: dict[str, Any] = index.plan(1)
    entries = plan.get("entries", ())
    access = tuple(str(entry["access"]) for entry in entries)
    return Cost(str(plan.get("way", "tree")), access, literals)
