"""The digest depends on the ids and their versions, and on nothing else."""

import time
from random import Random

import pytest

from index import Attribute, Schema, digest_of
from index.digest import term
from tests.index.conftest import Make

SCHEMA = Schema([Attribute("n", "int")])


def test_it_is_the_sum_of_split_mix_numbers() -> None:
    # The first two outputs of SplitMix64 with seed 0, as published.
    first, second = 0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4
    assert term(0, first) == first, "mix(mix(0) ^ first) is mix(0)"
    assert term(0, first ^ 0x9E3779B97F4A7C15) == second
    assert digest_of([]) == 0
    assert digest_of([(1, 2)]) == term(1, 2)
    assert digest_of([(1, 2), (3, 4)]) == (term(1, 2) + term(3, 4)) % 2**64


def test_order_does_not_matter_and_everything_else_does() -> None:
    pairs = [(id, id % 5) for id in range(100)]
    digest = digest_of(pairs)
    assert digest_of(reversed(pairs)) == digest
    assert digest_of(iter(pairs)) == digest
    assert digest_of(dict(pairs).items()) == digest
    assert digest_of(pairs[1:]) != digest
    assert digest_of([*pairs, pairs[0]]) != digest
    assert digest_of([(0, 1), *pairs[1:]]) != digest
    swapped = [(0, 1), (1, 0), *pairs[2:]]
    assert digest_of(swapped) != digest


def test_python_and_the_native_core_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    pairs = [(random.randrange(2**63), random.randrange(2**32)) for _ in range(1000)]
    pairs += [(0, 0), (2**63 - 1, 2**32 - 1)]
    native = digest_of(pairs)
    monkeypatch.setattr("index.digest.native_module", lambda: None)
    assert digest_of(pairs) == native


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((-1, 0), "an id is an integer from 0"),
        ((2**63, 0), "an id is an integer from 0"),
        ((True, 0), "an id is an integer from 0"),
        ((1, -1), "a version is an integer from 0"),
        ((1, 2**32), "a version is an integer from 0"),
        ((1, "2"), "a version is an integer from 0"),
        ((1,), "expected a pair of an id and a version"),
        (7, "expected a pair of an id and a version"),
    ],
)
def test_what_is_no_pair_is_refused(
    monkeypatch: pytest.MonkeyPatch, is_native: bool, pair: object, message: str
) -> None:
    if not is_native:
        monkeypatch.setattr("index.digest.native_module", lambda: None)
    with pytest.raises(ValueError, match=message):
        digest_of([(5, 5), pair])  # type: ignore[list-item]


def test_it_follows_every_update(make: Make) -> None:
    index = make()
    assert index.digest() == 0
    index.insert(1, "n = 1", version=3)
    assert index.digest() == digest_of([(1, 3)])
    index.insert(1, "n = 1", version=4)
    index.insert(1, "n = 2", version=5)
    index.insert(1, "n = 2", score=9, version=5)
    assert index.digest() == digest_of([(1, 5)])
    index.insert_many([(2, "true", 0, None, None, 8, 2**32 - 1), (2**63 - 1, "false")])
    assert index.digest() == digest_of([(1, 5), (2, 2**32 - 1), (2**63 - 1, 0)])
    index.mute(8)
    index.remove(2)
    index.remove(2)
    assert index.digest() == digest_of([(1, 5), (2**63 - 1, 0)])
    index.insert(1, "n = 2")
    index.remove(2**63 - 1)
    assert index.digest() == digest_of([(1, 0)])
    index.check_invariants()


def test_a_million_pairs_take_a_moment() -> None:
    pairs = [(id, 7) for id in range(1_000_000)]
    started = time.process_time()
    digest_of(pairs)
    assert time.process_time() - started < 2
