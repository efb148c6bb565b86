"""gzip on the match routes: of bodies, bounded; of answers, if the client accepts it."""

import zlib

from app.errors.http_errors import Encoded, HttpError, TooLarge

GZIP = (b"content-encoding", b"gzip")
VARY = (b"vary", b"accept-encoding")

SMALLEST = 1024
"""Shorter answers are sent as they are: compressing would cost more than it saves."""

_GZIP_FORMAT = 31
_FAST = 1


class BadGzip(HttpError):
    """The body says that it is gzip, and is not."""

    def __init__(self) -> None:
        super().__init__("The body is not valid gzip, or is not complete.")


def inflated(body: bytes, encoding: bytes, most: int) -> bytes:
    """The body without its encoding: gzip, or none. At most `most` bytes are made of it."""
    name = encoding.strip().lower()
    if name in (b"", b"identity"):
        return body
    if name not in (b"gzip", b"x-gzip"):
        raise Encoded(encoding.decode("latin-1"), "gzip")
    unpacker = zlib.decompressobj(_GZIP_FORMAT)
    try:
        found = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise BadGzip from None
    if len(found) > most:
        raise TooLarge(most)
    if not unpacker.eof or unpacker.unused_data:
        raise BadGzip
    return found


def deflated(body: bytes) -> bytes:
    """The body as gzip."""
    packer = zlib.compressobj(_FAST, zlib.DEFLATED, _GZIP_FORMAT)
    return packer.compress(body) + packer.flush()


def accepts_gzip(accept_encoding: bytes) -> bool:
    """Whether an `Accept-Encoding` header allows gzip."""
    for each in accept_encoding.lower().split(b","):
        name, _, parameter = each.strip().partition(b";")
        if name.strip() in (b"gzip", b"x-gzip"):
            return parameter.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
