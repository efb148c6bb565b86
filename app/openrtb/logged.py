"""What a log may hold of a bid request: what it was matched on, coarser, and no trace of who.

Ids are not in a `BidRequest` at all, and the address in it is cut short already. What was withheld
from matching is not in the events. Of what was matched on, coordinates are rounded to about a
kilometre.
"""

from typing import Any

from app.openrtb.request import BidRequest

_COARSE = ("geo.lat", "geo.lon")
_DECIMALS = 2


def log_context(request: BidRequest) -> dict[str, Any]:
    """What is logged once for a request: its id with the exchange, its network, its privacy."""
    device = request.document.get("device")
    device = device if isinstance(device, dict) else {}
    return {
        "request_id": request.id,
        "network": device.get("ip") or device.get("ipv6"),
        "withheld": sorted(request.privacy.withheld),
        "withheld_by": list(request.privacy.reasons),
    }


def log_attributes(event: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an imp's event as they are logged."""
    coarse = {name: round(event[name], _DECIMALS) for name in _COARSE if name in event}
    return {**event, **coarse} if coarse else event
