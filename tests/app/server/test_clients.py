"""Real HTTP clients on every match route: each gets the answer that httpx gets.

A client whose tool is not installed is skipped. Java's HttpClient and `curl --http2` offer to
upgrade the connection with each request.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.app.conftest import bearer
from tests.app.serving import Served, serving

BODIES = {
    "/v1/match": b'{"attributes": {"country": "US"}}',
    "/v1/match/batch": b'{"requests": [{"attributes": {}}, {"attributes": {"country": "US"}}]}',
    "/v1/openrtb": b'{"id": "1", "imp": [{"id": "1", "banner": {"w": 300, "h": 250}}]}',
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


def commands(
    client: str, folder: Path, routes: list[tuple[str, str]], token: str
) -> list[list[str]]:
    """The commands that send the bodies and print the answers, a line each."""
    flat = [each for pair in routes for each in pair]
    if client == "java":
        (folder / "Client.java").write_text(JAVA)
        return [["java", str(folder / "Client.java"), *flat, token]]
    if client == "go":
        (folder / "main.go").write_text(GO)
        return [["go", "run", str(folder / "main.go"), *flat, token]]
    if client == "node":
        return [["node", "--input-type=module", "-e", NODE, *flat, token]]
    headers = ["-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json"]
    options = ["-s", "-w", "\n", *headers, *(["--http2"] if client == "curl --http2" else [])]
    return [["curl", *options, "--data-binary", body, url] for url, body in routes]


@pytest.mark.parametrize("client", ["curl", "curl --http2", "java", "go", "node"])
def test_a_client_is_answered_on_every_match_route(
    client: str, served: tuple[Served, str], tmp_path: Path
) -> None:
    tool = client.partition(" ")[0]
    if shutil.which(tool) is None or (tool == "java" and shutil.which("javac") is None):
        pytest.skip(f"{tool} is not installed")
    service, token = served
    routes = [(service.url + path, body.decode()) for path, body in BODIES.items()] * 3
    with httpx.Client(headers=bearer(token) | {"content-type": "application/json"}) as expecting:
        expected = [expecting.post(url, content=body).json() for url, body in routes]
    printed = [
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=180).stdout
        for command in commands(client, tmp_path, routes, token)
    ]
    assert [json.loads(line) for line in "".join(printed).split("\n") if line] == expected
