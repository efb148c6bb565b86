"""The commands of the images work here, without a container engine."""

import json
import os
import re
import socket
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.app.answers import eventually
from tests.spark.conftest import FAST_START

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
MANIFESTS = [
    yaml.safe_load(path.read_text()) for path in sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
]

SERVE, MIGRATE, CONSOLE = ("copse", "serve"), ("copse", "migrate"), ("copse", "console")
LIVE = ("python", "-m", "app.commands.health_check", "live")
LOCUST = (
    *("locust", "-f", "loadtest/locustfile.py"),
    *("--host", "http://copse:8080", "MatchUser", "ChurnUser"),
)
NIGHTLY = (
    *("python", "-m", "spark", "selectivity"),
    *("--impressions", "/var/lib/copse/impressions"),
)
OURS = {SERVE, MIGRATE, CONSOLE, LIVE, LOCUST, NIGHTLY}


def in_the_dockerfile() -> set[tuple[str, ...]]:
    return {tuple(json.loads(found)) for found in re.findall(r"CMD (\[.*\])$", DOCKERFILE, re.M)}


def in_compose() -> set[tuple[str, ...]]:
    ours = (each for each in COMPOSE["services"].values() if each["image"].startswith("copse"))
    return {tuple(each["command"]) for each in ours}


def in_kubernetes() -> set[tuple[str, ...]]:
    return {tuple(each["command"]) for each in containers()}


def containers() -> Iterator[dict[str, Any]]:
    """The containers of all manifests."""
    for manifest in MANIFESTS:
        spec = manifest.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        yield from spec.get("template", {}).get("spec", {}).get("containers", [])


def test_there_is_no_command_that_is_not_tried_here() -> None:
    assert in_the_dockerfile() == {SERVE, LIVE, LOCUST, NIGHTLY}
    assert in_compose() == {SERVE, MIGRATE, CONSOLE, LOCUST, NIGHTLY}
    assert in_kubernetes() == {SERVE, MIGRATE, CONSOLE, NIGHTLY}


def test_the_image_is_built_by_the_commands_of_ci() -> None:
    ci, makefile = (ROOT / ".ci/run").read_text(), (ROOT / "Makefile").read_text()
    built = re.findall(r"^RUN ((?:make|\.venv)\b[^&\n]*?) *(?:&&.*)?$", DOCKERFILE, re.M)
    assert built == ["make setup", ".venv/bin/python -c 'import index._native'", "make .venv/.dev"]
    assert "\nmake setup\n" in ci
    assert built[1] in ci
    for target in ("test", "lint"):  # what CI makes needs .venv/.dev
        assert re.search(rf"^{target}: \$\(VENV\)/\.dev", makefile, re.M)
        assert re.search(rf"make\b.*\b{target}\b", ci)


def test_every_package_is_in_the_build_context() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    allowed = set(re.findall(r"^!(\w+)$", (ROOT / ".dockerignore").read_text(), re.M))
    assert set(project["tool"]["importlinter"]["root_packages"]) <= allowed


def test_migrate_serve_and_the_health_check_work(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COPSE_DATABASE_URL": f"sqlite:///{tmp_path / 'copse.sqlite3'}",
        "COPSE_HOST": "0.0.0.0",
        "COPSE_PORT": str(port),
        "COPSE_WORKERS": "2",
        "COPSE_IMPRESSIONS_DIR": str(tmp_path / "impressions"),
        "COPSE_INDEX_DIRECTORY": str(tmp_path / "index"),
    }

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=60,
            check=False,
        )

    away = run(*LIVE)
    assert away.returncode == 1
    assert f"no answer from 127.0.0.1:{port}" in away.stderr
    assert run(*MIGRATE).returncode == 0
    with subprocess.Popen(SERVE, env=environment, stdout=subprocess.PIPE) as serving:
        assert serving.stdout is not None
        try:
            assert serving.stdout.readline()  # it has started
            assert run(*LIVE).returncode == 0
            eventually(lambda: run(*LIVE[:-1], "ready").returncode == 0)
            serving.terminate()
            assert serving.wait(30) == 0
        finally:
            serving.kill()


def test_the_console_of_the_image_answers_its_probe(tmp_path: Path) -> None:
    (container,) = (each for each in containers() if tuple(each["command"]) == CONSOLE)
    environment = {
        **os.environ,
        **{each["name"]: each["value"] for each in container["env"]},
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "COPSE_CONSOLE_PORT": "0",
    }
    with subprocess.Popen(
        CONSOLE, env=environment, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as serving:
        assert serving.stdout is not None
        try:
            found = re.search(r"http://0\.0\.0\.0:(\d+)/", serving.stdout.readline())
            assert found
            probe = container["livenessProbe"]["httpGet"]["path"]
            url = f"http://127.0.0.1:{found[1]}{probe}"
            assert urllib.request.urlopen(url, timeout=30).status == 200
        finally:
            serving.kill()


def test_locust_knows_the_users_of_its_command() -> None:
    environment = os.environ | {"LOADTEST_TOKEN": "none"}
    done = subprocess.run(
        [BIN / LOCUST[0], *LOCUST[1:3], "--list"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=120,
        check=True,
    )
    assert {"MatchUser", "ChurnUser", "OpenrtbUser"} <= set(done.stdout.split())


@pytest.mark.parametrize(
    "container", list(containers()), ids=lambda container: str(container["name"])
)
def test_no_container_writes_to_its_root_or_has_rights(container: dict[str, Any]) -> None:
    context = container["securityContext"]
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
    assert any(mount["mountPath"] == "/tmp" for mount in container["volumeMounts"])


def test_the_probes_are_the_routes_of_health() -> None:
    (service,) = (each for each in containers() if tuple(each["command"]) == SERVE)
    paths = {name: service[f"{name}Probe"]["httpGet"]["path"] for name in ("liveness", "readiness")}
    assert paths == {"liveness": "/healthz/live", "readiness": "/healthz/ready"}


def test_no_file_holds_a_password() -> None:
    named = re.compile(r"(?i)(?:password|token)\w*: *[\"']?(?!false)[^\s\"'#]|//\w+:[^@\s]+@")
    for path in [ROOT / "docker-compose.yml", *(ROOT / "deploy").rglob("*.y*ml")]:
        text = re.sub(r"\$\{[^}]*\}", "", path.read_text())  # those come from the environment
        assert named.findall(text) == [], path.name


def test_the_nightly_job_is_told_all_it_must_know(tmp_path: Path) -> None:
    """Up to the log that is not there: every argument is understood, and Spark does start."""
    job = [str(BIN / NIGHTLY[0]), *NIGHTLY[1:-1], str(tmp_path / "impressions")]
    environment = {
        **os.environ,
        "COPSE_DATABASE_URL": f"sqlite:///{tmp_path / 'a.sqlite3'}",
        "JDK_JAVA_OPTIONS": FAST_START,
    }
    subprocess.run([str(BIN / MIGRATE[0]), *MIGRATE[1:]], env=environment, check=True)
    done = subprocess.run(job, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert str(tmp_path / "impressions") in done.stderr
