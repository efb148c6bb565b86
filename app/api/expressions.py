"""`POST /v1/expressions/validate`: is an expression valid, and how is it understood?"""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.errors.http_errors import InvalidAttributes, InvalidExpression
from app.errors.problems import pointer_to
from app.middleware.scopes import Reader
from app.openapi.examples import ERRORS, REQUESTS, VALIDATED
from app.openapi.responses import answers
from app.state import CurrentStore
from campaigns.campaign.analysis import validated
from campaigns.catalogue.model import MAX_ATTRIBUTES
from index import Attribute, ExpressionError, Schema, SchemaError

router = APIRouter(prefix="/v1/expressions", tags=["expressions"])


class AttributeDeclaration(BaseModel):
    """An attribute that the expression can use."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="case-sensitive; may have dots")
    type: str = Field(description="bool, int, float, string, int list or string list")


class ExpressionToValidate(BaseModel):
    """An expression, and the attributes that it can use."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="the expression as written, comments and line breaks included")
    attributes: list[AttributeDeclaration] | None = Field(
        default=None,
        max_length=MAX_ATTRIBUTES,
        description="default: the attributes of the catalogue",
    )


class NormalForm(BaseModel):
    """The expression as the index has it: with negations pushed down to the predicates."""

    text: str | None = Field(description="null if it is too long")
    graph: Any = Field(description="the same as a graph; equal parts are one node")


class ExpressionWarning(BaseModel):
    """Something that is allowed and probably not intended."""

    code: str
    message: str


class ValidatedExpression(BaseModel):
    """The parsed expression."""

    model_config = ConfigDict(json_schema_extra={"examples": [VALIDATED]})

    text: str = Field(description="the expression, printed from its parsed form")
    tree: Any = Field(description="the checked tree as written")
    normal_form: NormalForm
    predicates: int = Field(description="number of predicates as written")
    warnings: list[ExpressionWarning]


@router.post(
    "/validate",
    summary="Check an expression",
    response_model=ValidatedExpression,
    responses=answers(VALIDATED, scope="campaigns:read", body=True, errors=ERRORS),
)
async def validate_expression(
    _: Reader,
    store: CurrentStore,
    request: Annotated[ExpressionToValidate, Body(openapi_examples=REQUESTS)],
) -> Response:
    """Parses an expression and checks it against the catalogue, or against a list of attributes.

    Returns the parsed expression, its normal form, and warnings about what is probably not
    intended; or the error, where it is, and how to fix it.
    """
    if request.attributes is None:
        schema = (await store.catalogue()).schema
    else:
        schema = await store.analyse(0, _schema, request.attributes)
    text = request.text
    try:
        answer = await store.analyse(len(text), validated, text, schema, store.limits)
    except ExpressionError as error:
        raise InvalidExpression("/text", error) from error
    return Response(answer, media_type="application/json")


def _schema(declared: list[AttributeDeclaration]) -> Schema:
    attributes: list[Attribute] = []
    try:
        for attribute in declared:
            attributes.append(Attribute(attribute.name, attribute.type))
        return Schema(attributes)
    except SchemaError as error:
        # An attribute does not know its position in the list.
        place = len(attributes) if error.index is None else error.index
        field = "type" if error.code == "attribute.type" else "name"
        raise InvalidAttributes(pointer_to(("attributes", place, field)), error) from error
