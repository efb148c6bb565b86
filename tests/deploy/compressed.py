"""The shipped configuration of Prometheus, for a test: time passes sixty times faster in it."""

import re
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
FACTOR = 60
SCRAPE_SECONDS = 1
_UNITS = {"s": 1, "m": 60, "h": 3600}


def rules() -> list[dict[str, Any]]:
    """The alerts as they ship."""
    read = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())
    found: list[dict[str, Any]] = read["groups"][0]["rules"]
    return found


def compressed_rules() -> list[dict[str, Any]]:
    """The alerts with ranges (`[5m]`) and waits (`for: 5m`) divided by the factor, and nothing
    else changed."""
    return [
        rule
        | {"expr": re.sub(r"(?<=\[)\w+(?=\])", lambda found: _compressed(found[0]), rule["expr"])}
        | ({"for": _compressed(rule["for"])} if "for" in rule else {})
        for rule in rules()
    ]


def write_config(directory: Path, targets: list[str], alertmanager: str) -> Path:
    """Write the shipped configuration with other targets and short intervals; its path."""
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    every = f"{SCRAPE_SECONDS}s"
    config["global"] = {
        "scrape_interval": every,
        "scrape_timeout": every,
        "evaluation_interval": "500ms",
    }
    config["alerting"]["alertmanagers"][0]["static_configs"] = [{"targets": [alertmanager]}]
    config["scrape_configs"][0]["static_configs"] = [{"targets": targets}]
    group = {"name": "copse", "rules": compressed_rules()}
    (directory / "alerts.yml").write_text(yaml.safe_dump({"groups": [group]}))
    path = directory / "prometheus.yml"
    path.write_text(yaml.safe_dump(config))
    return path


def _compressed(duration: str) -> str:
    return f"{int(duration[:-1]) * _UNITS[duration[-1]] * 1000 // FACTOR}ms"
