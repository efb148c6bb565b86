"""Categories as Copse compares them: those of campaigns, of sites and apps, and blocked ones.

    IAB7-39     the IAB's Content Taxonomy 1.0 (number 1), by its own code; it lies in IAB7
    5:150       any other taxonomy: its number in OpenRTB's list, and the code in it

The codes of the newer taxonomies do not say what they lie in, so these have no ancestors here.
"""

import re
from collections.abc import Iterable

CONTENT_1 = 1
"""The number of the taxonomy that a request means when it names none."""

_CONTENT_1_CODE = re.compile(r"IAB[0-9]{1,4}(?:-[0-9]{1,4})?", re.IGNORECASE)


def category(code: str, taxonomy: int = CONTENT_1) -> str:
    """The one way to write a category."""
    code = code.strip()
    if taxonomy != CONTENT_1:
        return f"{taxonomy}:{code}"
    code = code.removeprefix("1:")
    return code.upper() if _CONTENT_1_CODE.fullmatch(code) else code


def ancestors(category: str) -> tuple[str, ...]:
    """What a category lies in, without itself."""
    if "-" in category and _CONTENT_1_CODE.fullmatch(category):
        return (category.partition("-")[0],)
    return ()


def with_ancestors(categories: Iterable[str]) -> list[str]:
    """The categories and what they lie in, each once."""
    found: dict[str, None] = {}
    for each in categories:
        found[each] = None
        found.update(dict.fromkeys(ancestors(each)))
    return list(found)
