"""Sessions, forged requests, headers and paths of the console, without a browser."""

import re
import shutil
import time
from collections.abc import Iterator

import httpx2
import pytest
from starlette.testclient import TestClient

from console.application import create_console
from console.security import MOST_BYTES
from console.sessions import COOKIE, LONGEST_SECONDS, Sessions
from console.settings import ConsoleSettings
from tests.app.conftest import Template
from tests.app.serving import Served, serving
from tests.console.conftest import console

SCRIPT = {"accept": "application/json"}
KEY = {"name": "Ada", "scopes": ["campaigns:read"]}


@pytest.fixture(scope="module")
def served(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    copied = shutil.copy(template.path, tmp_path_factory.mktemp("security"))
    with serving(COPSE_DATABASE_URL=f"sqlite:///{copied}") as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    app = create_console(ConsoleSettings(served.url))
    with TestClient(app, follow_redirects=False) as client:
        yield client


def sign_in(client: TestClient, token: str, **headers: str) -> httpx2.Response:
    return client.post("/sign-in", data={"key": token}, headers=headers)


def csrf_of(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/advertisers").text)
    assert found
    return found[1]


def test_every_page_but_the_sign_in_needs_a_session(client: TestClient) -> None:
    app = client.app
    for path in ("/", "/campaigns", "/campaigns/1", "/why", "/operations", "/transfer"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"][:8]) == (303, "/sign-in")
    assert client.post("/operations/keys", data={}).status_code == 303
    assert client.get("/editor/words", headers={"accept": "application/json"}).status_code == 401
    assert client.get("/sign-in").status_code == 200
    assert app is client.app


def test_the_headers_forbid_frames_inline_scripts_and_other_sites(
    client: TestClient, tokens: dict[str, str]
) -> None:
    sign_in(client, tokens["all"])
    for path in ("/sign-in", "/campaigns", "/campaigns/new", "/operations", "/none", "/static/x"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
    page = client.get("/campaigns/new").text
    assert not re.search(r"<script>|<style|style=| on\w+=", page)


def test_the_cookie_is_for_this_console_alone_and_the_key_is_in_no_page(
    client: TestClient, tokens: dict[str, str]
) -> None:
    cookie = sign_in(client, tokens["all"]).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    secret = tokens["all"].split("_", 2)[2]
    assert secret not in cookie
    for path in ("/campaigns", "/operations", "/campaigns/new"):
        assert secret not in client.get(path).text
    client.cookies.clear()
    assert (
        "Secure"
        in sign_in(client, tokens["all"], **{"x-forwarded-proto": "https"}).headers["set-cookie"]
    )


def test_a_form_without_the_token_of_its_session_is_refused(
    client: TestClient, tokens: dict[str, str]
) -> None:
    sign_in(client, tokens["all"])
    fields = {"name": "Forged"}
    for csrf in ({}, {"csrf": ""}, {"csrf": "x" * 43}):
        assert client.post("/advertisers", data=fields | csrf).status_code == 403
    good = fields | {"csrf": csrf_of(client)}
    for origin in ("http://evil.example", "null"):
        answer = client.post("/advertisers", data=good, headers={"origin": origin})
        assert answer.status_code == 403
    answer = client.post("/advertisers", data=good, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    plain = {"content-type": "text/plain"}
    assert client.post("/advertisers", content=b"name=x", headers=plain).status_code == 403
    for path in ("/editor/check", "/editor/preview", "/transfer/import"):
        assert client.post(path, json={"text": "true"}).status_code == 403
    assert "Forged" not in client.get("/advertisers").text
    ours = {"origin": "http://testserver"}
    assert client.post("/advertisers", data=good, headers=ours).status_code == 303
    assert "Forged" in client.get("/advertisers").text


def test_sign_in_leads_to_no_other_site(client: TestClient, tokens: dict[str, str]) -> None:
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "x"):
        fields = {"key": tokens["all"], "next": target}
        client.cookies.clear()
        assert client.post("/sign-in", data=fields).headers["location"] == "/campaigns"
    client.cookies.clear()
    fields = {"key": tokens["all"], "next": "/why"}
    assert client.post("/sign-in", data=fields).headers["location"] == "/why"


def test_signing_out_ends_the_session_for_good(client: TestClient, tokens: dict[str, str]) -> None:
    sign_in(client, tokens["all"])
    old = client.cookies[COOKIE]
    csrf = csrf_of(client)
    assert client.post("/sign-out", data={}).status_code == 403
    assert client.post("/sign-out", data={"csrf": csrf}).status_code == 303
    client.cookies.set(COOKIE, old)
    assert client.get("/campaigns").headers["location"].startswith("/sign-in?ended=1")


def test_sessions_expire_by_idleness_and_by_age() -> None:
    now = [0.0]
    sessions = Sessions(minutes=10, now=lambda: now[0])
    id, session = sessions.begin("copse_x_y", KEY)
    assert "copse_x_y" not in repr(session)
    now[0] = 599
    assert sessions.find(id) is session
    now[0] = 599 + 601
    assert sessions.find(id) is None
    assert sessions.find(None) is None
    id, session = sessions.begin("copse_x_y", KEY)
    began = now[0]
    while now[0] < began + LONGEST_SECONDS - 300:
        now[0] += 300
        assert sessions.find(id) is session
    now[0] += 300
    assert sessions.find(id) is None


def test_a_revoked_key_ends_the_session(
    served: Served, client: TestClient, tokens: dict[str, str]
) -> None:
    headers = {"Authorization": f"Bearer {tokens['all']}"}
    with httpx2.Client(base_url=served.url, headers=headers) as api:
        fields = {"name": "short", "scopes": ["campaigns:read"]}
        made = api.post("/v1/keys", json=fields).json()
        end = time.monotonic() + 10
        while sign_in(client, made["token"]).status_code != 303:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert client.get("/campaigns").status_code == 200
        api.post(f"/v1/keys/{made['id']}/revoke")
        while client.get("/campaigns").status_code == 200:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert client.get("/campaigns").headers["location"] == "/sign-in?ended=1&next=/campaigns"


def test_below_a_path_behind_a_proxy_every_link_has_it(
    served: Served, tokens: dict[str, str]
) -> None:
    with console(served.url, "--root-path", "/copse/console") as url:
        top = url.removesuffix("/copse/console")
        # A proxy passes on what comes below the path.
        with httpx2.Client(base_url=top, headers={"x-forwarded-host": "ads.example"}) as client:
            origin = {"origin": "https://ads.example"}
            answer = client.post("/sign-in", data={"key": tokens["all"]}, headers=origin)
            assert answer.headers["location"] == "/copse/console/campaigns"
            assert "Path=/copse/console" in answer.headers["set-cookie"]
            cookie = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
            page = client.get("/campaigns/new", headers=cookie).text
        links = re.findall(r'(?:href|src|action)="([^"#?][^"]*)"', page)
        assert len(links) > 10
        assert all(link.startswith("/copse/console/") for link in links)


def test_a_body_of_any_length_is_bounded(client: TestClient, tokens: dict[str, str]) -> None:
    sign_in(client, tokens["all"])
    headers = {"x-csrf-token": csrf_of(client), "content-type": "text/csv", **SCRIPT}
    large = (b"x" * 1024 for _ in range(MOST_BYTES // 1024 + 1))  # without a Content-Length
    assert client.post("/transfer/import", content=large, headers=headers).status_code == 413


def test_an_api_that_does_not_answer_is_told() -> None:
    app = create_console(ConsoleSettings("http://127.0.0.1:9"))
    told = "Copse does not answer at http://127.0.0.1:9"
    with TestClient(app) as client:
        answer = sign_in(client, "copse_a_b")
        assert (answer.status_code, told in answer.text) == (502, True)
        assert client.get("/session", headers=SCRIPT).status_code == 401
        client.cookies.set(COOKIE, app.state.console.sessions.begin("copse_a_b", KEY)[0])
        answer = client.get("/campaigns?text=x")
        assert (answer.status_code, told in answer.text) == (502, True)
        assert 'href="?text=x"' in answer.text
        answer = client.get("/session", headers=SCRIPT)
        assert (answer.status_code, told in answer.json()["detail"]) == (502, True)
