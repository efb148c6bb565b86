"""Reads proposed campaigns: JSON lines with a `targeting` and a name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from index import ExpressionError, Limits, Schema, parse
from index.language.json_form import to_json
from spark.errors import JobError


@dataclass(frozen=True, slots=True)
class CampaignTree:
    """A campaign to forecast: its id, its name, and the JSON of its targeting's tree."""

    id: int
    name: str
    tree: bytes


def read_proposed(path: Path, schema: Schema) -> list[CampaignTree]:
    """The campaigns of a file; a `JobError` names the first wrong line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise JobError(f"{path}: {error.strerror}") from None
    return [_read(place, line, path, schema) for place, line in enumerate(lines) if line.strip()]


def _read(place: int, line: bytes, path: Path, schema: Schema) -> CampaignTree:
    try:
        sent: Any = orjson.loads(line)
        tree = parse(sent["targeting"], schema, Limits())
        name = sent.get("external_id") or sent.get("name") or f"line {place + 1}"
    except (ValueError, KeyError, TypeError, AttributeError, ExpressionError) as error:
        raise JobError(f"{path}, line {place + 1}: {error}") from None
    return CampaignTree(place, str(name), to_json(tree).encode())
