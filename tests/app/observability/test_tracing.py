"""Traces, into memory."""

import sys
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from app.main import create_app, create_service
from app.match.router import MatchRouter
from app.middleware.request_id import RequestIds
from app.observability.tracing import TracingUnavailable, load_tracing
from app.observability.tracing.spans import Tracing
from app.settings import Settings
from tests.app.answers import eventually, ok, problem
from tests.app.conftest import POLL_SECONDS, bearer

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def client(
    url: str, tokens: dict[str, str], exporter: InMemorySpanExporter
) -> Iterator[TestClient]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(provider)
    settings = Settings(database_url=url, feed_poll_seconds=POLL_SECONDS)
    app = create_app(settings, around=tracing.applying)
    service = tracing.around(MatchRouter(RequestIds(app), settings.match_settings))
    with TestClient(
        service, raise_server_exceptions=False, headers=bearer(tokens["all"])
    ) as client:
        yield client


def spans(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_a_match_is_a_span_below_its_callers(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "a-1"}
    sent = {"attributes": {"country": "US"}}
    ok(client.post("/v1/match", json=sent, headers=headers))
    [span] = spans(exporter, "POST /v1/match")
    assert span.kind is SpanKind.SERVER
    assert span.context is not None
    assert span.parent is not None
    assert format(span.context.trace_id, "032x") == TRACE
    assert format(span.parent.span_id, "016x") == PARENT
    assert attributes(span) == {
        "http.request.method": "POST",
        "http.route": "/v1/match",
        "http.response.status_code": 200,
        "copse.request_id": "a-1",
    }


def test_a_write_and_its_way_into_the_index_are_spans(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    created = ok(client.post("/v1/advertisers", json={"name": "Shop"}), 201)
    ok(client.post(f"/v1/advertisers/{created['id']}/pause"))
    [write] = spans(exporter, "POST /v1/advertisers")
    assert attributes(write)["http.response.status_code"] == 201
    assert spans(exporter, "POST /v1/advertisers/{id:int}/pause")
    assert write.parent is None

    def applied() -> list[object]:
        return [attributes(span).get("copse.rev") for span in spans(exporter, "feed.apply")]

    eventually(lambda: created["rev"] + 1 in applied())
    assert attributes(spans(exporter, "feed.apply")[0])["copse.lane"] == "log"


def test_what_a_client_sent_is_in_no_span(
    client: TestClient, exporter: InMemorySpanExporter
) -> None:
    problem(client.get("/v1/secret-canary?canary=1"), 404)
    problem(client.post("/v1/match", content=b"{canary"), 415)
    told = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert "404" in told
    assert "canary" not in told
    assert "copse_" not in told


def test_without_the_setting_nothing_is_traced(url: str) -> None:
    assert isinstance(create_service(Settings(database_url=url)), MatchRouter)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "app.observability.tracing.spans", None)
    with pytest.raises(TracingUnavailable, match=r"copse\[otel\]"):
        load_tracing()
