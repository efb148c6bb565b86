"""The categories of campaigns: how they are written, and how a request blocks them.

    IAB7-39     the IAB's Content Taxonomy 1.0 (number 1), by its own code; its parent is IAB7
    5:150       any other taxonomy: its number in OpenRTB's list, and the code in it

The codes of the newer taxonomies do not show their parents, so these have no ancestors here.

In the index a category is a label with its ancestors before it, `IAB7/IAB7-39`, and a request that
blocks a label gets nothing below it. So a request that blocks IAB7 gets no campaign of IAB7-39, and
a request that blocks IAB7-39 still gets those of IAB7. Labels stand beside the expression: copies
of an expression with other categories are still one in the index, and a request that blocks nothing
pays nothing.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from urllib.parse import quote

CONTENT_1 = 1
"""The number of the taxonomy that a request means when it names none."""

_CONTENT_1_CODE = re.compile(r"IAB[0-9]{1,4}(?:-[0-9]{1,4})?", re.IGNORECASE)
_EMPTY = "%"
"""In place of an empty code. A quoted code never is this."""


@lru_cache(maxsize=10_000)
def category(code: str, taxonomy: int = CONTENT_1) -> str:
    """The canonical form of a category. A code like IAB7 says itself which taxonomy it is of,
    whatever the number beside it."""
    code = code.strip()
    own = code.removeprefix("1:")
    if _CONTENT_1_CODE.fullmatch(own):
        return own.upper()
    return own if taxonomy == CONTENT_1 else f"{taxonomy}:{code}"


@lru_cache(maxsize=10_000)
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
        for above in ancestors(each):
            found[above] = None
    return list(found)


def labels_of(categories: Iterable[str]) -> tuple[str, ...]:
    """The labels of a campaign with these categories, and of a request that blocks them."""
    return tuple(_label(category(each)) for each in categories)


def blocked_ones(categories: Iterable[str], blocked: Collection[str]) -> list[str]:
    """Those of a campaign's categories that a request blocks, itself or by an ancestor."""
    codes = {category(each) for each in blocked}
    return [each for each in categories if not codes.isdisjoint(with_ancestors([category(each)]))]


@lru_cache(maxsize=10_000)
def _label(category: str) -> str:
    path = (*reversed(ancestors(category)), category)
    return "/".join(quote(each, safe=":") or _EMPTY for each in path)
