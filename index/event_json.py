"""The JSON of an event's attributes, for the engines that are in Python.

The native core reads it by itself, in `event_json.rs`.
"""

import json
from typing import NoReturn

from index.event import EventError, EventProblem
from index.language.types import describe


def read_event(data: bytes) -> dict[str, object]:
    """The attributes as sent, not checked yet; `EventError` if they are no JSON object."""
    try:
        event = json.loads(data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as e:
        raise EventError([EventProblem("", "event.json", f"this is not JSON: {e}")]) from None
    if not isinstance(event, dict):
        message = f"an event is an object of attributes, not {describe(event)}"
        raise EventError([EventProblem("", "event.shape", message)])
    return event


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
