"""Rows to log, and what was logged of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from app.observability.impressions.row import Impression

NOON = 1_763_640_000.25  # 2025-11-20, 12:00 UTC
HOUR = "dt=2025-11-20/hour=12"


def row(number: int = 0, time: float = NOON, **changes: Any) -> Impression:
    plain = Impression(
        time=time,
        route="match",
        request_id=f"r{number}",
        attributes={"country": "US", "n": number},
        builtins={"now.hour": 12, "now.weekday": 4},
        answer=b'{"matches":[{"campaign_id":7},{"campaign_id":8}],"total":2}',
        epoch="e1",
        rev=42,
        sample_rate=0.5,
    )
    return plain._replace(**changes)


def logged(directory: Path) -> list[dict[str, Any]]:
    """Every row of the complete files."""
    return [
        orjson.loads(line)
        for path in sorted(directory.glob("dt=*/hour=*/part-*.jsonl"))
        for line in path.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n") or not line
    ]


def numbers(directory: Path) -> list[int]:
    return sorted(row["attributes"]["n"] for row in logged(directory))


def files(directory: Path) -> Iterator[str]:
    return (str(path.relative_to(directory)) for path in sorted(directory.rglob("*.jsonl")))
