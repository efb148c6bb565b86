"""The application: `create_app` puts the routes together, its lifespan makes what they share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from app import errors, expressions, health, pages
from app.body_limit import BodyLimit
from app.engine import current_engine
from app.settings import Settings
from app.state import State

DESCRIPTION = """\
The decisioning service of an ad exchange: which campaigns want this request, best first.

Errors are problem details (RFC 9457) with `errors: [{pointer, code, detail}]`.
"""


def create_app(settings: Settings) -> FastAPI:
    """A new application; two of them share nothing."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        yield State(engine=current_engine(), limits=settings.limits)

    app = FastAPI(
        title="Copse",
        version=version("copse"),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    app.add_middleware(BodyLimit)
    errors.install(app)
    app.include_router(health.router)
    app.include_router(expressions.router)
    pages.install(app)
    return app
