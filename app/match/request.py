"""The body of a match, checked by hand: a pydantic model would cost more than the match itself.

    {"attributes": {…}, "limit": 10, "total": false, "min_rev": 41, "tmax_ms": 20, "log": true,
     "exclude": {"campaigns": [], "advertisers": []}, "strict": false, "fields": ["external_id"]}

Only `attributes` is required. The attributes themselves are checked by the index.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from app.errors.http_errors import Invalid, MalformedJson
from app.errors.problems import ProblemItem, item, pointer_to
from app.errors.store_errors import WRONG_REQUEST
from app.match.names import FIELDS
from campaigns.record import UNKNOWN_FIELD
from index import Exclude
from index.language.types import INT_MAX

DEFAULT_LIMIT = 10
MAX_LIMIT = 1000
MAX_EXCLUDED = 10_000
MAX_LIST = 10_000
MAX_DEPTH = 32
MAX_TMAX_MS = 60_000


@dataclass(slots=True)
class MatchRequest:
    """A checked request; `tmax_ms` is how long its sender waits, from its arrival; `strict` says
    what happens to unknown attributes, None what the setting says.

    Treat it as immutable: it is not frozen because that would cost 0.6 µs a request.
    """

    attributes: dict[str, object]
    limit: int = DEFAULT_LIMIT
    exclude: Exclude | None = None
    min_rev: int = 0
    tmax_ms: float | None = None
    log: bool = True
    strict: bool | None = None
    fields: tuple[str, ...] = ()
    total: bool = False


class InvalidRequest(Invalid):
    """Something is wrong with the request; its attributes, which may be wrong as well, are still
    to be checked."""

    def __init__(self, attributes: object, *errors: ProblemItem) -> None:
        super().__init__(WRONG_REQUEST, *errors)
        self.attributes: dict[str, object] = attributes if type(attributes) is dict else {}


def read_json(body: bytes) -> Any:
    """The JSON of a body, no deeper than `MAX_DEPTH`."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedJson(error.msg.partition(":")[0], error.pos) from None
    # Most bodies have fewer brackets than that.
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _deeper(value, MAX_DEPTH):
        raise invalid("", "json.depth", f"the JSON is nested more than {MAX_DEPTH} levels deep")
    return value


def read(body: bytes) -> MatchRequest:
    """The request of a body, or `MalformedJson` or `Invalid`."""
    # Each element of a list has at least two bytes, with its comma.
    return check(read_json(body), "", has_long_lists=len(body) > 2 * MAX_LIST)


def check(sent: object, pointer: str, has_long_lists: bool = True) -> MatchRequest:
    """A checked request; `pointer` is its position in the body. `has_long_lists` is false if the
    body is too short for a list above the limit."""
    if type(sent) is not dict:
        raise invalid(pointer, "type.object", "expected an object")
    attributes: Any = sent.get("attributes")
    wrong: list[ProblemItem] = []
    if type(attributes) is not dict:
        problem = "expected an object" if "attributes" in sent else "this field is required"
        wrong.append(item(f"{pointer}/attributes", "type.object", problem))
    elif has_long_lists:
        wrong += _long_lists(attributes, pointer)
    if len(sent) == 1 and not wrong:
        return MatchRequest(attributes)
    fields: dict[str, Any] = {}
    for name, value in sent.items():
        if name == "attributes":
            continue
        try:
            fields[name] = _FIELDS[name](value)
        except KeyError:
            known = ", ".join(("attributes", *_FIELDS))
            wrong.append(_item(pointer, name, UNKNOWN_FIELD, f"expected one of: {known}"))
        except _Wrong as error:
            wrong.append(_item(pointer, name, error.code, error.detail, error.below))
    if wrong:
        raise InvalidRequest(attributes, *wrong)
    return MatchRequest(attributes, **fields)


def _long_lists(attributes: dict[str, object], pointer: str) -> list[ProblemItem]:
    return [
        item(
            pointer + pointer_to(("attributes", name)),
            "list.length",
            f"expected at most {MAX_LIST} elements",
        )
        for name, value in attributes.items()
        if type(value) is list and len(value) > MAX_LIST
    ]


class _Wrong(Exception):
    def __init__(self, code: str, detail: str, below: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.below = below


def _integer(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise _Wrong("number.range", f"expected an integer from {least} to {most}")
        return value

    return read


def _milliseconds(value: object) -> float:
    if type(value) not in (int, float) or not 0 < value <= MAX_TMAX_MS:  # type: ignore[operator]
        raise _Wrong("number.range", f"expected milliseconds, above 0 and up to {MAX_TMAX_MS}")
    return float(value)  # type: ignore[arg-type]


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise _Wrong("type.bool", "expected true or false")
    return value


def _exclude(value: object) -> Exclude:
    if type(value) is not dict:
        raise _Wrong("type.object", "expected an object")
    lists: dict[str, list[int]] = {"campaigns": [], "advertisers": []}
    for name, ids in value.items():
        if name not in lists:
            raise _Wrong(UNKNOWN_FIELD, "expected campaigns or advertisers", f"/{name}")
        if type(ids) is not list or len(ids) > MAX_EXCLUDED:
            raise _Wrong("type.list", f"expected a list of up to {MAX_EXCLUDED} ids", f"/{name}")
        for place, id in enumerate(ids):
            if type(id) is not int or not 0 <= id <= INT_MAX:
                raise _Wrong(
                    "number.range",
                    "expected an id",
                    f"/{name}/{place}",
                )
        lists[name] = ids
    return Exclude(ids=lists["campaigns"], groups=lists["advertisers"])


def _more_fields(value: object) -> tuple[str, ...]:
    if type(value) is not list:
        raise _Wrong("type.list", f"expected a list of: {', '.join(FIELDS)}")
    for place, field in enumerate(value):
        if field not in FIELDS:
            raise _Wrong("value.unknown", f"must be one of {', '.join(FIELDS)}", f"/{place}")
    return tuple(value)


_FIELDS: Mapping[str, Callable[[object], object]] = {
    "limit": _integer(1, MAX_LIMIT),
    "total": _flag,
    "exclude": _exclude,
    "min_rev": _integer(0, INT_MAX),
    "tmax_ms": _milliseconds,
    "log": _flag,
    "strict": _flag,
    "fields": _more_fields,
}


def _item(pointer: str, name: str, code: str, detail: str, below: str = "") -> ProblemItem:
    return item(pointer + pointer_to((name,)) + below, code, detail)


def invalid(pointer: str, code: str, detail: str) -> Invalid:
    """A request with one error."""
    return Invalid(WRONG_REQUEST, item(pointer, code, detail))


def _deeper(value: object, levels: int) -> bool:
    """Whether a value is nested in more levels."""
    layer = [value]
    for _ in range(levels):
        below: list[object] = []
        for each in layer:
            if type(each) is dict:
                below.extend(each.values())
            elif type(each) is list:
                below.extend(each)
        if not below:
            return False
        layer = below
    return any(type(each) in (dict, list) for each in layer)
