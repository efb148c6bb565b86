"""`POST /v1/campaigns/import`: NDJSON or CSV in, a result for each line out, while it comes in."""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from time import perf_counter, time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.imports.csv_rows import CSV, Rows
from app.api.imports.ndjson import MAX_LINE_BYTES, MEDIA_TYPES, Lines
from app.api.imports.pipeline import Batch, batches_of, import_all, result_line
from app.api.imports.spool import Spool
from app.errors.http_errors import NotAuthenticated, WrongMediaType
from app.middleware.authentication import Caller, check_again
from app.middleware.scopes import Writer
from app.openapi.responses import answers, problem_from, wrong_parameter
from app.state import CurrentState, CurrentStore
from campaigns.campaign.imports import FAILED, LineResult, import_batch
from campaigns.errors import Contended, DatabaseUnavailable, FieldProblem
from campaigns.feed.service import WorkerFeed
from campaigns.log.service import read_head
from campaigns.store import Store

log = logging.getLogger(__name__)

PATH = "/v1/campaigns/import"
NDJSON = MEDIA_TYPES[0]

IDLE_SECONDS = 0.1
"""After this time without a byte, an incomplete batch is imported."""

KEY_CHECK_SECONDS = 0.25
"""How often the key is checked again while nothing arrives."""

DISCARD_SECONDS = 5.0
"""How long the rest of the body is read and dropped after an import was stopped: a client that is
still sending would lose the results if the connection were closed."""

router = APIRouter(tags=["campaigns"])


_LINES = (
    '{"external_id":"spring-24","advertiser_id":1,"name":"Spring","status":"active"}\n'
    '{"external_id":"summer-24","advertiser_id":1,"name":"Summer","priority":5}\n'
)
_RESULTS = (
    '{"line":1,"outcome":"created","external_id":"spring-24","id":2,"version":1,"rev":42,'
    '"changes":[],"warnings":[],"errors":[]}\n'
    '{"line":2,"outcome":"failed","external_id":"summer-24","id":null,"version":null,"rev":null,'
    '"changes":[],"warnings":[],"errors":[{"pointer":"/priority","code":"type.integer",'
    '"detail":"expected an integer, not a string"}]}\n'
)


@router.post(
    PATH,
    summary="Import campaigns",
    response_class=Response,
    responses=answers(
        _RESULTS,
        scope="campaigns:write",
        media_type=NDJSON,
        errors={
            "wrong_media_type": WrongMediaType("text/plain", NDJSON),
            "wrong_dry_run": wrong_parameter("dry_run", "bool_parsing", "true or false"),
        },
    ),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "One campaign per line or row: the fields of `NewCampaign`, and "
            f"optionally a `status`; at most {MAX_LINE_BYTES} bytes per line.",
            "content": {
                NDJSON: {
                    "schema": {"type": "string"},
                    "examples": {"two": {"summary": "Two campaigns", "value": _LINES}},
                },
            },
        }
    },
)
async def import_campaigns(
    request: Request,
    caller: Writer,
    store: CurrentStore,
    state: CurrentState,
    dry_run: Annotated[bool, Query(description="check every line, and write nothing")] = False,
) -> Response:
    """Creates or changes a campaign for each line, and returns a line of NDJSON for each, in order,
    while the rest is still being sent. A line has the fields of a campaign, and may have a
    `status`. A line with an `external_id` can be sent again: it then changes that campaign, or
    nothing. An invalid line fails alone. The number of lines is not limited.

    The `outcome` is `created`, `updated`, `unchanged` or `failed`; `changes` are the fields of an
    existing campaign that change; `warnings` are about a targeting that probably does not say what
    was meant. Blank lines count in `line`, but have no result.

    CSV (`text/csv`) has the names of the fields in its first row; `line` is the number of the row.
    An empty cell means null, except for `status`; categories are separated by spaces.

    With `dry_run` nothing is written: the results say what each line would do by itself.

    If the key is revoked or expires meanwhile, the import stops. The last result then has the code
    `key.unknown` or `key.expired` and the first line that was not imported.

    If the connection breaks, everything up to the last result is written, and perhaps a batch more:
    send the import again.
    """
    content_type = request.headers.get("content-type")
    sent = (content_type or "").partition(";")[0].strip().lower()
    if sent not in (*MEDIA_TYPES, CSV):
        raise WrongMediaType(content_type, NDJSON)
    await read_head(store)  # if the database is unavailable, answer 503 before the first line
    return _Import(store, caller, state["feed"], Rows() if sent == CSV else Lines(), dry_run)


class _GoneAway(Exception):
    """The client has disconnected. Batches in progress are finished; lines that are not in a batch
    yet are dropped."""


class _Import(Response):
    """Reads, imports and answers at the same time.

    Starlette's streaming response would not do: it detects a disconnect by reading the body that is
    to be imported.
    """

    media_type = NDJSON

    def __init__(
        self, store: Store, caller: Caller, feed: WorkerFeed, lines: Lines, dry_run: bool
    ) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._store = store
        self._caller = caller
        self._feed = feed
        self._lines = lines
        self._dry_run = dry_run
        self._next_line = 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        with Spool() as spool:
            sending = asyncio.create_task(_send_all(spool, send))
            try:
                try:
                    await self._import(scope, receive, spool)
                except NotAuthenticated as error:
                    spool.write(self._stopped(error))
                    await _discard(receive)
                spool.end()
                await sending
            except _GoneAway:
                log.info("the client of an import disconnected")
            finally:
                # After an error the answer ends abruptly, so that it does not look complete.
                sending.cancel()

    async def _import(self, scope: Scope, receive: Receive, spool: Spool) -> None:
        def deliver(batch: Batch, results: list[LineResult]) -> None:
            spool.write(b"".join(map(result_line, batch.numbers, results)))
            self._next_line = batch.numbers[-1] + 1

        async def import_or_fail(
            store: Store, actor: str, values: list[object]
        ) -> list[LineResult]:
            self._check_key()
            return await _import_or_fail(store, actor, values, self._dry_run)

        async with aclosing(_pieces(scope, receive, self._check_key)) as pieces:
            batches = batches_of(pieces, self._lines)
            await import_all(self._store, self._caller.actor, batches, import_or_fail, deliver)

    def _check_key(self) -> None:
        view = self._feed.current
        check_again(view.keys if view else {}, self._caller, time())

    def _stopped(self, error: NotAuthenticated) -> bytes:
        log.warning("an import was stopped before line %d: %s", self._next_line, error.reason)
        detail = f"{error.reason} The import stopped before this line."
        problem = FieldProblem("", error.code, detail)
        return result_line(self._next_line, LineResult(FAILED, problems=(problem,)))


async def _send_all(spool: Spool, send: Send) -> None:
    async for piece in spool.pieces():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _discard(receive: Receive) -> None:
    """Read the rest of the body, for a while."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while (await receive()).get("more_body", False):
                pass


async def _pieces(
    scope: Scope, receive: Receive, check_key: Callable[[], None]
) -> AsyncGenerator[bytes | None, None]:
    """The body as it arrives; None after `IDLE_SECONDS` without data. What `check_key` raises ends
    it, also while nothing arrives.

    `reading_since` is for the server, which disconnects slow clients: a client is not slow while we
    do not read.
    """
    more = True
    while more:
        scope["reading_since"] = perf_counter()
        receiving = asyncio.ensure_future(receive())
        try:
            done, _ = await asyncio.wait([receiving], timeout=IDLE_SECONDS)
            if not done:
                scope["reading_since"] = math.inf
                yield None
                scope["reading_since"] = perf_counter()
            while not done:
                check_key()
                done, _ = await asyncio.wait([receiving], timeout=KEY_CHECK_SECONDS)
            message = await receiving
        finally:
            receiving.cancel()
        scope["reading_since"] = math.inf
        if message["type"] == "http.disconnect":
            raise _GoneAway
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _import_or_fail(
    store: Store, actor: str, values: list[object], dry_run: bool
) -> list[LineResult]:
    """If the database becomes unavailable, the lines fail, and can be sent again."""
    try:
        return await import_batch(store, actor, values, dry_run)
    except (DatabaseUnavailable, Contended) as error:
        (item,) = problem_from(error)[0].errors
        problem = FieldProblem("", item.code, item.detail)
        return [LineResult(FAILED, _external_id(value), problems=(problem,)) for value in values]


def _external_id(value: object) -> str | None:
    name: Any = value.get("external_id") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None
