"""Real HTTP clients on every match route: each gets the answer that httpx gets.

Java's HttpClient and `curl --http2` offer to upgrade the connection with each request. Large bodies
come in more than one segment, and curl also waits for `100 Continue` before it sends one. Each
client is one process that sends all requests. Go is large and is used only where it is installed.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from testkit.debian import installed, which
from tests.app.conftest import bearer
from tests.app.serving import Served, serving

SMALL: dict[str, Any] = {
    "/v1/match": {"attributes": {"country": "US"}},
    "/v1/match/batch": {"requests": [{"attributes": {}}, {"attributes": {"country": "US"}}]},
    "/v1/openrtb": {"id": "1", "imp": [{"id": "1", "banner": {"w": 300, "h": 250}}]},
}
FAR = list(range(10_000_000, 10_008_000))
LARGE: dict[str, Any] = {
    "/v1/match": {"attributes": {}, "exclude": {"campaigns": FAR}},
    "/v1/match/batch": {"requests": [{"attributes": {}, "exclude": {"campaigns": FAR}}]},
    "/v1/openrtb": SMALL["/v1/openrtb"] | {"site": {"page": "https://a.example/" + "x" * 70_000}},
}

JAVA = """
import java.net.URI;
import java.net.http.*;

class Client {
    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i + 1 < arguments.length - 1; i += 2) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[i]))
                .header("Authorization", "Bearer " + arguments[arguments.length - 1])
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(arguments[i + 1])).build();
            System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
        }
    }
}
"""

GO = """
package main

import ("fmt"; "io"; "net/http"; "os"; "strings")

func main() {
    last := len(os.Args) - 1
    for i := 1; i+1 < last; i += 2 {
        request, _ := http.NewRequest("POST", os.Args[i], strings.NewReader(os.Args[i+1]))
        request.Header.Set("Authorization", "Bearer "+os.Args[last])
        request.Header.Set("Content-Type", "application/json")
        response, err := http.DefaultClient.Do(request)
        if err != nil { panic(err) }
        body, _ := io.ReadAll(response.Body)
        fmt.Println(string(body))
    }
}
"""

NODE = """
const [token, ...rest] = process.argv.slice(1).reverse();
const pairs = rest.reverse();
for (let i = 0; i + 1 < pairs.length; i += 2) {
    const headers = {authorization: `Bearer ${token}`, "content-type": "application/json"};
    const response = await fetch(pairs[i], {method: "POST", headers, body: pairs[i + 1]});
    console.log(await response.text());
}
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    folder = tmp_path_factory.mktemp("clients")
    url = f"sqlite:///{folder}/copse.sqlite3"
    with serving("--development", COPSE_DATABASE_URL=url) as found:
        token = (folder / "copse-development.key").read_text().strip()
        with httpx.Client(base_url=found.url, headers=bearer(token)) as client:
            owner = client.post("/v1/advertisers", json={"name": "Shop"}).json()["id"]
            body = {"advertiser_id": owner, "name": "Spring", "targeting": "country is null"}
            campaign = client.post("/v1/campaigns", json=body).json()["id"]
            rev = client.post(f"/v1/campaigns/{campaign}/activate").json()["rev"]
            sent = {"attributes": {}, "min_rev": rev}
            assert len(client.post("/v1/match", json=sent).json()["matches"]) == 1
        yield found, token


PACKAGES = {"curl": "curl", "java": "openjdk-17-jdk-headless", "node": "nodejs"}
PROGRAMS = {"java": "javac"}
"""What a client needs, where it is not its own name."""


def command(client: str, folder: Path, routes: list[tuple[str, str]], token: str) -> list[str]:
    """The command that sends the bodies and prints the answers, a line each."""
    flat = [each for pair in routes for each in pair]
    if client == "java":
        (folder / "Client.java").write_text(JAVA)
        subprocess.run(["javac", "-d", folder, folder / "Client.java"], check=True)
        return ["java", "-XX:TieredStopAtLevel=1", "-cp", str(folder), "Client", *flat, token]
    if client == "go":
        (folder / "main.go").write_text(GO)
        return ["go", "run", str(folder / "main.go"), *flat, token]
    if client == "node":
        return ["node", "--input-type=module", "-e", NODE, *flat, token]
    headers = ["-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json"]
    options = ["-s", "-w", "\n", *headers, *(["--http2"] if client == "curl --http2" else [])]
    words = ["curl"]
    for number, (url, body) in enumerate(routes):
        waiting = ["-H", "Expect: 100-continue"] if number % 2 else ["-H", "Expect:"]
        words += [*(["--next"] if number else []), *options, *waiting, "--data-binary", body, url]
    return words


@pytest.mark.parametrize("client", ["curl", "curl --http2", "java", "go", "node"])
def test_a_client_is_answered_on_every_match_route(
    client: str, served: tuple[Served, str], tmp_path: Path
) -> None:
    tool = client.partition(" ")[0]
    program = PROGRAMS.get(tool, tool)
    if tool in PACKAGES:
        installed(PACKAGES[tool], lambda: which(program))
    elif which(program) is None:
        pytest.skip(f"{tool} is not installed")
    service, token = served
    bodies = [*SMALL.items(), *LARGE.items()]
    routes = [(service.url + path, json.dumps(body)) for path, body in bodies] * 3
    with httpx.Client(headers=bearer(token) | {"content-type": "application/json"}) as expecting:
        expected = [expecting.post(url, content=body).json() for url, body in routes]
    sending = command(client, tmp_path, routes, token)
    done = subprocess.run(sending, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert found == expected
    assert all("matches" in str(answer) for answer in found)
