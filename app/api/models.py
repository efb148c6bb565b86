"""The models of the OpenAPI document, made from the records' own fields (`campaigns/record.py`).

    Campaign ──▶ NewCampaign          the body of a POST: every field that a client writes
             ──▶ CampaignChanges      the body of a PATCH: the same, all optional
             ──▶ Campaign             an answer: every field that a client sees
             ──▶ CampaignPage         a page of them

They only describe: the store checks what a client sends, by the same fields.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from app.api.fields import Moment, NextCursor
from campaigns import fields
from campaigns.operators.model import MAX_OPERATOR_NAME, OperatorName, Url
from campaigns.record import Field as Declaration
from campaigns.record import Record

_STRICT = ConfigDict(extra="forbid")
_LITERAL: Any = Literal


def new_model(record: type[Record], name: str, summary: str) -> type[BaseModel]:
    """The body of a POST."""
    described: dict[str, Any] = {}
    for each, declared in record.writable().items():
        default = {"default": declared.to_json(declared.default)} if declared.has_default else {}
        described[each] = _described(declared.field, declared.has_default, **default)
    return create_model(name, __doc__=summary, __config__=_STRICT, **described)


def changes_model(record: type[Record], name: str) -> type[BaseModel]:
    """The body of a PATCH."""
    described: dict[str, Any] = {
        each: _described(declared.field, declared.has_default, default=None)
        for each, declared in record.writable().items()
        if not declared.field.fixed
    }
    return create_model(
        name,
        __doc__="A merge patch (RFC 7396): a field that is left out stays, null resets a field.",
        __config__=ConfigDict(extra="forbid", json_schema_extra=_without_defaults),
        **described,
    )


def record_model(
    record: type[Record], name: str, summary: str, unsaved: tuple[str, ...] = ()
) -> type[BaseModel]:
    """An answer; the `unsaved` fields can be null."""
    described: dict[str, Any] = {
        each: _described(declared.field, declared.nullable or each in unsaved)
        for each, declared in record.fields().items()
    }
    return create_model(name, __doc__=summary, **described)


def page_model(item: type[BaseModel], name: str, summary: str) -> type[BaseModel]:
    """A page of a list."""
    items: Any = list[item]  # type: ignore[valid-type]
    return create_model(name, __doc__=summary, items=(items, ...), next_cursor=(NextCursor, ...))


def new_example(record: type[Record]) -> dict[str, Any]:
    """The example of every field that a client writes."""
    return {name: each.field.example for name, each in record.writable().items()}


def _described(field: Declaration, nullable: bool, **default: Any) -> tuple[Any, Any]:
    """A field as `create_model` takes it."""
    value_type, limits = _type_of(field.kind)
    info = Field(description=field.description or None, **limits, **default)
    return value_type | None if nullable else value_type, info


def _type_of(kind: fields.Kind) -> tuple[Any, dict[str, Any]]:
    """The type of a field in JSON, and its limits."""
    match kind:
        case fields.Text(longest, blank):
            shortest = {} if blank else {"min_length": 1, "pattern": r"\S"}
            return str, shortest | ({} if longest is None else {"max_length": longest})
        case fields.Integer(lowest, highest):
            return int, {"ge": lowest, "le": highest}
        case fields.Texts(most, longest):
            item = Annotated[str, Field(min_length=1, max_length=longest, pattern=r"\S")]
            return list[item], {"max_length": most}
        case fields.OneOf(words) | fields.AttributeType(words):
            return _LITERAL[words], {}
        case fields.Types(most, words):
            return list[_LITERAL[words]], {"min_length": 1, "max_length": most}
        case Url():
            return str, {"max_length": 1000}
        case OperatorName():
            return str, {"min_length": 1, "max_length": MAX_OPERATOR_NAME}
        case fields.Domain():
            return str, {"max_length": fields.MAX_DOMAIN}
        case fields.Moment():
            return Moment, {}
        case fields.AttributeName():
            return str, {"min_length": 1}
        case fields.Flag():
            return bool, {}
    raise TypeError(f"no model for a field of kind {kind}")


def _without_defaults(schema: dict[str, Any]) -> None:
    """In a patch, a field that is left out does not get its default."""
    for described in schema["properties"].values():
        described.pop("default", None)
