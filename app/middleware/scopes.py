"""The scope that each route needs: checked here, and shown on the OpenAPI page."""

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.params import Security as SecurityParameter
from fastapi.security import HTTPBearer, SecurityScopes

from app.errors.http_errors import NotAllowed
from app.middleware.authentication import Caller

SCHEME = "api_key"

# It only describes: `Authentication` has checked the key before the routing.
_bearer = HTTPBearer(
    scheme_name=SCHEME,
    bearerFormat="copse_<prefix>_<secret>",
    description="An API key; `copse key create` makes one.",
    auto_error=False,
)


async def _check(
    request: Request, needed: SecurityScopes, _: Annotated[object, Depends(_bearer)]
) -> Caller:
    caller: Caller = request.scope["caller"]
    for scope in needed.scopes:
        if scope not in caller.scopes:
            raise NotAllowed(scope)
    return caller


def needs(*scopes: str) -> SecurityParameter:
    """A dependency: the caller, if it has these scopes; without scopes any key is enough."""
    parameter: SecurityParameter = Security(_check, scopes=scopes)
    return parameter


AnyCaller = Annotated[Caller, needs()]
Reader = Annotated[Caller, needs("campaigns:read")]
Writer = Annotated[Caller, needs("campaigns:write")]
StatisticsWriter = Annotated[Caller, needs("stats:write")]
Auditor = Annotated[Caller, needs("audit:read")]
KeyWriter = Annotated[Caller, needs("keys:write")]
