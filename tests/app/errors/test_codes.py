"""The table of codes is complete: it has the codes in the sources, and no others."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from app.errors.codes import CODES, PYDANTIC
from app.errors.store_errors import _CODES
from campaigns.log.changes import KINDS
from campaigns.record import UNKNOWN_FIELD
from campaigns.statistics import gates

ROOT = Path(__file__).parents[3]
CODE = re.compile(r"[a-z]+(?:_[a-z]+)*\.[a-z]+(?:_[a-z]+)*")

MAKERS = {
    *(
        "item",
        "invalid",
        "fail",
        "FieldProblem",
        "BadField",
        "BadValue",
        "BadPattern",
        "BadPredicate",
        "_Wrong",
    ),
    *("ExpressionError", "SchemaError", "TreeError", "EventProblem"),
    *("NotAuthenticated", "MalformedBidRequest"),
}
"""Functions and classes that take a code as one of their first arguments."""

COMPOSED = {
    *(f"{kind}.not_found" for kind in KINDS),
    *("external_id.taken", "name.taken", "attribute.in_use", "advertiser.in_use"),
    "operator.in_use",
    *(
        f"gate.{gate}"
        for gate in (gates.ROWS, gates.QUARANTINE, gates.DRIFT, gates.MATCHES, gates.COST)
    ),
    *(code for _, code, _ in _CODES.values()),
    UNKNOWN_FIELD,
}


def written() -> Iterator[str]:
    for folder in ("app", "campaigns", "index"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and _name(node.func) in MAKERS:
                    yield from _codes(node)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _codes(call: ast.Call) -> Iterator[str]:
    for argument in call.args[:3]:
        if isinstance(argument, ast.Constant) and CODE.fullmatch(str(argument.value)):
            yield str(argument.value)


def test_the_table_has_every_code_and_no_other() -> None:
    found = {code for code in written() if not code.startswith(PYDANTIC)} | COMPOSED
    assert sorted(found - set(CODES)) == [], "add them to app/errors/codes.py"
    assert sorted(set(CODES) - found) == [], "no source has them"


def test_the_table_is_in_order() -> None:
    assert list(CODES) == sorted(CODES)
