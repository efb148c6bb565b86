"""Campaigns that somebody thinks of: JSON lines with a targeting and what to call it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from index import ExpressionError, Limits, Schema, parse
from index.language.json_form import to_json
from spark.errors import JobError


@dataclass(frozen=True, slots=True)
class Expression:
    """What is forecast: an id, what it is called, and the JSON of its tree."""

    id: int
    name: str
    tree: bytes


def proposed(path: Path, schema: Schema) -> list[Expression]:
    """Those of a file; a `JobError` names the first line that is wrong."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise JobError(f"{path}: {error.strerror}") from None
    return [_read(place, line, path, schema) for place, line in enumerate(lines) if line.strip()]


def _read(place: int, line: bytes, path: Path, schema: Schema) -> Expression:
    try:
        sent: Any = orjson.loads(line)
        tree = parse(sent["targeting"], schema, Limits())
        name = sent.get("external_id") or sent.get("name") or f"line {place + 1}"
    except (ValueError, KeyError, TypeError, AttributeError, ExpressionError) as error:
        raise JobError(f"{path}, line {place + 1}: {error}") from None
    return Expression(place, str(name), to_json(tree).encode())
