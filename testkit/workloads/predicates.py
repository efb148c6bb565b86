"""The predicates of BE-Gen and ABE-Gen: one integer attribute, one of nine operators.

Table IV of the BE-Tree paper names four classes of operators. A share of the predicates are
equalities, the rest are drawn evenly from the others of the class. Sets have up to six values,
and a `between` is on average 12% of the domain wide (section 8.2.1).
"""

from collections.abc import Callable
from random import Random

OPERATORS = {
    "minimum": ("=",),
    "low": ("=", "in"),
    "medium": ("=", "in", "<", "<=", ">", ">=", "between"),
    "high": ("=", "in", "<", "<=", ">", ">=", "between", "!=", "not in"),
}

SET_VALUES = 6
RANGE_SHARE = 0.12


def name(dimension: int) -> str:
    """The name of an attribute."""
    return f"a{dimension}"


def operators(rng: Random, operator_class: str, equality: float) -> Callable[[], str]:
    """A generator of operators."""
    others = OPERATORS[operator_class][1:]
    random = rng.random
    if not others:
        return lambda: "="
    return lambda: "=" if random() < equality else others[int(random() * len(others))]


def around(
    rng: Random,
    op: str,
    dimension: int,
    value: int,
    cardinality: int,
    share: float = RANGE_SHARE,
) -> str:
    """The JSON form of a predicate that holds for `value` (table II of the BE-Tree paper).

    Where the domain leaves no room (nothing is above the highest value), the nearest possible
    operator is used.
    """
    random = rng.random
    if op == "=":
        return f'["=","a{dimension}",{value}]'
    if op == "between":
        width = random() * 2 * share * cardinality
        low = value - int(random() * width)
        high = min(int(low + width), cardinality - 1)
        return f'["between","a{dimension}",{max(low, 0)},{max(high, value)}]'
    if op == "<":
        return f'["<","a{dimension}",{value + 1 + int(random() * (cardinality - value))}]'
    if op == "<=":
        return f'["<=","a{dimension}",{value + int(random() * (cardinality - value))}]'
    if op == ">":
        return f'[">","a{dimension}",{value - 1 - int(random() * (value + 1))}]'
    if op == ">=":
        return f'[">=","a{dimension}",{value - int(random() * (value + 1))}]'
    if op == "in":
        others = (int(random() * cardinality) for _ in range(int(random() * SET_VALUES)))
        values = ",".join(map(str, dict.fromkeys((value, *others))))
        return f'["in","a{dimension}",{values}]'
    if op == "!=":
        return f'["!=","a{dimension}",{_other(rng, value, cardinality)}]'
    count = 1 + int(random() * SET_VALUES)
    others = (_other(rng, value, cardinality) for _ in range(count))
    values = ",".join(map(str, dict.fromkeys(others)))
    return f'["not in","a{dimension}",{values}]'


def _other(rng: Random, value: int, cardinality: int) -> int:
    """Any value but this one."""
    other = int(rng.random() * (cardinality - 1))
    return other + (other >= value)
