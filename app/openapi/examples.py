"""The examples of `POST /v1/expressions/validate` on the OpenAPI page.

`tests/app/api/test_expressions.py` sends every request and compares every response.
"""

from typing import Any

from fastapi.openapi.models import Example

from app.errors.http_errors import InvalidAttributes, InvalidExpression
from app.openapi.responses import wrong_parameter
from index import Attribute, ExpressionError, Schema, SchemaError, parse

_ATTRIBUTES = [
    {"name": "country", "type": "string"},
    {"name": "age", "type": "int"},
    {"name": "segments", "type": "int list"},
]

REQUESTS: dict[str, Example] = {
    "valid": {
        "summary": "A valid expression",
        "value": {
            "text": "country in ('US', 'CA') and not (age < 18 or segments any of (12, 99))",
            "attributes": _ATTRIBUTES,
        },
    },
    "wrong_expression": {
        "summary": "An expression with an unknown attribute",
        "value": {"text": "contry = 'US'", "attributes": _ATTRIBUTES},
    },
    "wrong_attributes": {
        "summary": "An attribute with an unknown type",
        "value": {"text": "true", "attributes": [{"name": "country", "type": "text"}]},
    },
    "catalogue": {
        "summary": "An expression with attributes of the catalogue",
        "value": {"text": "device.type = 'phone' and now.hour between 8 and 19"},
    },
    "incomplete": {
        "summary": "A request without an expression",
        "value": {"attributes": []},
    },
}

VALIDATED: dict[str, Any] = {
    "text": "country in ('US', 'CA') and not (age < 18 or segments any of (12, 99))",
    "tree": [
        1,
        [
            "and",
            ["in", "country", "US", "CA"],
            ["not", ["or", ["<", "age", 18], ["any of", "segments", 12, 99]]],
        ],
    ],
    "normal_form": {
        "text": "age >= 18 and country in ('CA', 'US') and segments none of (12, 99)",
        "graph": [
            1,
            [
                [">=", "age", 18],
                ["in", "country", "CA", "US"],
                ["not", ["any of", "segments", 12, 99]],
                ["and", 0, 1, 2],
            ],
        ],
    },
    "predicates": 3,
    "cost": {"way": "conjunction", "access": ["country = 'CA'", "country = 'US'"], "literals": 3},
    "warnings": [],
}


def _wrong_expression() -> InvalidExpression:
    declared = [Attribute(each["name"], each["type"]) for each in _ATTRIBUTES]
    try:
        parse("contry = 'US'", Schema(declared))
    except ExpressionError as error:
        return InvalidExpression("/text", error)
    raise AssertionError


def _wrong_attributes() -> InvalidAttributes:
    try:
        Attribute("country", "text")
    except SchemaError as error:
        return InvalidAttributes("/attributes/0/type", error)
    raise AssertionError


# Each is the response to the request above with the same name.
ERRORS: dict[str, Exception] = {
    "wrong_expression": _wrong_expression(),
    "wrong_attributes": _wrong_attributes(),
    "incomplete": wrong_parameter("text", "missing", "Field required"),
}
