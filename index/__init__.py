"""The matching index: which of many Boolean expressions does an event make true?

`language/` understands an expression, `reference/` matches many of them as the papers
describe it, `scan.py` is the oracle that says what is right, `facade.py` is `Index`.
"""

from index.blame import Blame, Obstacle
from index.digest import digest_of
from index.event import EventError, EventProblem
from index.exclude import Exclude
from index.explain import Explanation
from index.facade import Index
from index.funnel import Funnel
from index.language import (
    Attribute,
    ExpressionError,
    LanguageError,
    Limits,
    Schema,
    SchemaError,
    TreeError,
    parse,
)
from index.rows import RowError

__all__ = [
    "Attribute",
    "Blame",
    "EventError",
    "EventProblem",
    "Exclude",
    "Explanation",
    "ExpressionError",
    "Funnel",
    "Index",
    "LanguageError",
    "Limits",
    "Obstacle",
    "RowError",
    "Schema",
    "SchemaError",
    "TreeError",
    "digest_of",
    "parse",
]
