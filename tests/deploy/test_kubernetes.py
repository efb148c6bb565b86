"""The manifests and the scrape configuration fit together, and the documented keys can be made."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.cli import main
from app.settings import Settings
from tests.app.conftest import client_of
from tests.deploy.test_commands import MANIFESTS, ROOT, SERVE, containers

OPERATIONS = (ROOT / "docs/operations.md").read_text()
KEYS = re.findall(r"kubectl exec deploy/copse -- copse (key create [^)\n]*)", OPERATIONS)


def named(kind: str) -> dict[str, Any]:
    """The manifests of a kind by name."""
    found = (each for each in MANIFESTS if each["kind"] == kind)
    return {each["metadata"]["name"]: each for each in found}


def pods() -> list[dict[str, Any]]:
    """The pods of all manifests."""
    specs = [each.get("spec", {}) for each in MANIFESTS]
    specs = [spec.get("jobTemplate", {}).get("spec", spec) for spec in specs]
    return [spec["template"]["spec"] for spec in specs if "template" in spec]


def volumes(pod: dict[str, Any]) -> dict[str, str]:
    """The claims of a pod, by the paths where they are mounted."""
    claims = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"]
        for volume in pod["volumes"]
        if "persistentVolumeClaim" in volume
    }
    mounts = pod["containers"][0]["volumeMounts"]
    return {each["mountPath"]: claims[each["name"]] for each in mounts if each["name"] in claims}


def test_the_service_writes_impressions_to_where_the_nightly_job_reads_them() -> None:
    claimed = [claims for pod in pods() if (claims := volumes(pod))]
    where = named("ConfigMap")["copse"]["data"]["COPSE_IMPRESSIONS_DIR"]
    assert claimed == [{where: "copse-impressions"}] * 2
    (claim,) = named("PersistentVolumeClaim").values()
    assert claim["metadata"]["name"] == "copse-impressions"
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]


def test_every_directory_of_the_service_can_be_written() -> None:
    (service,) = (each for each in containers() if tuple(each["command"]) == SERVE)
    mounted = {mount["mountPath"] for mount in service["volumeMounts"]}
    settings = named("ConfigMap")["copse"]["data"]
    assert {value for name, value in settings.items() if "_DIR" in name} <= mounted


def test_prometheus_finds_the_pods_by_the_name_of_a_service() -> None:
    config = yaml.safe_load((ROOT / "deploy/prometheus/kubernetes.yml").read_text())
    (scrape,) = config["scrape_configs"]
    (found,) = scrape["dns_sd_configs"]
    service = named("Service")[found["names"][0]]["spec"]
    assert service["clusterIP"] == "None"  # it resolves to the pods
    template = named("Deployment")["copse"]["spec"]["template"]
    assert service["selector"].items() <= template["metadata"]["labels"].items()
    (port,) = template["spec"]["containers"][0]["ports"]
    assert found["port"] == port["containerPort"]
    secret = Path(scrape["authorization"]["credentials_file"])
    assert f"secret generic {secret.parent.name} --from-literal={secret.name}=" in OPERATIONS


def test_the_documented_commands_make_keys_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'copse.sqlite3'}"
    monkeypatch.setenv("COPSE_DATABASE_URL", url)
    assert main(["migrate"]) == 0
    capsys.readouterr()
    routes = {"operator": "/v1/campaigns", "prometheus": "/metrics"}
    assert [shlex.split(command)[2] for command in KEYS] == list(routes)
    for command, route in zip(KEYS, routes.values(), strict=True):
        assert main(shlex.split(command)) == 0
        token = capsys.readouterr().out.strip()
        with client_of(Settings(database_url=url), token) as client:
            assert client.get(route).status_code == 200
            assert client.get(route, headers={"Authorization": ""}).status_code == 401
