"""The matching index: which of many Boolean expressions does an event make true?

`facade.py` is `Index`. `language/` parses an expression, `native/` matches many of them in Rust,
`reference/` as the papers describe it, and `scan.py` one by one: the oracle for the other two.
"""

from index.digest import digest_of
from index.event import EventError, EventProblem
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
from index.matches import Matches
from index.obstacles import Obstacle, Obstacles
from index.query import Exclude, Query
from index.rows import RowError

__all__ = [
    "Attribute",
    "EventError",
    "EventProblem",
    "Exclude",
    "Explanation",
    "ExpressionError",
    "Funnel",
    "Index",
    "LanguageError",
    "Limits",
    "Matches",
    "Obstacle",
    "Obstacles",
    "Query",
    "RowError",
    "Schema",
    "SchemaError",
    "TreeError",
    "digest_of",
    "parse",
]
