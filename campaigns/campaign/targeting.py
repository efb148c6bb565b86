"""Targeting: from its text to the columns that are derived from it.

text ──parse, with the catalogue's schema──▶ tree ──▶ JSON as written, for the feed and the index
                                              │ ├──▶ the attributes in it
                                              │ └──▶ normal form ──▶ fingerprint

Two campaigns with the same fingerprint match the same requests, however they were written.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from campaigns.errors import FieldProblem
from index import ExpressionError, Limits, Schema, parse
from index.language import Tree, normalize, predicates_of, to_json

EVERYTHING = "true"
"""The default targeting."""


@dataclass(frozen=True, slots=True)
class Targeting:
    """A checked text: its tree as JSON, its attributes, its fingerprint."""

    text: str
    tree: str
    attribute_names: tuple[str, ...]
    fingerprint: str


def check_targeting(text: str, schema: Schema, limits: Limits) -> Targeting:
    """The checked targeting, or `ExpressionError`. This can be slow: run it in a thread."""
    return of_tree(text, parse(text, schema, limits))


def of_tree(text: str, tree: Tree) -> Targeting:
    """The targeting of a tree that was parsed from `text`."""
    names = sorted({predicate.attribute for predicate in predicates_of(tree)})
    return Targeting(text, to_json(tree), tuple(names), fingerprint_of(tree))


def fingerprint_of(tree: Tree) -> str:
    """SHA-256 of the normal form's canonical JSON."""
    return hashlib.sha256(normalize(tree).to_json().encode()).hexdigest()


def check_texts(
    texts: Iterable[str], schema: Schema, limits: Limits
) -> dict[str, Targeting | FieldProblem]:
    """Check each text once; an invalid one maps to its problem."""
    checked: dict[str, Targeting | FieldProblem] = {}
    for text in texts:
        if text in checked:
            continue
        try:
            checked[text] = check_targeting(text, schema, limits)
        except ExpressionError as error:
            checked[text] = problem_of(error)
    return checked


def problem_of(error: ExpressionError) -> FieldProblem:
    """The problem of the field `targeting`."""
    return FieldProblem("/targeting", error.code, error.message, error)


def names_to_json(names: Iterable[str]) -> str:
    """The attribute names as the table stores them: `["age","country"]`, searched for `"age"`."""
    return json.dumps(list(names), separators=(",", ":"))
