"""Responses that are written without uvicorn: the answer of the fast path, and a cheap refusal."""

from app.errors.http_errors import RETRY
from app.errors.problems import MEDIA_TYPE
from app.match.compression import GZIP, VARY
from app.middleware.request_id import HEADER, make
from app.middleware.security_headers import NO_SNIFFING

Fields = list[tuple[bytes, bytes]]

CLOSE = (b"connection", b"close")
_NO_BID = b"x-copse-no-bid: overload\r\n"

_ANSWER_FIELDS = [(b"content-type", b"application/json")]
_REFUSAL_FIELDS = [
    (b"content-type", MEDIA_TYPE.encode()),
    NO_SNIFFING,
    *((name.lower().encode(), value.encode()) for name, value in RETRY.items()),
]


def answer(
    default_headers: Fields, request_id: bytes, body: bytes, close: bool, gzip: bool = False
) -> bytes:
    """A 200 response with a JSON body, which may be compressed."""
    start = _last[1][0] if _last[0] is default_headers else _starts(default_headers)[0]
    more = _more(default_headers, request_id, close) if close or request_id else b""
    if gzip:
        more += _lines([GZIP, VARY])
    return b"%b%d\r\n%b\r\n%b" % (start, len(body), more, body)


def refusal(default_headers: Fields, request_id: bytes, body: bytes, close: bool) -> bytes:
    """A 503 response with a problem, which has a request id; without a body, a 204 response."""
    if not body:
        more = _more(default_headers, request_id, close) + _NO_BID
        return b"HTTP/1.1 204 No Content\r\n%b%b\r\n" % (_lines(default_headers), more)
    more = _more(default_headers, request_id or make().encode(), close)
    return b"%b%d\r\n%b\r\n%b" % (_starts(default_headers)[1], len(body), more, body)


def _more(default_headers: Fields, request_id: bytes, close: bool) -> bytes:
    fields = [(HEADER, request_id)] if request_id else []
    if close and CLOSE not in default_headers:
        fields.append(CLOSE)
    return _lines(fields)


_last: tuple[Fields, tuple[bytes, bytes]] = ([], (b"", b""))


def _starts(default_headers: Fields) -> tuple[bytes, bytes]:
    """An answer and a refusal up to their lengths; the server makes a new list of default headers
    each second."""
    global _last
    if _last[0] is not default_headers:
        answered = _lines([*default_headers, *_ANSWER_FIELDS])
        refused = _lines([*default_headers, *_REFUSAL_FIELDS])
        starts = (
            b"HTTP/1.1 200 OK\r\n%bcontent-length: " % answered,
            b"HTTP/1.1 503 Service Unavailable\r\n%bcontent-length: " % refused,
        )
        _last = default_headers, starts
    return _last[1]


def _lines(fields: Fields) -> bytes:
    return b"".join(b"%b: %b\r\n" % field for field in fields)
