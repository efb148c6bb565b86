"""What the match routes record: numbers for Prometheus, rows for the impression log.

Each call is a few additions. What takes longer is done when Prometheus asks, or in the thread of
the impression log.
"""

from random import Random
from secrets import token_hex

from app.observability.delivery.sampler import DeliverySampler
from app.observability.impressions.log import ImpressionLog
from app.observability.impressions.row import NO_IDS, Impression, SentIds
from app.observability.impressions.sampling import Sampler
from app.observability.metrics.numbers import Counter, Histogram
from app.observability.metrics.registry import Registry
from campaigns.feed.view import Place

ROUTES = ("match", "match_batch", "openrtb")


class Recorder:
    """Records each request; only the event loop may call it."""

    def __init__(
        self,
        registry: Registry,
        log: ImpressionLog | None = None,
        sample_rate: float = 1.0,
    ) -> None:
        self.registry = registry
        self.delivery: DeliverySampler | None = None
        self.log = log
        self.logs = log is not None
        self._sampler = Sampler(sample_rate if log else 0.0, Random().random)
        self._durations = {
            r: registry.histogram("copse_request_duration_seconds", r) for r in ROUTES
        }
        self._answers: dict[tuple[str, int], Counter] = {}
        self._match: Histogram = registry.histogram("copse_match_duration_seconds")
        self._matches: Histogram = registry.histogram("copse_matches_per_request")

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered, `seconds` after it arrived."""
        counter = self._answers.get((route, status))
        if counter is None:
            counter = self.registry.counter("copse_requests_total", route, str(int(status)))
            self._answers[route, status] = counter
        counter.value += 1
        self._durations[route].observe(seconds)

    def matched(self, seconds: float, count: int) -> None:
        """The index was asked, and the answer has `count` matches."""
        self._match.observe(seconds)
        self._matches.observe(count)
        if not count:
            self.no_match("targeting")

    def no_match(self, reason: str) -> None:
        """A request, or an imp, had no match."""
        self.registry.counter("copse_no_match_total", reason).value += 1

    def shed(self, reason: str) -> None:
        """A request was refused, so that others are answered in time."""
        self.registry.counter("copse_shed_total", reason).value += 1

    def degraded(self, route: str) -> None:
        """An answer lacks results of operators."""
        self.registry.counter("copse_degraded_total", route).value += 1

    def ignored(self, counts: dict[str, int]) -> None:
        """Fields of a bid request were ignored, by path."""
        for path, count in counts.items():
            self.registry.counter("copse_openrtb_ignored_total", path).value += count

    def tolerated(self, counts: dict[str, int]) -> None:
        """Fields of a bid request were used that are not written as specified, by path."""
        for path, count in counts.items():
            self.registry.counter("copse_openrtb_tolerated_total", path).value += count

    def impression(
        self,
        route: str,
        attributes: dict[str, object],
        builtins: dict[str, object],
        answer: bytes,
        place: Place,
        now: float,
        size: int,
        sent_ids: SentIds = NO_IDS,
    ) -> None:
        """A request and its answer, which the sampler may choose to log."""
        if self.log is None or not self._sampler.takes():
            return
        rate = self._sampler.rate
        id = token_hex(8)
        row = Impression(
            now,
            route,
            id,
            attributes,
            builtins,
            answer,
            place.epoch,
            place.rev,
            rate,
            size,
            sent_ids,
        )
        self.log.add(row)
