"""Warnings about valid expressions that probably do not mean what their author wants."""

from dataclasses import dataclass

from index.language.normal_form import NormalForm, normalize
from index.language.tree import Constant, Not, Tree


@dataclass(frozen=True, slots=True)
class ExpressionWarning:
    """A stable code and a message for the person who wrote the expression."""

    code: str
    message: str


def warnings_for(tree: Tree) -> list[ExpressionWarning]:
    """Warns if an expression can never be true, or never be false.

    An expression that is never false is true of every request that has all its attributes: if
    none is missing, nothing is unknown.
    """
    if isinstance(tree, Constant):
        return [] if tree.value else [NEVER_TRUE]
    if _is(normalize(tree), False):
        return [NEVER_TRUE]
    if _is(normalize(tree), True):
        return [ALWAYS_TRUE]
    if _is(normalize(Not(tree)), False):
        return [NEVER_FALSE]
    return []


NEVER_TRUE = ExpressionWarning("never_true", "this can never be true: it will match no request")
ALWAYS_TRUE = ExpressionWarning("always_true", "this is always true: it will match every request")
NEVER_FALSE = ExpressionWarning(
    "never_false", "this is true of every request that has the attributes it names"
)


def _is(form: NormalForm, value: bool) -> bool:
    return form.root == Constant(value)
