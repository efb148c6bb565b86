"""The application: `create_service` is what uvicorn serves, `create_app` its FastAPI part."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from app.api import (
    advertisers,
    attributes,
    audit,
    campaigns,
    delivery,
    explain,
    expressions,
    forecast,
    health,
    index,
    keys,
    metrics,
    operators,
    statistics,
)
from app.api.imports import router as imports
from app.errors import handlers
from app.lifespan import running
from app.match import openapi as matching
from app.match.router import MatchRouter
from app.middleware.access_log import AccessLog
from app.middleware.authentication import Authentication
from app.middleware.body_limit import BodyLimit
from app.middleware.cors import Cors
from app.middleware.rate_limit import RateLimiter
from app.middleware.request_counts import RequestCounts
from app.middleware.request_id import RequestIds
from app.middleware.security_headers import SecurityHeaders
from app.middleware.turns import AdminTurns
from app.observability.tracing import load_tracing
from app.openapi import document, pages
from app.settings import Settings
from app.state import State
from campaigns.feed.follower import Around

if TYPE_CHECKING:
    from app.observability.tracing.spans import Tracing

DESCRIPTION = """\
The decisioning service of an ad exchange: it finds the campaigns that match a request, best first.

Every route but `/healthz/*` and these pages needs an API key: `Authorization: Bearer copse_…`. Each
route names the scope that the key must have; where it names none, any key is enough.

Errors are problem details (RFC 9457) with `errors: [{pointer, code, detail}]`. Every write returns
its `rev`, the position of the change in the log that every index follows. The `ETag` of an object
is its version.
"""

ROUTERS = (
    matching.router,
    explain.router,
    campaigns.router,
    imports.router,
    delivery.router,
    advertisers.router,
    expressions.router,
    attributes.router,
    operators.router,
    statistics.router,
    forecast.router,
    index.router,
    audit.router,
    keys.router,
    metrics.router,
    health.router,
)


def create_service(settings: Settings, worker: int = 0) -> ASGIApp:
    """What uvicorn serves: the match routes, and behind them the application.

    Pages of other origins can call it only if the settings name their origins (CORS).
    """
    tracing: Tracing | None = load_tracing().to_collector(worker) if settings.traces else None
    rate_limiter = settings.rate_limiter()
    app = create_app(settings, worker, rate_limiter, tracing.applying if tracing else None)
    counted = RequestCounts(app)
    access_log = AccessLog(counted) if settings.access_log else None
    inner = RequestIds(access_log or counted)
    router = MatchRouter(AdminTurns(inner), settings.match_settings, rate_limiter, access_log)
    origins = settings.cors_origins
    service = Cors(router, origins.split(",")) if origins else router
    return tracing.around(service) if tracing else service


def create_app(
    settings: Settings,
    worker: int = 0,
    rate_limiter: RateLimiter | None = None,
    around: Around | None = None,
) -> FastAPI:
    """A new application. Two applications share only a rate limiter that both were given. `around`
    wraps the application of changes from the feed."""

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
        redirect_slashes=False,  # a redirect would contain whatever host the client names
        generate_unique_id_function=_operation_id,
    )
    # A request meets the one that was added last first.
    app.add_middleware(BodyLimit, unlimited={imports.PATH})
    app.add_middleware(Authentication, rate_limiter=rate_limiter or settings.rate_limiter())
    app.add_middleware(SecurityHeaders)
    handlers.install(app, ROUTERS)
    for router in ROUTERS:
        app.include_router(router)
    document.install(app, ROUTERS)
    pages.install(app)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
