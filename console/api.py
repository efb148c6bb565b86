"""The client of the HTTP API: a call with the key of a session, an answer or an `ApiError`.

ApiError
├── NotSignedIn     the key is not valid any more (401)
├── NotFound        there is no such thing (404)
└── Unreachable     the API does not answer
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2

SECONDS = 30.0
STALE = "version.stale"
"""The code of a write with an old version."""


class ApiError(Exception):
    """The API has refused: its problem (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or f"The API answered {status}."))
        self.status = status
        self.problem = problem
        self.errors: list[dict[str, Any]] = list(problem.get("errors") or [])

    @property
    def code(self) -> str:
        """The code of the first error."""
        return str(self.errors[0]["code"]) if self.errors else ""

    def by_field(self) -> dict[str, str]:
        """What is wrong with each field; an error of another place has the empty name."""
        found: dict[str, str] = {}
        for error in self.errors:
            name = str(error["pointer"]).strip("/").partition("/")[0]
            found.setdefault(name, str(error["detail"]))
        return found


class NotSignedIn(ApiError):
    """The key is not valid any more."""


class NotFound(ApiError):
    """There is no such thing."""


class Unreachable(ApiError):
    """The API does not answer."""

    def __init__(self, url: str) -> None:
        detail = f"Copse does not answer at {url}. Is the service running?"
        super().__init__(502, {"title": "Unreachable", "detail": detail})


class Api:
    """Calls with one key."""

    def __init__(self, client: httpx2.AsyncClient, token: str) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"}

    async def get(self, path: str, **parameters: Any) -> Any:
        """The JSON of a `GET`; parameters that are None or empty are left out."""
        sent = {name: value for name, value in parameters.items() if value not in (None, "")}
        return (await self.send("GET", path, params=sent)).json()

    async def text(self, path: str) -> str:
        """The text of a `GET`."""
        text: str = (await self.send("GET", path)).text
        return text

    async def post(self, path: str, body: object = None, version: int | None = None) -> Any:
        """The JSON of a `POST`."""
        if body is None:
            return (await self.send("POST", path, headers=_if_match(version))).json()
        return (await self.send("POST", path, json=body, headers=_if_match(version))).json()

    async def patch(self, path: str, body: object, version: int) -> Any:
        """The JSON of a merge patch."""
        headers = {**_if_match(version), "Content-Type": "application/merge-patch+json"}
        return (await self.send("PATCH", path, json=body, headers=headers)).json()

    async def delete(self, path: str, version: int) -> Any:
        """The JSON of a `DELETE`."""
        return (await self.send("DELETE", path, headers=_if_match(version))).json()

    async def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """A response without an error."""
        options["headers"] = {**self._headers, **options.get("headers", {})}
        try:
            response = await self._client.request(method, path, **options)
        except httpx2.TransportError:
            raise Unreachable(str(self._client.base_url)) from None
        _check(response)
        return response

    @asynccontextmanager
    async def stream(self, method: str, path: str, **options: Any) -> AsyncIterator[Any]:
        """A response whose body arrives while it is read."""
        options["headers"] = {**self._headers, **options.get("headers", {})}
        try:
            async with self._client.stream(method, path, **options) as response:
                if response.is_error:
                    await response.aread()
                _check(response)
                yield response
        except httpx2.TransportError:
            raise Unreachable(str(self._client.base_url)) from None


def client_of(url: str) -> httpx2.AsyncClient:
    """A client for all sessions; `async with` closes it."""
    return httpx2.AsyncClient(base_url=url, timeout=SECONDS)


def _if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _check(response: httpx2.Response) -> None:
    if not response.is_error:
        return
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    kind = {401: NotSignedIn, 404: NotFound}.get(response.status_code, ApiError)
    raise kind(response.status_code, problem if isinstance(problem, dict) else {})
