"""The targeting language: from text to a checked tree, and from there to a normal form.

text ──lexer──▶ tokens ──parser, checks──▶ tree ──literals, normal_form──▶ graph
                                            │
                                            └──json_form──▶ what is stored

>>> from index.language import Attribute, Schema, parse, normalize
>>> schema = Schema([Attribute("country", "string"), Attribute("age", "int")])
>>> tree = parse("country in ('US') and not (age < 18)", schema)
>>> str(tree)
"country in ('US') and not (age < 18)"
>>> normalize(tree).to_text()
"age >= 18 and country = 'US'"
"""

from index.language.calls import Call, Operator, attributes_of, call_of, calls_of
from index.language.errors import ExpressionError, LanguageError, SchemaError, TreeError
from index.language.json_form import from_json, to_json
from index.language.limits import Limits
from index.language.normal_form import NormalForm, normalize
from index.language.operators import Op
from index.language.parser import parse, parse_written
from index.language.predicate import Literal, Predicate
from index.language.schema import Attribute, Schema
from index.language.tree import (
    And,
    Constant,
    Not,
    Or,
    Tree,
    Xor,
    children_of,
    predicate_count,
    predicates_of,
)
from index.language.types import Type
from index.language.warnings import ExpressionWarning, warnings_for
from index.language.written import WrittenPredicate

__all__ = [
    "And",
    "Attribute",
    "Call",
    "Constant",
    "ExpressionError",
    "ExpressionWarning",
    "LanguageError",
    "Limits",
    "Literal",
    "NormalForm",
    "Not",
    "Op",
    "Operator",
    "Or",
    "Predicate",
    "Schema",
    "SchemaError",
    "Tree",
    "TreeError",
    "Type",
    "WrittenPredicate",
    "Xor",
    "attributes_of",
    "call_of",
    "calls_of",
    "children_of",
    "from_json",
    "normalize",
    "parse",
    "parse_written",
    "predicate_count",
    "predicates_of",
    "to_json",
    "warnings_for",
]
