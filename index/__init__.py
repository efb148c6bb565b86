"""The matching index: which of many Boolean expressions does an event make true?"""

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

__all__ = [
    "Attribute",
    "ExpressionError",
    "LanguageError",
    "Limits",
    "Schema",
    "SchemaError",
    "TreeError",
    "parse",
]
