"""What an index inside Spark holds: campaigns, and each of them without one of its predicates.

    7: a and b   ──▶   place 0   (7, WHOLE)   a and b
    9: c               place 1   (7, 1)       b               without the first predicate
                       place 2   (7, 2)       a               without the second
                       place 3   (9, WHOLE)   c
                       place 4   (9, 1)       true

They are made where they are matched, in the Python workers, from the campaigns that were broadcast.
Each worker holds one index at a time, so campaigns are asked about in rounds, of which none has
more than `BYTES_A_ROUND` of expressions: the memory of a worker does not grow with the campaigns.
"""

from collections.abc import Iterator, Sequence

from campaigns.statistics.relaxation import left_out
from index import Limits, Schema
from index.language.json_form import from_json, to_json
from index.language.limits import MAX_DEPTH

LIMITS = Limits(2**31 - 1, 2**20, MAX_DEPTH, 2**24)

WHOLE = 0
"""Nothing is left out; from one on, the predicate of that number is."""

BYTES_A_ROUND = 32 * 2**20
"""As JSON."""

Expressions = Sequence[tuple[int, bytes]]
"""Ids, from zero on, and the JSON of trees."""


def rounds(expressions: Expressions, without: int) -> Iterator[Expressions]:
    """The expressions in order, as many at a time as fit with up to `without` variants of each."""
    some: list[tuple[int, bytes]] = []
    size = 0
    for id, tree in expressions:
        # A predicate is a list of its own in the JSON, so there are no more than brackets.
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
    """Every expression and, behind it, what is left without each of its first predicates: the id,
    what is left out, and the JSON."""
    for id, tree in expressions:
        yield id, WHOLE, tree
        if without:
            rests = left_out(from_json(tree, schema, LIMITS), without)
            for number, (_, rest) in enumerate(rests, 1):
                yield id, number, to_json(rest).encode()
