"""What the impression log may contain of a bid request: the attributes of its events, made coarser.

A `BidRequest` has no ids, and only a part of the address. Fields that were withheld from matching
are not in the events. Coordinates are rounded to about a kilometre here.
"""

from typing import Any

_COARSE = ("geo.lat", "geo.lon")
_POINT = "geo.point"
_DECIMALS = 2


def log_attributes(event: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an imp's event as they are logged."""
    coarse: dict[str, Any] = {
        name: round(event[name], _DECIMALS) for name in _COARSE if name in event
    }
    if _POINT in event:
        coarse[_POINT] = [round(degrees, _DECIMALS) for degrees in event[_POINT]]
    return {**event, **coarse} if coarse else event
