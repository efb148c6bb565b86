"""Targeting: from its text to the columns that are derived from it.

text ──parse, with the catalogue's schema──▶ tree ──▶ JSON as written, for the feed and the index
                                              │ ├──▶ the attributes in it
                                              │ ├──▶ normal form ──▶ fingerprint
                                              │ └──▶ warnings, which are not stored

Two campaigns with the same fingerprint match the same requests, however they were written.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from campaigns.campaign.networks import check_networks
from campaigns.campaign.traps import traps_in
from campaigns.catalogue.knowledge import NOTHING, Knowledge
from campaigns.errors import FieldProblem
from index import ExpressionError, Limits, Schema
from index.language import (
    ExpressionWarning,
    NormalForm,
    Tree,
    attributes_of,
    calls_of,
    normalize,
    parse_written,
    to_json,
    warnings_for,
)

EVERYTHING = "true"
"""The default targeting."""


@dataclass(frozen=True, slots=True)
class Targeting:
    """A checked text: its tree as JSON, its attributes, its fingerprint, and what is probably not
    meant."""

    text: str
    tree: str
    attribute_names: tuple[str, ...]
    fingerprint: str
    warnings: tuple[ExpressionWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A text that was parsed: its targeting, its tree and its normal form."""

    targeting: Targeting
    tree: Tree
    form: NormalForm


def read(text: str, schema: Schema, limits: Limits, knowledge: Knowledge = NOTHING) -> Read:
    """Parse a text, or raise `ExpressionError`. This can be slow: run it in a thread."""
    tree, written = parse_written(text, schema, limits)
    check_networks(text, written, knowledge)
    form = normalize(tree)
    calls = {call_name(call.operator) for call in calls_of(tree).values()}
    names = sorted(attributes_of(tree) | calls)
    warnings = (*warnings_for(tree, form), *traps_in(text, tree, written, knowledge))
    targeting = Targeting(text, to_json(tree), tuple(names), fingerprint_of(form), warnings)
    return Read(targeting, tree, form)


def fingerprint_of(form: NormalForm) -> str:
    """SHA-256 of the normal form's canonical JSON."""
    return hashlib.sha256(form.to_json().encode()).hexdigest()


def check_targeting(
    text: str, schema: Schema, limits: Limits, knowledge: Knowledge = NOTHING
) -> Targeting:
    """The checked targeting, or `ExpressionError`."""
    return read(text, schema, limits, knowledge).targeting


def check_texts(
    texts: Iterable[str], schema: Schema, limits: Limits, knowledge: Knowledge = NOTHING
) -> dict[str, Targeting | FieldProblem]:
    """Check each text once; an invalid one maps to its problem."""
    checked: dict[str, Targeting | FieldProblem] = {}
    for text in texts:
        if text in checked:
            continue
        try:
            checked[text] = check_targeting(text, schema, limits, knowledge)
        except ExpressionError as error:
            checked[text] = problem_of(error)
    return checked


def problem_of(error: ExpressionError) -> FieldProblem:
    """The problem of the field `targeting`."""
    return FieldProblem("/targeting", error.code, error.message, error)


def call_name(operator: str) -> str:
    """How an operator is named among the attributes of a campaign that calls it."""
    return f"call {operator}"


def names_to_json(names: Iterable[str]) -> str:
    """The attribute names as the table stores them: `["age","country"]`, searched for `"age"`."""
    return json.dumps(list(names), separators=(",", ":"))
