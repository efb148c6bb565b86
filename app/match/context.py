"""What a match request carries with it: its arrival time, the settings, and what answers it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.match.names import CampaignNames
from app.match.recorder import Recorder
from app.openrtb.mapping import TABLE, Table
from app.operators.runtime import Operators
from campaigns.feed.follower import Follower
from campaigns.feed.view import View


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """The settings of the match routes."""

    longest_wait: float = 0.25
    """A request that has waited for more seconds is refused."""

    strict: bool | None = None
    """Whether unknown attributes are refused (True) or reported (False), unless a request says
    so itself."""

    openrtb_limit: int = 10
    openrtb_rates: tuple[tuple[str, float], ...] = ()
    openrtb_purposes: frozenset[int] = frozenset({1, 2, 3, 4})
    openrtb_table: Table = TABLE

    @property
    def rates(self) -> dict[str, float]:
        """US dollars for one unit of a currency."""
        return dict(self.openrtb_rates)


@dataclass(slots=True)
class RequestContext:
    """A request whose key has been checked.

    Only a batch changes it: it sets `request_count`. The class is not frozen because that would
    cost 0.6 µs a request.
    """

    arrived_at: float
    """`perf_counter`."""

    view: View
    follower: Follower
    recorder: Recorder
    settings: MatchSettings
    names: CampaignNames | None = None
    """Only on the normal path."""

    operators: Operators | None = None
    """Only on the normal path."""

    request_count: int = 1
    request_id: str = ""
    """The client's own, or empty."""

    accept: bytes = b""
    openrtb_version: bytes = b""

    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """More headers of the response, which the handler adds."""

    @property
    def sent_ids(self) -> dict[str, object]:
        """For the impression log."""
        return {"client_request_id": self.request_id} if self.request_id else {}


Handler = Callable[[RequestContext, bytes], Awaitable[bytes | None]]
"""From the body of a request to the body of a response, or None (204). It raises `HttpError`."""
