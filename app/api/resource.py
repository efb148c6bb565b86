"""The routes that campaigns, advertisers and attributes have in common, as the OpenAPI document
describes them: status, headers, an example of the answer and of each error.

    @router.patch("/{id:int}", summary="Change a campaign", **CAMPAIGNS.change(errors=…))
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.api.responses import REMOVED, Removed
from app.errors.http_errors import VersionRequired, WrongIfMatch
from app.openapi.responses import WRONG_ID, WRONG_LIMIT, answers
from campaigns.errors import (
    BadCursor,
    InFlight,
    KeyReused,
    NotFound,
    TransitionRefused,
    VersionConflict,
)

Errors = dict[str, Exception]
Route = dict[str, Any]
"""Arguments of a route's decorator."""

READ, WRITE = "campaigns:read", "campaigns:write"

LIST_ERRORS: Errors = {"wrong_cursor": BadCursor("abc"), "wrong_limit": WRONG_LIMIT}
_KEY_ERRORS: Errors = {
    "key_in_flight": InFlight("0d1c6f6e"),
    "key_reused": KeyReused("0d1c6f6e"),
}


@dataclass(frozen=True, slots=True)
class Resource:
    """A noun of the API: its model and an example. `read_scope` is None if any key may read."""

    kind: str
    model: type[BaseModel]
    example: dict[str, Any]
    read_scope: str | None = READ

    def create(self, example: dict[str, Any], errors: Errors) -> Route:
        """`POST /v1/things`."""
        headers = ("ETag", "Location", "Idempotent-Replayed")
        responses = answers(
            example, *headers, scope=WRITE, status=201, body=True, errors=_KEY_ERRORS | errors
        )
        return {"status_code": 201, "response_model": self.model, "responses": responses}

    def read(self) -> Route:
        """`GET /v1/things/{id}`."""
        return self._route(self.read_scope, self.missing)

    def change(self, errors: Errors) -> Route:
        """`PATCH /v1/things/{id}`."""
        return self._route(WRITE, errors | self.missing | self._version_errors, body=True)

    def move(
        self, status: str, refused: str, model: type[BaseModel] | None = None, **more: Any
    ) -> Route:
        """`POST /v1/things/{id}/pause`; a thing that is `refused` cannot be moved to `status`. The
        answer may have a model of its own, with `more` members."""
        error = TransitionRefused(self.kind, self._id, refused, status)
        errors = self.missing | self._stale | {"refused": error}
        route = self._route(WRITE, errors, example=self.example | {"status": status} | more)
        return route | {"response_model": model or self.model}

    def delete(self, errors: Errors) -> Route:
        """`DELETE /v1/things/{id}`."""
        errors = self.missing | self._version_errors | errors
        return {
            "response_model": Removed,
            "responses": answers(REMOVED, scope=WRITE, errors=errors),
        }

    @property
    def missing(self) -> Errors:
        """What a route with an id in its path can answer."""
        wrong_id: Errors = {"wrong_id": WRONG_ID} if isinstance(self._id, int) else {}
        return {"missing": NotFound(self.kind, self._id)} | wrong_id

    @property
    def _id(self) -> int | str:
        id: int | str = self.example.get("id", self.example["name"])
        return id

    @property
    def _stale(self) -> Errors:
        version = self.example["version"]
        conflict = VersionConflict(self.kind, self._id, version, version + 1)
        return {"stale": conflict, "wrong_if_match": WrongIfMatch(str(version))}

    @property
    def _version_errors(self) -> Errors:
        return self._stale | {"no_version": VersionRequired()}

    def _route(
        self,
        scope: str | None,
        errors: Errors,
        body: bool = False,
        example: dict[str, Any] | None = None,
    ) -> Route:
        shown = example or self.example
        responses = answers(shown, "ETag", scope=scope, body=body, errors=errors)
        return {"response_model": self.model, "responses": responses}
