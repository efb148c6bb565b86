"""The OpenAPI page at `/docs`. The service has all its assets, so it works in a closed network.

Everyone may read the document, so it is encoded once: FastAPI would do that for each request, which
takes milliseconds.
"""

from functools import cache

import orjson
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from app.middleware.security_headers import CONTENT_SECURITY_POLICY, page_policy

DOCUMENT = "/openapi.json"
DOCS = "/docs"
ASSETS = "/docs/assets"

_START = "SwaggerUIBundle({"
_NDJSON_AS_IT_IS = """
    plugins: [() => ({ afterLoad(system) {
        const sample = system.fn.getSampleSchema;
        system.fn.getSampleSchema = (schema, type, config, example) =>
            /ndjson/.test(type) && example ? example : sample(schema, type, config, example);
    } })],"""
"""Swagger UI would show a text of any type whose name contains `json` as one JSON string."""


def install(app: FastAPI) -> None:
    """Serve the page and its assets; the root redirects to it."""

    @app.get("/", include_in_schema=False)
    async def root() -> RedirectResponse:
        return RedirectResponse(DOCS)

    @cache
    def document() -> bytes:
        return orjson.dumps(app.openapi())

    @app.get(DOCUMENT, include_in_schema=False)
    async def openapi() -> Response:
        return Response(document(), media_type="application/json")

    page = get_swagger_ui_html(
        openapi_url=DOCUMENT,
        title=app.title,
        swagger_js_url=f"{ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{ASSETS}/favicon-32x32.png",
        swagger_ui_parameters={
            "tryItOutEnabled": True,
            "persistAuthorization": True,  # the key survives a reload, in the browser's storage
            "validatorUrl": None,
        },
    )
    html = bytes(page.body).decode().replace(_START, _START + _NDJSON_AS_IT_IS, 1)
    policy = {CONTENT_SECURITY_POLICY: page_policy(html)}

    @app.get(DOCS, include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(html, headers=policy)

    app.mount(ASSETS, StaticFiles(packages=[("fastapi_swagger", "resources")]))
