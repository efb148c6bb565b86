"""Delays double up to the last, and are spread around that."""

from campaigns.backoff import Backoff, jitter


def test_delays_double_up_to_the_last() -> None:
    backoff = Backoff(0.1, 1.0)
    delays = [backoff.delay(failures, factor=1.0) for failures in (0, 1, 2, 3, 4, 10_000)]
    assert delays == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_two_processes_that_failed_together_do_not_retry_together() -> None:
    delays = {Backoff(0.1, 1.0).delay(0) for _ in range(100)}
    assert len(delays) > 90
    assert 0.05 <= min(delays) < max(delays) <= 0.15


def test_jitter_is_around_one() -> None:
    assert all(0.8 <= jitter(0.2) <= 1.2 for _ in range(100))
