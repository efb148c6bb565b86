"""Headers for browsers: CORS is off by default, and every answer has its security headers."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.main import create_service
from app.settings import Settings, SettingsError
from tests.app.conftest import bearer

THEIRS = "https://tool.example"
MATCH: dict[str, dict[str, str]] = {"attributes": {}}


@pytest.fixture
def service(url: str) -> Iterator[TestClient]:
    with TestClient(create_service(Settings(database_url=url))) as client:
        yield client


@pytest.fixture
def shared(url: str) -> Iterator[TestClient]:
    settings = Settings(database_url=url, cors_origins=f"{THEIRS},http://localhost:3000")
    with TestClient(create_service(settings)) as client:
        yield client


def preflight(client: TestClient, path: str, origin: str) -> dict[str, str]:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    return dict(client.options(path, headers=headers).headers)


@pytest.mark.parametrize("path", ["/v1/match", "/v1/campaigns", "/docs"])
def test_no_other_origin_is_let_in_by_default(
    service: TestClient, tokens: dict[str, str], path: str
) -> None:
    asked = preflight(service, path, THEIRS)
    headers = bearer(tokens["all"]) | {"Origin": THEIRS}
    answered = dict(service.post(path, json=MATCH, headers=headers).headers)
    assert not [name for name in asked | answered if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/v1/match", "/v1/campaigns"])
def test_origins_that_are_named_are_let_in_and_no_others(
    shared: TestClient, tokens: dict[str, str], path: str
) -> None:
    asked = preflight(shared, path, THEIRS)
    assert asked["access-control-allow-origin"] == THEIRS
    assert "authorization" in asked["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in asked
    headers = bearer(tokens["all"]) | {"Origin": THEIRS}
    answer = shared.post(path, json=MATCH, headers=headers)
    assert answer.headers["access-control-allow-origin"] == THEIRS
    for other in ("https://tool.example.evil.example", "http://tool.example", "null"):
        assert "access-control-allow-origin" not in preflight(shared, path, other)


@pytest.mark.parametrize(
    "wrong", ["tool.example", "https://a.example/path", "https://*.example", "*,https://a.example"]
)
def test_an_origin_that_is_none_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(SettingsError, match="COPSE_CORS_ORIGINS"):
        Settings.from_environment({"COPSE_CORS_ORIGINS": wrong})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/docs", 200),
        ("GET", "/", 200),
        ("GET", "/docs/assets/swagger-ui.css", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/healthz/ready", 200),
        ("GET", "/v1/campaigns", 200),
        ("GET", "/v1/nothing", 404),
        ("PUT", "/v1/campaigns", 405),
        ("POST", "/v1/campaigns", 422),
    ],
)
def test_every_answer_says_what_it_is(
    service: TestClient, tokens: dict[str, str], method: str, path: str, status: int
) -> None:
    answer = service.request(
        method, path, headers=bearer(tokens["all"]), json={} if method == "POST" else None
    )
    assert answer.status_code == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'unsafe-inline'" not in policy
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_a_refused_match_is_not_to_be_guessed_at(
    service: TestClient, tokens: dict[str, str]
) -> None:
    for headers, status in (({}, 401), (bearer(tokens["match"]), 422)):
        answer = service.post("/v1/match", json={}, headers=headers)
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
