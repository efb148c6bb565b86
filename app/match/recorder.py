"""What the hot path tells of itself: numbers for Prometheus, rows for the impression log.

Everything here is a few additions; what takes longer is done when the numbers are asked for, or in
the thread of the log.
"""

from collections.abc import Callable
from random import Random
from secrets import token_hex

from app.observability.impressions.log import ImpressionLog
from app.observability.impressions.row import Impression
from app.observability.impressions.sampling import Sampler
from app.observability.metrics.numbers import Counter, Histogram
from app.observability.metrics.registry import Registry
from campaigns.feed.view import Place

ROUTES = ("match", "match_batch", "openrtb")


class Watching:
    """Told of each request, from the event loop only."""

    def __init__(
        self,
        registry: Registry,
        log: ImpressionLog | None = None,
        sample_rate: float = 1.0,
        random: Callable[[], float] | None = None,
    ) -> None:
        self.registry = registry
        self.log = log
        self.logs = log is not None
        self._sampler = Sampler(sample_rate if log else 0.0, random or Random().random)
        self._durations = {
            r: registry.histogram("copse_request_duration_seconds", r) for r in ROUTES
        }
        self._answers: dict[tuple[str, int], Counter] = {}
        self._match: Histogram = registry.histogram("copse_match_duration_seconds")
        self._matches: Histogram = registry.histogram("copse_matches_per_request")

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered, so long after it came."""
        counter = self._answers.get((route, status))
        if counter is None:
            counter = self.registry.counter("copse_requests_total", route, str(int(status)))
            self._answers[route, status] = counter
        counter.value += 1
        self._durations[route].observe(seconds)

    def matched(self, seconds: float, total: int) -> None:
        """A question was put to the index."""
        self._match.observe(seconds)
        self._matches.observe(total)
        if not total:
            self.no_match("targeting")

    def no_match(self, reason: str) -> None:
        """A question had no answer."""
        self.registry.counter("copse_no_match_total", reason).value += 1

    def shed(self, reason: str) -> None:
        """A request was refused to keep others in time."""
        self.registry.counter("copse_shed_total", reason).value += 1

    def impression(
        self,
        route: str,
        attributes: dict[str, object],
        builtins: dict[str, object],
        answer: bytes,
        place: Place,
        now: float,
        size: int,
    ) -> None:
        """A question that may be logged, with the answer that it was given."""
        if self.log is None or not self._sampler.takes():
            return
        rate = self._sampler.rate
        id = token_hex(8)
        row = Impression(
            now, route, id, attributes, builtins, answer, place.epoch, place.rev, rate, size
        )
        self.log.add(row)
