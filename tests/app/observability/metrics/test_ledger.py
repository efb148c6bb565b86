"""Counters never fall, whoever dies or does not answer."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.observability.metrics.ledger import Ledger
from app.observability.metrics.merge import add_up
from app.observability.metrics.registry import Dump

NAME = "copse_impressions_written_total"


def dump(number: int) -> Dump:
    return {NAME: [[[], number]]}


def total(dumps: list[Dump]) -> int:
    found = add_up(dumps).get(NAME, [[[], 0]])
    return int(found[0][1])


def test_who_is_gone_or_silent_still_counts(tmp_path: Path) -> None:
    living = {"a", "b", "c"}
    ledger = Ledger(tmp_path, living.__contains__)
    assert total(ledger.settle({"a": dump(5), "b": dump(7)}, 1)) == 12
    assert total(ledger.settle({"a": dump(6)}, 2)) == 13  # b does not answer
    living.remove("b")
    assert total(ledger.settle({"a": dump(6), "c": dump(1)}, 3)) == 14
    assert total(Ledger(tmp_path, living.__contains__).settle({}, 4)) == 14


def test_what_is_heard_late_is_not_counted_twice(tmp_path: Path) -> None:
    living = {"a"}
    ledger = Ledger(tmp_path, living.__contains__)
    ledger.settle({"a": dump(5)}, 2)
    assert total(ledger.settle({"a": dump(4)}, 1)) == 5  # asked before
    living.clear()
    assert total(ledger.settle({}, 3)) == 5
    assert total(ledger.settle({"a": dump(5)}, 4)) == 5  # it is retired


def test_a_file_that_is_broken_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "counted.json").write_text("{")
    assert total(Ledger(tmp_path, lambda _: True).settle({"a": dump(5)}, 1)) == 5


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["count", "ask", "die"]))))
def test_the_sum_never_falls_and_ends_right(
    tmp_path_factory: object, steps: list[tuple[str, str]]
) -> None:
    directory = tmp_path_factory.mktemp("ledger")  # type: ignore[attr-defined]
    names = {"a": "a0", "b": "b0", "c": "c0"}
    counted = dict.fromkeys(names.values(), 0)
    ledger = Ledger(directory, lambda name: name in names.values())
    before = 0
    for number, (worker, step) in enumerate(steps):
        name = names[worker]
        if step == "count":
            counted[name] += 1
        elif step == "ask":
            now = total(ledger.settle({name: dump(counted[name])}, number))
            assert now >= before
            before = now
        else:
            ledger.settle({name: dump(counted[name])}, number)  # its last word
            names[worker] = f"{worker}{number + 1}"
            counted[names[worker]] = 0
    heard = {name: dump(counted[name]) for name in names.values()}
    assert total(ledger.settle(heard, len(steps))) == sum(counted.values())
