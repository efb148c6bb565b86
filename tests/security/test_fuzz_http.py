"""A short run of the fuzzer; `make fuzz-http` runs longer."""

from tests.security.fuzz_http import Fuzzer, service

CASES = 600
FIRST_SEED = 1


def test_nothing_that_is_sent_breaks_the_service() -> None:
    with service() as (served, tokens, _):
        fuzzer = Fuzzer(served, tokens["match"])
        for seed in range(FIRST_SEED, FIRST_SEED + CASES):
            fuzzer.play(seed)
    assert {200, 204, 400, 401, 413, 415, 422, 431} <= set(fuzzer.counts.answers)
