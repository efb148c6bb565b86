"""The categories of campaigns: how they are written, and how a request blocks them.

    IAB7-39     the IAB's Content Taxonomy 1.0 (number 1), by its own code; its parent is IAB7
    5:150       any other taxonomy: its number in OpenRTB's list, and the code in it

The codes of the newer taxonomies do not show their parents, so these have no ancestors here.

A campaign with categories goes into the index as

    and ── its targeting
        └─ or ── request.blocked_categories is null
              └─ request.blocked_categories none of (its categories and their ancestors)

So a request that blocks IAB7 gets no campaign of IAB7-39, a request that blocks IAB7-39 still gets
those of IAB7, and the number of matches is right without a second filter. Only the index sees this
tree: the stored campaign, the digest and the versions do not have it.

A filter beside the index would have to look at every match to count them. `docs/openrtb.md` has the
cost of this way.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import orjson

from campaigns.catalogue.model import BLOCKED_CATEGORIES
from index import Limits
from index.language.limits import MAX_DEPTH

CONTENT_1 = 1
"""The number of the taxonomy that a request means when it names none."""

_CONTENT_1_CODE = re.compile(r"IAB[0-9]{1,4}(?:-[0-9]{1,4})?", re.IGNORECASE)
_VERSION = "[1,"
_PREDICATES = 2


def category(code: str, taxonomy: int = CONTENT_1) -> str:
    """The canonical form of a category."""
    code = code.strip()
    if taxonomy != CONTENT_1:
        return f"{taxonomy}:{code}"
    code = code.removeprefix("1:")
    return code.upper() if _CONTENT_1_CODE.fullmatch(code) else code


def ancestors(category: str) -> tuple[str, ...]:
    """The categories above a category."""
    if "-" in category and _CONTENT_1_CODE.fullmatch(category):
        return (category.partition("-")[0],)
    return ()


def with_ancestors(categories: Iterable[str]) -> list[str]:
    """The categories and their ancestors, each once."""
    found: dict[str, None] = {}
    for each in categories:
        found[each] = None
        found.update(dict.fromkeys(ancestors(each)))
    return list(found)


def wrap(tree: bytes | str, categories: Sequence[str] | None) -> bytes | str:
    """The JSON that goes into the index, from the JSON of the targeting.

    It is composed as text, since a load wraps a million trees. Invalid input is returned as it is:
    the index rejects it.
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


def for_targeting(limits: Limits) -> Limits:
    """The limits of a targeting, so that the wrapped tree is within the limits of the index."""
    return replace(limits, depth=min(limits.depth, MAX_DEPTH - 1))


def for_index(limits: Limits) -> Limits:
    """The limits of an index for wrapped trees."""
    return replace(
        limits,
        predicates=limits.predicates + _PREDICATES,
        depth=min(limits.depth + 1, MAX_DEPTH),
    )


@lru_cache(maxsize=10_000)
def _guard(categories: tuple[str, ...]) -> str:
    name = BLOCKED_CATEGORIES
    blocked_by = with_ancestors(map(category, categories))
    none_of = orjson.dumps(["none of", name, *blocked_by]).decode()
    return f'["or",["is null","{name}"],{none_of}]'
