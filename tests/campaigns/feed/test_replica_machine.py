"""The law of the replica: whatever happens around it, it holds a prefix of the truth."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.campaigns.feed.world import Backup, World

small = st.integers(0, 4)


class ReplicaMachine(RuleBasedStateMachine):
    """Any order of writes, answers, delays and faults."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.backups: list[Backup] = []

    @rule(name=st.sampled_from("abc"), value=st.sampled_from([None, "x", "y"]))
    def write(self, name: str, value: str | None) -> None:
        self.world.write(name, value)

    @rule(count=small, skip=st.sampled_from([0, 0, 0, 1, 2]))
    def publish(self, count: int, skip: int) -> None:
        self.world.publish(count, skip)

    @rule(seconds=st.sampled_from([0.0, 0.05, 0.3, 1.0, 3.0]))
    def tick(self, seconds: float) -> None:
        self.world.tick(seconds)

    @rule(repeat=st.booleans())
    def answer_stream(self, repeat: bool) -> None:
        self.world.answer_stream(repeat)

    @rule()
    def hold_stream(self) -> None:
        self.world.hold_stream()

    @precondition(lambda self: self.world.late)
    @rule()
    def deliver_late(self) -> None:
        self.world.deliver_late()

    @precondition(lambda self: self.world.asked_log)
    @rule()
    def make_log_answer(self) -> None:
        self.world.make_log_answer()

    @precondition(lambda self: self.world.asked_log)
    @rule()
    def deliver_log(self) -> None:
        self.world.deliver_log()

    @precondition(lambda self: self.world.asked_snapshot)
    @rule()
    def make_snapshot(self) -> None:
        self.world.make_snapshot()

    @precondition(lambda self: self.world.asked_snapshot)
    @rule()
    def deliver_snapshot(self) -> None:
        self.world.deliver_snapshot()

    @rule(keep=small)
    def trim(self, keep: int) -> None:
        self.world.trim(keep)

    @rule()
    def flush(self) -> None:
        self.world.flush()

    @rule(redis=st.booleans(), database=st.booleans())
    def outage(self, redis: bool, database: bool) -> None:
        self.world.redis_up, self.world.database_up = redis, database

    @rule(back=small)
    def prune(self, back: int) -> None:
        self.world.prune(self.world.rev - back)

    @rule()
    def backup(self) -> None:
        self.backups.append(self.world.backup())

    @precondition(lambda self: self.backups)
    @rule(data=st.data(), declared=st.booleans())
    def restore(self, data: st.DataObject, declared: bool) -> None:
        self.world.restore(data.draw(st.sampled_from(self.backups)))
        if declared:
            self.world.new_epoch()

    @rule()
    def new_epoch(self) -> None:
        self.world.new_epoch()

    @rule()
    def unfollowable(self) -> None:
        self.world.unfollowable()

    @rule()
    def kill(self) -> None:
        self.world.kill()

    @rule()
    def settle(self) -> None:
        self.world.settle()

    @invariant()
    def it_holds_a_prefix_of_the_truth(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        self.world.settle()


# As many examples as the profile says, each of many steps.
ReplicaMachine.TestCase.settings = settings(stateful_step_count=40)


class TestReplicaMachine(ReplicaMachine.TestCase):  # type: ignore[misc, valid-type]
    """Run by Hypothesis."""

    pytestmark = pytest.mark.laws
