"""Warnings about valid expressions that probably do not mean what their author wants.

Here are those that follow from the expression alone. `campaigns/campaign/traps.py` has those that
need to know something of the attributes.
"""

from dataclasses import dataclass

from index.language.normal_form import Gate, Kind, NormalForm, normalize
from index.language.operators import Op
from index.language.predicate import Literal
from index.language.tree import Constant, Not, Tree
from index.language.written import Span


@dataclass(frozen=True, slots=True)
class ExpressionWarning:
    """A stable code and a message for the person who wrote the expression; where it is, if not
    about all of it; what to do; and, if that is certain, the text to write in its place."""

    code: str
    message: str
    span: Span | None = None
    suggestion: str | None = None
    replacement: str | None = None
    pointer: str | None = None
    """The field that it is about, if that is not the expression."""


def warnings_for(tree: Tree, form: NormalForm | None = None) -> list[ExpressionWarning]:
    """Warns if an expression can never be true, or never be false.

    An expression that is never false is true of every request that has all its attributes: if
    none is missing, nothing is unknown. `form` is the normal form, if it is known.
    """
    if isinstance(tree, Constant):
        return [] if tree.value else [NEVER_TRUE]
    form = form or normalize(tree)
    if _is(form, False):
        return [NEVER_TRUE]
    if _is(form, True):
        return [ALWAYS_TRUE]
    if not _has_literal(form) and _is(normalize(Not(tree)), False):
        return [NEVER_FALSE]
    return []


NEVER_TRUE = ExpressionWarning("never_true", "this can never be true: it will match no request")
ALWAYS_TRUE = ExpressionWarning("always_true", "this is always true: it will match every request")
NEVER_FALSE = ExpressionWarning(
    "never_false", "this is true of every request that has the attributes it names"
)


def _has_literal(form: NormalForm) -> bool:
    """Whether a literal must be true that can be false of a value: one that cannot has become
    `is not null` in the normal form. So most expressions are normalised once."""
    root = form.root
    needed = form.nodes if isinstance(root, Literal) else ()
    if isinstance(root, Gate) and root.kind is Kind.AND:
        needed = tuple(form.nodes[child] for child in root.children)
    return any(isinstance(node, Literal) and node.predicate.op is not Op.IS_NULL for node in needed)


def _is(form: NormalForm, value: bool) -> bool:
    return form.root == Constant(value)
