"""The examples of `POST /v1/expressions/validate` on the OpenAPI page.

`tests/app/test_expressions.py` sends every request and compares every answer.
"""

from typing import Any

from fastapi.openapi.models import Example

from app.problems import ExpressionItem, Problem, ProblemItem

_ATTRIBUTES = [
    {"name": "country", "type": "string"},
    {"name": "age", "type": "int"},
    {"name": "segments", "type": "int list"},
]

REQUESTS: dict[str, Example] = {
    "valid": {
        "summary": "An expression that is right",
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
        "summary": "An attribute of no type",
        "value": {"text": "true", "attributes": [{"name": "country", "type": "text"}]},
    },
    "incomplete": {
        "summary": "A request without attributes",
        "value": {"text": "true"},
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
    "warnings": [],
}

# Those with a request above bear its name.
PROBLEMS: dict[str, Problem] = {
    "wrong_expression": Problem(
        title="Unprocessable Entity",
        status=422,
        detail="The expression is wrong.",
        errors=[
            ExpressionItem(
                pointer="/text",
                code="attribute.unknown",
                detail="there is no attribute contry",
                line=1,
                column=1,
                start=0,
                end=6,
                caret="line 1, column 1: there is no attribute contry\n"
                "1 | contry = 'US'\n"
                "  | ^^^^^^\n"
                "hint: did you mean country?",
                hint="did you mean country?",
            )
        ],
    ),
    "wrong_attributes": Problem(
        title="Unprocessable Entity",
        status=422,
        detail="The list of attributes is wrong.",
        errors=[
            ProblemItem(
                pointer="/attributes/0/type",
                code="attribute.type",
                detail="the type of country must be one of bool, int, float, string, int list, "
                "string list, not 'text'",
            )
        ],
    ),
    "incomplete": Problem(
        title="Unprocessable Entity",
        status=422,
        detail="The request is not what this route takes.",
        errors=[
            ProblemItem(pointer="/attributes", code="request.missing", detail="Field required")
        ],
    ),
    "not_json": Problem(
        title="Bad Request",
        status=400,
        detail="The body is not JSON.",
        errors=[
            ProblemItem(pointer="", code="json.malformed", detail="Expecting value, at character 9")
        ],
    ),
    "too_large": Problem(
        title="Request Entity Too Large",
        status=413,
        detail="The body is larger than 262144 bytes.",
    ),
    "not_declared_as_json": Problem(
        title="Unsupported Media Type",
        status=415,
        detail="Send the body as JSON with Content-Type: application/json; "
        "the request says 'text/plain'.",
    ),
}
