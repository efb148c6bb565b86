"""When a silent worker is given up."""

from app.workers.heartbeat import LOADING, LOADING_SECONDS, SERVING, STARTED, HeartbeatMonitor


def test_one_that_serves_may_be_silent_for_as_long_as_the_setting_says() -> None:
    monitor = HeartbeatMonitor(seconds=10, heard_at=100)
    monitor.hear(LOADING + STARTED + SERVING, 101)
    assert not monitor.is_silent(111)
    assert monitor.is_silent(111.1)


def test_one_that_loads_or_has_not_begun_may_be_silent_for_longer() -> None:
    for said in (b"", LOADING, SERVING + LOADING, STARTED):
        monitor = HeartbeatMonitor(seconds=10, heard_at=100)
        if said:
            monitor.hear(said, 100)
        assert not monitor.is_silent(100 + LOADING_SECONDS)
        assert monitor.is_silent(100.1 + LOADING_SECONDS)


def test_patience_may_be_without_end_and_never_shrinks_while_loading() -> None:
    monitor = HeartbeatMonitor(seconds=0, heard_at=100)
    monitor.hear(SERVING, 100)
    assert not monitor.is_silent(10**6)
    assert not HeartbeatMonitor(seconds=1000, heard_at=0).is_silent(999)
