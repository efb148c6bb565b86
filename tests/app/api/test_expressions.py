"""`POST /v1/expressions/validate`."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.expressions import ValidatedExpression, Words
from app.openapi.examples import ERRORS, REQUESTS, VALIDATED
from app.openapi.responses import problem_from
from app.settings import Settings
from tests.app.conftest import client_of

ROUTE = "/v1/expressions/validate"
ATTRIBUTES = [
    {"name": "country", "type": "string"},
    {"name": "age", "type": "int"},
    {"name": "vip", "type": "bool"},
]


def validate(client: TestClient, text: str, attributes: Any = ATTRIBUTES) -> Any:
    response = client.post(ROUTE, json={"text": text, "attributes": attributes})
    assert response.status_code == 200, response.text
    return response.json()


def refused(client: TestClient, text: str, attributes: Any = ATTRIBUTES) -> Any:
    response = client.post(ROUTE, json={"text": text, "attributes": attributes})
    assert response.status_code == 422, response.text
    assert response.headers["content-type"] == "application/problem+json"
    (error,) = response.json()["errors"]
    return error


def test_an_expression_is_answered_with_its_two_forms(client: TestClient) -> None:
    answer = validate(client, "country = 'US' AND NOT (age < 18)")
    assert answer["text"] == "country = 'US' and not (age < 18)"
    assert answer["tree"] == [1, ["and", ["=", "country", "US"], ["not", ["<", "age", 18]]]]
    assert answer["normal_form"]["text"] == "age >= 18 and country = 'US'"
    assert answer["predicates"] == 2
    assert answer["warnings"] == []


def test_the_answer_is_what_the_schema_promises(client: TestClient) -> None:
    ValidatedExpression.model_validate(validate(client, "vip or age between 18 and 34"))


def test_what_can_never_be_true_is_a_warning(client: TestClient) -> None:
    answer = validate(client, "age > 30 and age < 20")
    assert [warning["code"] for warning in answer["warnings"]] == ["never_true"]


def test_comments_and_line_breaks_are_welcome(client: TestClient) -> None:
    answer = validate(client, "vip -- the rich\n  and age >= 18\n")
    assert answer["text"] == "vip and age >= 18"


def test_no_attributes_are_enough_for_a_constant(client: TestClient) -> None:
    assert validate(client, "true", [])["predicates"] == 0


def test_an_error_has_its_place_and_a_caret(client: TestClient) -> None:
    error = refused(client, "vip and\n  age = 'old'")
    assert error["pointer"] == "/text"
    assert error["code"] == "type.mismatch"
    assert (error["line"], error["column"]) == (2, 9)
    assert (error["start"], error["end"]) == (16, 21)
    assert "  age = 'old'\n" in error["caret"]
    assert "^^^^^" in error["caret"]


def test_a_misspelt_name_is_answered_with_the_nearest(client: TestClient) -> None:
    error = refused(client, "contry = 'US'")
    assert error["code"] == "attribute.unknown"
    assert error["hint"] == "did you mean country?"


@pytest.mark.parametrize(
    ("attributes", "pointer", "code"),
    [
        (
            [*ATTRIBUTES, {"name": "nine\nlives", "type": "int"}],
            "/attributes/3/name",
            "attribute.name",
        ),
        ([*ATTRIBUTES, {"name": "and", "type": "int"}], "/attributes/3/name", "attribute.keyword"),
        ([*ATTRIBUTES, {"name": "age", "type": "int"}], "/attributes/3/name", "attribute.repeated"),
        ([{"name": "x", "type": "text"}, *ATTRIBUTES], "/attributes/0/type", "attribute.type"),
        ([*ATTRIBUTES, {"name": "x"}], "/attributes/3/type", "request.missing"),
        ([*ATTRIBUTES, {"name": 1, "type": "int"}], "/attributes/3/name", "request.string_type"),
        ("country", "/attributes", "request.list_type"),
    ],
)
def test_a_wrong_attribute_is_pointed_at(
    client: TestClient, attributes: Any, pointer: str, code: str
) -> None:
    error = refused(client, "true", attributes)
    assert (error["pointer"], error["code"]) == (pointer, code)


def test_limits_come_from_the_settings(url: str, tokens: dict[str, str]) -> None:
    settings = Settings(database_url=url, max_predicates=2, max_depth=1)
    with client_of(settings, tokens["all"]) as client:
        assert refused(client, "vip or vip or vip")["code"] == "limit.predicates"
        assert refused(client, "not (not (vip))")["code"] == "limit.depth"


def test_the_deepest_nesting_is_answered(client: TestClient) -> None:
    validate(client, "(" * 63 + "vip" + ")" * 63)
    assert refused(client, "(" * 65 + "vip" + ")" * 65)["code"] == "limit.depth"
    assert refused(client, "(" * 30_000 + "vip")["code"] == "limit.depth"


def test_a_lone_surrogate_is_refused(client: TestClient) -> None:
    body = b'{"text": "country = \'\\ud800\'", "attributes": []}'
    response = client.post(ROUTE, content=body, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] == "value.surrogate"


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_every_documented_request_gets_its_documented_answer(client: TestClient, name: str) -> None:
    response = client.post(ROUTE, json=REQUESTS[name]["value"])
    if name in ERRORS:
        problem, _ = problem_from(ERRORS[name])
        assert response.status_code == problem.status
        assert response.json() == problem.model_dump(mode="json")
    else:
        assert response.status_code == 200
        assert name != "valid" or response.json() == VALIDATED


def test_without_attributes_it_is_the_catalogue_that_counts(client: TestClient) -> None:
    def ask(text: str) -> Any:
        return client.post(ROUTE, json={"text": text})

    assert ask("now.hour < 12 and page.viewability > 0.5").status_code == 422
    new = {"name": "page.viewability", "type": "float"}
    assert client.post("/v1/attributes", json=new).status_code == 201
    assert ask("now.hour < 12 and page.viewability > 0.5").status_code == 200
    # What is declared in the request counts alone.
    declared = {"text": "now.hour < 12", "attributes": []}
    assert client.post(ROUTE, json=declared).status_code == 422


def test_the_words_are_those_of_the_language(client: TestClient) -> None:
    found = client.get("/v1/expressions/words").json()
    Words.model_validate(found)
    words = {each["word"]: each["types"] for each in found["operators"]}
    assert words["within box"] == ["point"]
    assert "holds" not in words
    assert {"xnor", "polygon", "null"} <= set(found["keywords"])
