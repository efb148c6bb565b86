"""`/v1/expressions`: is an expression valid, how is it understood, which words are there?"""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.errors.http_errors import InvalidAttributes, InvalidExpression
from app.errors.problems import pointer_to
from app.middleware.scopes import AnyCaller, Reader
from app.openapi.examples import ERRORS, REQUESTS, VALIDATED
from app.openapi.responses import answers
from app.state import CurrentStore
from campaigns.campaign.analysis import validated
from campaigns.catalogue.knowledge import NOTHING
from campaigns.catalogue.model import MAX_ATTRIBUTES
from index import Attribute, ExpressionError, Schema, SchemaError
from index.language import Op, Type
from index.language.names import KEYWORDS

router = APIRouter(prefix="/v1/expressions", tags=["expressions"])


class AttributeDeclaration(BaseModel):
    """An attribute that the expression can use."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="case-sensitive; may have dots")
    type: str = Field(description=f"one of {', '.join(map(str, Type))}")


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
    """Something that is allowed and probably not intended (docs/language.md has the codes)."""

    code: str
    message: str
    pointer: str = Field(description="the field that it is about, as a JSON pointer")
    start: int | None = Field(description="offset of its first character; null: all of the field")
    end: int | None = Field(description="offset after its last character")
    suggestion: str | None = Field(description="what to do, for people")
    replacement: str | None = Field(description="the text to write from `start` to `end` instead")


class Cost(BaseModel):
    """How an index that has seen no traffic would search for the expression."""

    way: str = Field(
        description="`always`: every request finds it, `never`: none does; otherwise `access` does"
    )
    access: list[str] = Field(
        description="a request that satisfies one of these is checked against the rest: the fewer "
        "and the rarer, the cheaper"
    )
    literals: int = Field(description="the most literals that a request can be checked against")


class ValidatedExpression(BaseModel):
    """The parsed expression."""

    model_config = ConfigDict(json_schema_extra={"examples": [VALIDATED]})

    text: str = Field(description="the expression, printed from its parsed form")
    tree: Any = Field(description="the checked tree as written")
    normal_form: NormalForm
    predicates: int = Field(description="number of predicates as written")
    cost: Cost
    warnings: list[ExpressionWarning]


class Operator(BaseModel):
    """An operator of the language."""

    word: str = Field(description="as it is written after the attribute")
    types: list[str] = Field(description="the types of attributes that take it")


class Words(BaseModel):
    """The words of the language."""

    operators: list[Operator]
    keywords: list[str] = Field(description="every single word, also those inside operators")


_OPERATORS = [op for op in Op if op is not Op.HOLDS]
_PARTS = {part for op in _OPERATORS for part in op.word.split() if part.isalpha()}
WORDS = {
    "operators": [{"word": op.word, "types": sorted(map(str, op.types))} for op in _OPERATORS],
    "keywords": sorted(KEYWORDS | _PARTS | {"bucket", "case", "ignoring"}),
}


@router.get(
    "/words",
    summary="List the words of the language",
    response_model=Words,
    responses=answers(WORDS, scope=None),
)
async def list_words(_: AnyCaller) -> Response:
    """Lists the operators with the types that take them, and all keywords: what an editor completes
    and colours."""
    return responses.json(WORDS)


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
        catalogue = await store.catalogue()
        schema, known = catalogue.schema, await store.knowledge(catalogue)
    else:
        schema, known = await store.analyse(0, _schema, request.attributes), NOTHING
    text = request.text
    try:
        answer = await store.analyse(len(text), validated, text, schema, store.limits, known)
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
