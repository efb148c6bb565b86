"""An expression without one of its predicates, for each of them: what would it match then?

Without a predicate its `and`, `or` or `xor` has a child less; one child alone stands for itself,
and what has none left is gone as well. Without its only predicate an expression is `true`.
"""

from collections.abc import Iterator

from index.language import Tree
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Or, Xor


def without_each(tree: Tree) -> Iterator[tuple[Predicate, Tree]]:
    """Every occurrence of a predicate, from left to right, and the expression without it."""
    for predicate, rest in _rests(tree):
        yield predicate, Constant(True) if rest is None else rest


def _rests(tree: Tree) -> Iterator[tuple[Predicate, Tree | None]]:
    match tree:
        case Predicate():
            yield tree, None
        case Not(child):
            for predicate, rest in _rests(child):
                yield predicate, None if rest is None else Not(rest)
        case And(children) | Or(children) | Xor(children):
            for place, child in enumerate(children):
                for predicate, rest in _rests(child):
                    yield predicate, _replaced(tree, place, rest)


def _replaced(tree: And | Or | Xor, place: int, rest: Tree | None) -> Tree:
    children = list(tree.children)
    if rest is not None:
        children[place] = rest
    else:
        del children[place]
    if len(children) == 1:
        return children[0]
    if not isinstance(tree, Xor):
        return type(tree)(tuple(children))
    inverted = list(tree.inverted)
    if rest is None:
        # The operator before it goes with it; of the first one, the operator behind.
        del inverted[max(0, place - 1)]
    return Xor(tuple(children), tuple(inverted))
