"""Spans for OpenTelemetry.

    POST /v1/match         one for each request, below the caller's span (W3C `traceparent`)
    feed.apply             one for each group of changes that the index applies

With traces on, every match takes the normal path through the server, since each has a span.
OpenTelemetry's own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, …) say where
spans go. A span has the method, the route, the status and the id of the request, and no other data
of the request or its sender.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.middleware.request_id import HEADER

_TRACE_HEADERS = (b"traceparent", b"tracestate")
_CALLER = TraceContextTextMapPropagator()


class Tracing:
    """The spans of one worker; `close()` sends the remaining ones."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("copse", version("copse"))

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application with a span around each request."""

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                await self._request(app, scope, receive, send)
                return
            await app(scope, receive, send)
            self.close()  # the lifespan has ended

        return traced

    @contextmanager
    def applying(self, lane: str, changes: int, rev: int) -> Iterator[None]:
        """A span around the application of changes up to `rev`."""
        with self._tracer.start_as_current_span("feed.apply") as span:
            span.set_attributes(
                {"copse.lane": lane, "copse.changes": changes, "copse.rev": rev},
            )
            yield

    def close(self) -> None:
        """Send the spans that have not been sent."""
        self._provider.shutdown()

    async def _request(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        sent = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in _TRACE_HEADERS
        }
        method = scope["method"]
        with self._tracer.start_as_current_span(
            method, context=_CALLER.extract(sent), kind=SpanKind.SERVER
        ) as span:
            span.set_attribute("http.request.method", method)

            async def send_and_describe(message: Message) -> None:
                if message["type"] == "http.response.start":
                    _describe(span, scope, message)
                await send(message)

            await app(scope, receive, send_and_describe)


def _describe(span: Span, scope: Scope, message: Message) -> None:
    """Add what is known when the response starts. A path that is not a route is left out: it could
    contain anything."""
    status = message["status"]
    span.set_attribute("http.response.status_code", status)
    route = getattr(scope.get("route"), "path", None) or scope.get("match_route")
    if route:
        span.set_attribute("http.route", route)
        span.update_name(f"{scope['method']} {route}")
    for name, value in message.get("headers", ()):
        if name == HEADER:
            span.set_attribute("copse.request_id", value.decode("latin-1"))
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))


def to_collector(worker: int) -> Tracing:
    """Spans that are exported as OpenTelemetry's variables say."""
    resource = Resource.create(
        {"service.name": "copse", "service.version": version("copse"), "copse.worker": worker}
    )
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)
