"""The table of `growth`: all matches and the best ten beside each other, and what it says."""

from bench.index import growth
from bench.index.measure import Result
from bench.papers import report


def result(engine: str, n: int, all_us: float, best_us: float | None) -> Result:
    return {
        "engine": engine,
        "n": n,
        "matches_per_event": n / 100,
        "match_us_median": all_us,
        "match_us_p99": 2 * all_us,
        "top_us_median": best_us,
        "ratio_to_flat": 8.0 if engine == "native" else None,
    }


def test_the_best_ten_are_shown_beside_all_matches() -> None:
    measured = {
        n: [result("native", n, n / 1000, 5.0 * factor), result("flat", n, n / 10, None)]
        for n, factor in ((10_000, 1), (1_000_000, 2))
    }
    shown = report.figure(growth.figure(list(measured)), list(measured.values()), picture=False)
    header, _, first, last = shown.splitlines()[-4:]
    assert [cell.strip() for cell in header.split("|")[4:-1]] == [
        "native µs",
        "p99",
        "flat µs",
        "p99",
        "native, best ten, µs",
        "native × flat",
    ]
    assert [cell.strip() for cell in first.split("|")[-3:-1]] == ["5", "8"]
    assert [cell.strip() for cell in last.split("|")[-3:-1]] == ["10", "8"]
    said = growth.meaning(measured)
    assert "The best ten take 5.0 µs at 10,000 and 10.0 µs at 1,000,000: 2.0 times." in said
