"""The application: `create_app` puts the routes together, its lifespan makes what they share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from app.api import (
    advertisers,
    attributes,
    audit,
    campaigns,
    explain,
    expressions,
    forecast,
    health,
    index,
    metrics,
    statistics,
)
from app.api.imports import router as imports
from app.errors import handlers
from app.lifespan import running
from app.match import openapi as matching
from app.match.router import FrontDoor
from app.middleware.authentication import Authentication
from app.middleware.body_limit import BodyLimit
from app.middleware.rate_limit import Throttle
from app.middleware.request_id import RequestIds
from app.middleware.security_headers import SecurityHeaders
from app.observability.traces import find_tracing
from app.openapi import document, pages
from app.settings import Settings
from app.state import State
from campaigns.feed.follower import Around

if TYPE_CHECKING:
    from app.observability.tracing import Tracing

DESCRIPTION = """\
The decisioning service of an ad exchange: which campaigns want this request, best first.

Everything but `/healthz/*` and these pages needs an API key: `Authorization: Bearer copse_…`. Each
route names the scope that the key must have; where it names none, any key will do.

Errors are problem details (RFC 9457) with `errors: [{pointer, code, detail}]`. Every write answers
its `rev`, the place of the change in the log that every index follows; the `ETag` is the version.
"""

CORS_METHODS = ("GET", "POST", "PATCH", "DELETE")
CORS_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Request-Id")
CORS_EXPOSED = ("ETag", "Location", "Retry-After", "X-Request-Id")

ROUTERS = (
    matching.router,
    explain.router,
    campaigns.router,
    imports.router,
    advertisers.router,
    expressions.router,
    attributes.router,
    statistics.router,
    forecast.router,
    index.router,
    audit.router,
    metrics.router,
    health.router,
)


def create_service(settings: Settings, worker: int = 0) -> ASGIApp:
    """What uvicorn serves: the match routes, and behind them the application.

    Pages of other origins reach neither, unless the settings name the origins.
    """
    tracing: Tracing | None = find_tracing().to_collector(worker) if settings.traces else None
    throttle = settings.throttle()
    app = create_app(settings, worker, throttle, tracing.applying if tracing else None)
    service: ASGIApp = FrontDoor(RequestIds(app), settings.hot_path, throttle)
    if settings.cors_origins:
        service = CORSMiddleware(
            service,
            allow_origins=settings.cors_origins.split(","),
            allow_methods=CORS_METHODS,
            allow_headers=CORS_HEADERS,
            expose_headers=CORS_EXPOSED,
        )
    return tracing.door(service) if tracing else service


def create_app(
    settings: Settings,
    worker: int = 0,
    throttle: Throttle | None = None,
    around: Around | None = None,
) -> FastAPI:
    """A new application; two of them share nothing but a throttle that both are given. `around`
    is put around changes of the feed."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with running(settings, worker, around) as state:
            yield state

    app = FastAPI(
        title="Copse",
        version=version("copse"),
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        generate_unique_id_function=_operation_id,
    )
    # The last one added is the first that a request meets.
    app.add_middleware(BodyLimit, unlimited={imports.PATH})
    app.add_middleware(Authentication, throttle=throttle or settings.throttle())
    app.add_middleware(SecurityHeaders)
    handlers.install(app, ROUTERS)
    for router in ROUTERS:
        app.include_router(router)
    document.install(app, ROUTERS)
    pages.install(app)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
