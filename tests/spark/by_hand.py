"""The figures of a log in plain Python, without any code of the job."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

Document = Mapping[str, Any]


def lines_of(root: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(root.glob("dt=*/hour=*/part-*.jsonl")):
        for text in path.read_bytes().splitlines():
            try:
                yield json.loads(text)
            except ValueError:
                continue


def rounded(share: Fraction) -> float:
    return float(f"{float(share):.6g}")


class ByHand:
    """The figures of the good rows."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.weights = [Fraction(1) / Fraction(str(row["sample_rate"])) for row in rows]
        self.whole = sum(self.weights, Fraction(0))
        self.there: dict[str, Fraction] = defaultdict(Fraction)
        self.empty: dict[str, Fraction] = defaultdict(Fraction)
        self.values: dict[str, dict[Any, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        by_rate: dict[Fraction, Counter[tuple[str, Any]]] = defaultdict(Counter)
        there: dict[Fraction, Counter[str]] = defaultdict(Counter)
        empty: dict[Fraction, Counter[str]] = defaultdict(Counter)
        for row, weight in zip(rows, self.weights, strict=True):
            some, names = by_rate[weight], there[weight]
            for name, value in row["attributes"].items():
                names[name] += 1
                if isinstance(value, list):
                    if not value:
                        empty[weight][name] += 1
                    for element in set(value):
                        some[name, element] += 1
                else:
                    some[name, value] += 1
        for weight, counted in by_rate.items():
            for (name, value), count in counted.items():
                self.values[name][value] += weight * count
            for name, count in there[weight].items():
                self.there[name] += weight * count
            for name, count in empty[weight].items():
                self.empty[name] += weight * count

    def share(self, weight: Fraction) -> float:
        return rounded(weight / self.whole)

    def common(self, name: str, most: int) -> list[list[Any]]:
        """Values and shares, the greatest first, the smaller value first among equals."""
        ordered = sorted(self.values[name].items(), key=lambda item: (-item[1], item[0]))
        return [[value, self.share(weight)] for value, weight in ordered[:most]]

    def histogram(self, name: str, most: int, ranges: int) -> list[list[Any]]:
        """Of what the common values leave, ranges that begin where a share of it is used up."""
        ordered = sorted(self.values[name].items(), key=lambda item: (-item[1], item[0]))
        rest = sorted(ordered[most:])
        total = sum(weight for _, weight in rest)
        found: dict[int, list[Any]] = {}
        before = Fraction(0)
        for value, weight in rest:
            place = int(before * ranges / total)
            known = found.setdefault(place, [value, value, Fraction(0)])
            known[1], known[2] = value, known[2] + weight
            before += weight
        return [
            [least, greatest, self.share(weight)]
            for _, (least, greatest, weight) in sorted(found.items())
        ]

    def sample(self, most: int) -> list[dict[str, Any]]:
        ordered = sorted(
            zip(self.rows, self.weights, strict=True),
            key=lambda item: hashlib.sha256(item[0]["request_id"].encode()).hexdigest(),
        )
        return [
            {
                "attributes": row["attributes"],
                "builtins": row["builtins"],
                "weight": float(weight),
                "day": "2026-11-16",
            }
            for row, weight in ordered[:most]
        ]
