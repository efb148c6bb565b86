"""The impression log after a run: the rows of its complete files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.faults.history import Impression

_BROKEN = Impression(-1, "", 0, [], 0, whole=False)


def read_impressions(directory: Path, events: list[dict[str, Any]]) -> Iterator[Impression]:
    """Every row of every host; one that cannot be read is not `whole`."""
    numbers = {_key(event): number for number, event in enumerate(events)}
    for path in sorted(directory.glob("*/dt=*/hour=*/part-*.jsonl")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                row = json.loads(line)
                event = numbers[_key(row["attributes"])]
                yield Impression(event, row["epoch"], row["rev"], row["matches"], row.get("total"))
            except (ValueError, LookupError, TypeError):
                yield _BROKEN


def _key(event: dict[str, Any]) -> str:
    return json.dumps(event, sort_keys=True)
