"""What can happen to a replica, one story each; a story fails when the replica is caught lying.

Each takes the module that holds the protocol, so that `test_guards.py` can tell it to a copy with a
guard taken out.
"""

from collections.abc import Callable
from types import ModuleType

from campaigns.feed import messages as m
from tests.campaigns.feed.world import World, require

Scenario = Callable[[ModuleType], None]


def following(module: ModuleType, writes: int = 5) -> World:
    """A replica that follows the stream, with some history."""
    world = World(module)
    world.writes(writes)
    world.publish()
    world.settle()
    world.reports.clear()
    return world


def the_stream_alone_is_enough(module: ModuleType) -> None:
    world = following(module)
    world.writes(2)
    world.publish()
    world.answer_stream()
    require(world.converged(), "the stream was not followed")
    require(not world.reports, f"nothing was wrong, but {world.reports}")


def an_answer_comes_twice(module: ModuleType) -> None:
    world = following(module)
    world.write("a", "old")
    world.publish()
    world.answer_stream(repeat=True)
    world.write("a", "new")
    world.publish()
    world.answer_stream()
    world.deliver_late()
    require(world.converged() and not world.reports, "a repeat was taken for news")


def an_entry_is_missing(module: ModuleType) -> None:
    world = following(module)
    world.write("a", "first")
    world.write("b", "second")
    world.publish(skip=1)
    world.answer_stream()
    require(world.asked_log is not None, "a gap, and the log is not asked")
    world.settle(stream=False)


def the_stream_is_not_asked_before_the_log_was_read(module: ModuleType) -> None:
    world = following(module)
    world.writes(2)
    world.publish(skip=1)
    world.answer_stream()
    world.tick(0.5)
    require(world.asked_stream is None, "the stream would only show the same gap")
    world.deliver_log()
    world.tick(0.5)
    require(world.asked_stream is not None, "the stream is never asked again")


def a_late_answer_of_another_epoch(module: ModuleType) -> None:
    world = following(module)
    backup = world.backup()
    world.write("a", "lost")
    world.publish()
    world.hold_stream()
    world.restore(backup)
    world.new_epoch()
    world.settle()
    require(world.state.epoch == "e2", "the new epoch was not found")
    world.deliver_late()


def a_stream_goes_on_from_another_history(module: ModuleType) -> None:
    world = following(module)
    backup = world.backup()
    world.write("a", "lost")
    world.publish()
    world.answer_stream()
    world.restore(backup)
    world.write("b", "kept")
    world.write("c", "kept")
    world.publish()  # the first is refused as a repeat, the second is added
    world.answer_stream()
    world.settle()


def ahead_of_a_restored_head(module: ModuleType) -> None:
    world = World(module)
    world.writes(3)
    backup = world.backup()
    world.writes(3)
    world.prune(6)  # so that the nonce at its own rev is not known
    world.settle()
    world.restore(backup)
    world.settle()
    require("load ahead" in world.reports, "it does not know that it was ahead")


def everything_pruned_since(module: ModuleType) -> None:
    world = World(module)
    world.writes(3)
    world.prune(3)
    world.settle()
    world.writes(3)
    world.prune(6)
    world.settle(stream=False)
    require("load pruned" in world.reports, "it does not know that the log was pruned")


def another_nonce_at_the_own_rev(module: ModuleType) -> None:
    world = World(module)
    world.writes(3)
    backup = world.backup()
    world.write("a", "lost")
    world.settle()
    world.restore(backup)
    world.write("b", "kept")
    world.settle()


def another_epoch_without_any_proof(module: ModuleType) -> None:
    world = World(module)
    world.writes(3)
    backup = world.backup()
    world.write("a", "lost")
    world.prune(4)
    world.settle()
    world.restore(backup)
    world.write("b", "kept")
    world.prune(4)
    world.new_epoch()
    world.settle()


def another_epoch_of_the_same_history(module: ModuleType) -> None:
    world = following(module)
    world.new_epoch()
    world.writes(2)
    world.settle()
    require("resync epoch" in world.reports, "it did not notice the epoch")
    require(not any("load" in each for each in world.reports), "there was no need to reload")
    world.publish()
    world.write("a", "after")
    world.publish()
    world.answer_stream()
    require(world.converged(), "it does not read the stream of the new epoch")


def another_epoch_seen_from_where_we_no_longer_are(module: ModuleType) -> None:
    world = following(module)
    backup = world.backup()
    world.tick(1.0)
    require(world.asked_log is not None, "no heartbeat")
    world.write("a", "lost")
    world.publish()
    lost = world.streams["e1"][-1]
    world.restore(backup)
    world.new_epoch()
    world.make_log_answer()
    world.tell(m.Entries("e1", (lost,)))
    world.deliver_log()
    world.settle()


def silence(module: ModuleType) -> None:
    world = following(module)
    world.writes(5)  # and no relay
    world.settle(seconds=2.0)
    require("resync silence" in world.reports, "the silence was not noticed")


def redis_is_emptied(module: ModuleType) -> None:
    world = following(module)
    world.flush()
    world.writes(2)
    world.settle(seconds=2.0)
    world.write("a", "again")
    world.publish()
    world.answer_stream()
    require(world.converged(), "the new stream was not followed")


def redis_is_gone(module: ModuleType) -> None:
    world = following(module)
    world.redis_up = False
    for _ in range(5):
        world.writes(1)
        world.settle(stream=False, seconds=1.5)


def an_outage_ends(module: ModuleType) -> None:
    world = following(module)
    world.redis_up = world.database_up = False
    world.go_on(20, 0.1)
    world.redis_up = world.database_up = True
    world.tick(2.5)
    require(world.asked_stream is not None, "the stream is never asked again")
    require(world.asked_log is not None, "the log is never asked again")


def the_log_has_a_hole(module: ModuleType) -> None:
    world = following(module)
    world.writes(3)
    del world.log[6]
    world.settle(stream=False)
    require("load hole" in world.reports, "the hole was not noticed")


def the_log_ends_before_its_head(module: ModuleType) -> None:
    world = following(module)
    world.writes(1)
    del world.log[6]
    world.settle(stream=False)
    require("load hole" in world.reports, "the missing end was not noticed")


def a_reload_waits_for_the_reading_under_way(module: ModuleType) -> None:
    world = following(module)
    world.tick(1.0)
    require(world.asked_log is not None, "no heartbeat")
    world.unfollowable()
    world.tick(1.0)
    world.settle()
    require("load catalogue" in world.reports, "it did not reload")


def time_passes_during_a_load(module: ModuleType) -> None:
    world = following(module)
    world.unfollowable()
    for _ in range(30):
        world.tick(0.3)
    world.settle()


def one_wait_at_a_time(module: ModuleType) -> None:
    world = following(module)
    for _ in range(10):
        world.deliver_log()
        world.answer_stream()
        world.tick(1.0)
    world.requests = 0
    for _ in range(10):
        world.tick(0.01)
    require(world.requests == 0, "it asks again while it waits")


def nobody_answers_for_long(module: ModuleType) -> None:
    world = following(module)
    world.redis_up = world.database_up = False
    world.requests = 0
    for _ in range(1000):
        world.tick(0.01)
        world.answer_stream()
        world.deliver_log()
        world.deliver_snapshot()
    require(world.requests < 60, f"{world.requests} requests in ten seconds of an outage")
    world.unfollowable()
    world.requests = 0
    for _ in range(1000):
        world.tick(0.01)
        world.deliver_log()
        world.deliver_snapshot()
    require(world.requests < 20, f"{world.requests} attempts to load in ten seconds")
    world.redis_up = True
    world.settle()


def a_stream_keeps_a_lost_change(module: ModuleType) -> None:
    world = following(module)
    backup = world.backup()
    world.write("a", "lost")
    world.publish()
    world.answer_stream()
    world.restore(backup)
    world.go_on(50, 0.1)
    loads = sum("load" in each for each in world.reports)
    require(loads <= 2, f"{loads} loads in five seconds, led astray by the stream")
    world.settle()


def a_stream_that_never_chains(module: ModuleType) -> None:
    world = following(module)
    world.writes(3)
    world.publish()
    world.trim(1)
    world.restore(world.backup())
    world.rev, world.log = 5, {rev: each for rev, each in world.log.items() if rev <= 5}
    world.content = dict(world.history[5][2])
    world.requests = 0
    world.go_on(500, 0.01)
    require(world.requests < 100, f"{world.requests} requests in five seconds")


def without_redis(module: ModuleType) -> None:
    world = World(module)
    world.timing = module.Timing(stream=False)
    world.asked_stream = None
    for _ in range(5):
        world.writes(3)
        world.settle(seconds=0.5)
    require(world.asked_stream is None, "there is no stream to be asked")


def the_stream_of_the_new_epoch(module: ModuleType) -> None:
    world = following(module)
    world.tick(0.0)
    world.new_epoch()
    world.tick(1.0)
    world.deliver_log()
    asked = world.asked_stream
    require(asked is not None and asked.epoch == "e2", f"it waits for {asked}")


def after_a_swap_the_log_is_read_at_once(module: ModuleType) -> None:
    world = following(module)
    world.unfollowable()
    world.deliver_snapshot()
    require(world.asked_log is not None, "what came during the load waits for the next heartbeat")


SCENARIOS: list[Scenario] = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and name not in ("following", "require")
]
