"""The expressions that an index inside Spark holds: campaigns, and each without one predicate.

    7: a and b   ──▶   place 0   (7, WHOLE)   a and b
    9: c               place 1   (7, 1)       b               without the first predicate
                       place 2   (7, 2)       a               without the second
                       place 3   (9, WHOLE)   c
                       place 4   (9, 1)       true

The Python workers make the variants where they match them, from the broadcast campaigns. A worker
holds one index at a time, so the campaigns are matched in rounds of at most `BYTES_A_ROUND` of
expressions: the memory of a worker does not grow with the number of campaigns.
"""

from collections.abc import Iterator, Sequence

from campaigns.statistics.relaxation import left_out
from index import Limits, Schema
from index.language.json_form import from_json, to_json
from index.language.limits import MAX_DEPTH

LIMITS = Limits(2**31 - 1, 2**20, MAX_DEPTH, 2**24)

WHOLE = 0
"""No predicate is left out; n from 1 means that the n-th is."""

BYTES_A_ROUND = 32 * 2**20
"""As JSON."""

Expressions = Sequence[tuple[int, bytes]]
"""Ids, not negative, and the JSON of trees."""


def rounds(expressions: Expressions, without: int) -> Iterator[Expressions]:
    """The expressions in order, in rounds that fit with up to `without` variants of each."""
    some: list[tuple[int, bytes]] = []
    size = 0
    for id, tree in expressions:
        # Each predicate is a list in the JSON, so there are at most as many as brackets.
        needed = len(tree) * (1 + min(without, tree.count(b"[")))
        if some and size + needed > BYTES_A_ROUND:
            yield some
            some, size = [], 0
        some.append((id, tree))
        size += needed
    yield some


def variants(
    expressions: Expressions, schema: Schema, without: int
) -> Iterator[tuple[int, int, bytes]]:
    """Each expression, followed by what remains without each of its first `without` predicates:
    the id, the number of the predicate left out, and the JSON."""
    for id, tree in expressions:
        yield id, WHOLE, tree
        if without:
            rests = left_out(from_json(tree, schema, LIMITS), without)
            for number, (_, rest) in enumerate(rests, 1):
                yield id, number, to_json(rest).encode()
