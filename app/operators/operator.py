"""One operator in a worker: its cache, its circuit breaker, what it costs and how often it passes.

Calls of one request go together: one POST for a service, one thread for a Python function. Python
functions of a worker take turns in a few threads of their own, so that a slow one delays no other
work of the service; one that does not return in time keeps its thread until it does.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from time import monotonic, perf_counter
from typing import Any

import orjson

from app.observability.metrics.registry import Registry
from app.operators.breaker import Breaker
from app.operators.http_client import BadAnswer, HttpClient
from campaigns.operators.model import HTTP, OperatorRecord
from index.costly.formula import CallKey
from index.costly.settlement import MISSING
from index.event import Value
from index.language import Predicate, Type
from index.language.types import BadValue, Scalar, check_scalar, plain

GROUP = "copse.operators"
"""The group of entry points."""

LEARNING = 0.05
"""The weight of one observation in the running means."""

MOST_RATES = 1000
BATCH = 256
"""The most calls in one request to a service."""

Failure = str
"""Why a call has no result: timeout, error, answer, open, host, entry_point."""


class Calling:
    """An operator that can be called."""

    def __init__(
        self,
        record: OperatorRecord,
        registry: Registry,
        threads: ThreadPoolExecutor,
        hosts: frozenset[str],
    ) -> None:
        self.record = record
        self.cost = record.cost_us / 1e6
        """Seconds of a call, a running mean that starts with the prior."""
        self._registry = registry
        self._threads = threads
        self._result = Type(record.result)
        self._cache: OrderedDict[tuple[Value, ...], tuple[float, Scalar]] = OrderedDict()
        self._rates: dict[tuple[str, object], float] = {}
        self._breaker = Breaker()
        self._client: HttpClient | None = None
        self._function: Callable[..., object] | None = None
        self._unusable: Failure = ""
        if record.type == HTTP:
            client = HttpClient(record.url or "")
            self._unusable = "" if client.is_at(hosts) else "host"
            self._client = client
        else:
            self._function = _function(record.entry_point or "")
            self._unusable = "" if self._function is not None else "entry_point"

    def known(self, values: tuple[Value, ...]) -> object:
        """The result in the cache, or `MISSING`."""
        found = self._cache.get(values)
        if found is None:
            return MISSING
        expires, result = found
        if monotonic() >= expires:
            del self._cache[values]
            return MISSING
        self._cache.move_to_end(values)
        self._count("copse_operator_cache_hits_total", 1)
        return result

    def rate(self, predicate: Predicate) -> float:
        """How often a predicate on the result is true, as far as is known."""
        return self._rates.get((predicate.op.word, predicate.operand), 0.5)

    def observe(self, predicate: Predicate, result: Scalar) -> None:
        """Learn from a result."""
        key = (predicate.op.word, predicate.operand)
        if key in self._rates or len(self._rates) < MOST_RATES:
            was = self._rates.get(key, 0.5)
            is_true = float(predicate.op.holds(result, predicate.operand))
            self._rates[key] = was + LEARNING * (is_true - was)

    async def call(
        self, calls: Sequence[CallKey], seconds: float
    ) -> tuple[dict[CallKey, Scalar | None], Failure]:
        """The results of calls, None for each that failed, and why; within the seconds."""
        nothing: dict[CallKey, Scalar | None] = dict.fromkeys(calls)
        if self._unusable or not self._breaker.allows():
            failure = self._unusable or "open"
            self._count("copse_operator_failures_total", len(calls), failure)
            return nothing, failure
        started = perf_counter()
        try:
            async with asyncio.timeout(min(seconds, self.record.timeout_ms / 1000)):
                raw = await self._make([[_sent(each) for each in key.values] for key in calls])
            results = {key: self._checked(each) for key, each in zip(calls, raw, strict=True)}
        except TimeoutError:
            failure = "timeout"
        except (BadAnswer, ValueError) as error:
            failure = "answer" if isinstance(error, BadAnswer | orjson.JSONDecodeError) else "error"
        except Exception:  # a python operator may raise anything
            failure = "error"
        else:
            failure = ""
        elapsed = perf_counter() - started
        self._count("copse_operator_calls_total", len(calls))
        self._registry.histogram("copse_operator_duration_seconds", self.record.name).observe(
            elapsed
        )
        self.cost += LEARNING * (elapsed / len(calls) - self.cost)
        if failure:
            # Too little time left for a request says nothing about the service.
            if failure != "timeout" or seconds >= self.record.timeout_ms / 1000:
                self._breaker.failed()
            self._count("copse_operator_failures_total", len(calls), failure)
            return nothing, failure
        self._breaker.succeeded()
        failed = sum(result is None for result in results.values())
        if failed:
            self._count("copse_operator_failures_total", failed, "answer")
        self._remember(results)
        return {**nothing, **results}, "answer" if failed else ""

    def skipped(self, calls: int) -> None:
        """Count calls that were not made for want of time."""
        self._count("copse_operator_skipped_total", calls)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    async def _make(self, arguments: list[list[Any]]) -> list[Any]:
        if self._client is not None:
            results: list[Any] = []
            for first in range(0, len(arguments), BATCH):
                some = arguments[first : first + BATCH]
                answer = orjson.loads(await self._client.post(orjson.dumps({"calls": some})))
                found = answer.get("results") if isinstance(answer, dict) else None
                if not isinstance(found, list) or len(found) != len(some):
                    raise BadAnswer("expected a result for each call")
                results += found
            return results
        assert self._function is not None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _all, self._function, arguments)

    def _checked(self, result: object) -> Scalar | None:
        """A result of the declared type; None for null, and for any other."""
        if result is None:
            return None
        try:
            return check_scalar(result, self._result)
        except BadValue:
            return None

    def _remember(self, results: dict[CallKey, Scalar | None]) -> None:
        if not self.record.cache_seconds:
            return
        expires = monotonic() + self.record.cache_seconds
        for key, result in results.items():
            if result is not None:
                self._cache[key.values] = (expires, result)
        while len(self._cache) > self.record.cache_entries:
            self._cache.popitem(last=False)

    def _count(self, metric: str, count: int, *labels: str) -> None:
        self._registry.counter(metric, self.record.name, *labels).value += count


def _sent(value: Value) -> Any:
    """An argument as JSON; a list in order."""
    if isinstance(value, frozenset):
        return sorted(value)
    return plain(value)


def _all(function: Callable[..., object], arguments: list[list[Any]]) -> list[object]:
    return [function(*each) for each in arguments]


def _function(name: str) -> Callable[..., object] | None:
    for found in entry_points(group=GROUP, name=name):
        loaded: Callable[..., object] = found.load()
        return loaded
    return None
