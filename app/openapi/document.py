"""The OpenAPI document: FastAPI's own, completed.

- The schemas of our problems replace those of FastAPI.
- Bodies that are only described (`Described`) become named schemas.
- FastAPI drops every null, also from examples, where a null has a meaning: the examples are
  restored.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from app.errors.problems import SHAPES
from app.openapi.responses import MODEL

MERGE_PATCH = "application/merge-patch+json"

_REFERENCE = "#/components/schemas/{model}"


def install(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Make `app` return the completed document."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        is_new = app.openapi_schema is None
        document = generate()
        if is_new:
            _complete(document, routers)
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(document: dict[str, Any], routers: Sequence[APIRouter]) -> None:
    schemas = document["components"]["schemas"]
    for shape in SHAPES:
        schema = shape.model_json_schema(ref_template=_REFERENCE)
        schemas.update(schema.pop("$defs"), **{shape.__name__: schema})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for route, operation in _operations(document, routers):
        # FastAPI adds it for every route with parameters, even if none can be wrong.
        if "HTTPValidationError" in str(operation["responses"].get("422")):
            del operation["responses"]["422"]
        _complete_body(route, operation, schemas)
        _restore_examples(route, operation)
        if "428" in operation["responses"]:
            _require_version(operation)


def _operations(
    document: dict[str, Any], routers: Sequence[APIRouter]
) -> Iterator[tuple[APIRoute, dict[str, Any]]]:
    for router in routers:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            for method in (route.methods or ()) if route.include_in_schema else ():
                yield route, document["paths"][route.path_format][method.lower()]


def _complete_body(route: APIRoute, operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    if route.body_field is None:
        return
    content = operation["requestBody"]["content"]
    examples = getattr(route.body_field.field_info, "openapi_examples", None)
    for media in content.values():
        media["examples"] = examples
        name = media["schema"].pop(MODEL, None)
        if name is not None:
            schemas[name] = media["schema"] | {"title": name}
            media["schema"] = {"$ref": _REFERENCE.format(model=name)}


def _restore_examples(route: APIRoute, operation: dict[str, Any]) -> None:
    for status, response in route.responses.items():
        for media_type, media in response.get("content", {}).items():
            shown = operation["responses"][str(status)]["content"][media_type]
            shown.update({name: media[name] for name in ("example", "examples") if name in media})


def _require_version(operation: dict[str, Any]) -> None:
    """FastAPI would answer 422 without a required header; this service answers 428."""
    for parameter in operation["parameters"]:
        if parameter["name"] == "If-Match":
            parameter["required"] = True
