"""The OpenAPI page, which must work with no network around it."""

import re

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings


def test_the_root_leads_to_the_page(client: TestClient) -> None:
    response = client.get("/", follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (307, "/docs")


def test_the_page_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert re.findall(r"https?://[^\s'\"]*", page.text) == []
    sources = re.findall(r"(?:src|href)=\"([^\"]+)\"", page.text)
    assert len(sources) == 3
    for source in sources:
        assert client.get(source).status_code == 200, source


def test_the_document_is_written_once(url: str) -> None:
    """It is open to everyone, and takes long to write."""
    app = create_app(Settings(database_url=url))
    with TestClient(app) as client:
        first = client.get("/openapi.json")
        app.openapi = None  # type: ignore[method-assign, assignment]
        assert client.get("/openapi.json").content == first.content


@pytest.mark.parametrize(
    ("asset", "media_type", "begins"),
    [
        ("swagger-ui-bundle.js", "javascript", b""),
        ("swagger-ui.css", "text/css", b".swagger-ui"),
        ("favicon-32x32.png", "image/png", b"\x89PNG"),
    ],
)
def test_assets_are_served_as_what_they_are(
    client: TestClient, asset: str, media_type: str, begins: bytes
) -> None:
    response = client.get(f"/docs/assets/{asset}")
    assert response.status_code == 200
    assert media_type in response.headers["content-type"]
    assert response.content.startswith(begins)


def test_the_document_refers_only_to_schemas_that_it_has(client: TestClient) -> None:
    response = client.get("/openapi.json")
    references = set(re.findall(r"#/components/schemas/(\w+)", response.text))
    assert references <= set(response.json()["components"]["schemas"])
    assert "Problem" in references
    assert "HTTPValidationError" not in references
