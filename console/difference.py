"""The difference between two texts, word by word, and between two states of an object."""

import difflib
import re
from collections.abc import Mapping
from typing import Any

from console.campaign_form import LABELS
from console.formats import money, when

_WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|[\w.]+|\s+|.")
_HIDDEN = {"version", "rev", "updated_at", "created_at", "id"}


def words(before: str, after: str) -> list[tuple[str, str]]:
    """Pieces of text, each `same`, `gone` or `new`."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    pieces: list[tuple[str, str]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(old[a:b])))
            continue
        pieces += [("gone", "".join(old[a:b]))] if b > a else []
        pieces += [("new", "".join(new[c:d]))] if d > c else []
    return pieces


def pieces(name: str, before: str, after: str) -> list[tuple[str, str]]:
    """The difference of a field: of a targeting by words, of anything else as a whole."""
    if name == "targeting" or before == after:
        return words(before, after)
    return [("gone", before), ("same", " → "), ("new", after)]


def fields(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[Any]:
    """`(label, pieces)` for each field that differs."""
    old, new = before or {}, after or {}
    return [
        (
            LABELS.get(name, name.replace("_", " ").capitalize()),
            pieces(name, _text(name, a), _text(name, b)),
        )
        for name in dict.fromkeys([*old, *new])
        if name not in _HIDDEN and (a := old.get(name)) != (b := new.get(name))
    ]


def _text(name: str, value: Any) -> str:
    """A value of the API as the page shows it elsewhere."""
    if value is None:
        return ""
    if name == "bid_micros":
        return money(value)
    if name in ("starts_at", "ends_at"):
        return when(value)
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
