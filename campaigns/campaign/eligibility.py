"""What stands in the index beside a campaign's own targeting: its categories, if a request blocks
some.

A campaign with categories goes into the index as

    and ── its targeting
        └─ or ── request.blocked_categories is null
              └─ request.blocked_categories none of (its categories, and what they lie in)

so a request that blocks IAB7 gets no campaign of IAB7-39, one that blocks IAB7-39 still gets those
of IAB7, and the number of matches is right without a second look. This is the one place that knows
of it: what is stored, the digest and the versions are the campaign's own.

A filter beside the index would have to look at every match to count them; what this costs instead
is in `docs/openrtb.md`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import orjson

from campaigns.campaign.taxonomy import category, with_ancestors
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from index import Limits
from index.language import Tree
from index.language.limits import MAX_DEPTH
from index.language.tree import children_of

_VERSION = "[1,"
_PREDICATES = 2


def wrap(tree: bytes | str, categories: Sequence[str] | None) -> bytes | str:
    """The JSON of what goes into the index, from that of the targeting.

    It is put together as text, since a million trees pass here at a start. What is no tree stays
    none, and is for the index to refuse.
    """
    if not categories:
        return tree
    text = tree if isinstance(tree, str) else tree.decode()
    if not text.startswith(_VERSION):
        try:
            text = orjson.dumps(orjson.loads(text)).decode()
        except orjson.JSONDecodeError:
            return tree
        if not text.startswith(_VERSION):
            return tree
    return f'[1,["and",{text[len(_VERSION) : -1]},{_guard(tuple(categories))}]]'


def unwrap(tree: Tree, categories: Sequence[str] | None) -> Tree:
    """The targeting of a campaign, from its tree in the index."""
    return children_of(tree)[0] if categories else tree


def for_targeting(limits: Limits) -> Limits:
    """How large a targeting may be, so that the index can take it with what is added."""
    return replace(limits, depth=min(limits.depth, MAX_DEPTH - 1))


def for_index(limits: Limits) -> Limits:
    """The limits of an index for targetings with these limits."""
    return replace(
        limits,
        predicates=limits.predicates + _PREDICATES,
        depth=min(limits.depth + 1, MAX_DEPTH),
    )


@lru_cache(maxsize=10_000)
def _guard(categories: tuple[str, ...]) -> str:
    name = BLOCKED_CATEGORIES
    kept_out_by = with_ancestors(map(category, categories))
    none_of = orjson.dumps(["none of", name, *kept_out_by]).decode()
    return f'["or",["is null","{name}"],{none_of}]'
