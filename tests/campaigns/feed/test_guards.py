"""No guard of the protocol is there for nothing: without any one of them some story goes wrong.

A guard is taken out of a copy of the module's text; the product has no switch for it. The list is
complete: a condition of `replica.py` that is not in it fails the last test.
"""

import ast
import inspect
import sys
from collections import Counter
from dataclasses import dataclass
from types import ModuleType

import pytest

from campaigns.feed import replica
from tests.campaigns.feed.scenarios import SCENARIOS, Scenario
from tests.campaigns.feed.world import Violation

SOURCE = inspect.getsource(replica)


@dataclass(frozen=True)
class Guard:
    """A piece of the protocol, and the text without it."""

    name: str
    text: str
    without: str


GUARDS = [
    Guard("no log is read during a load", "if state.loading:", "if False:"),
    Guard("one load at a time", "state.load_asked or now < state.load_due", "False"),
    Guard("a failed load waits", "or now < state.load_due", "or False"),
    Guard("a load waits for the log", "if state.log_asked:", "if False:"),
    Guard("one reading of the log", "if not state.log_asked and now", "if now"),
    Guard("the log is not read all the time", "log_asked and now >= state.log_due", "log_asked"),
    Guard("the heartbeat", "if not state.log_asked and now >= state.log_due", "if False"),
    Guard("one wait for the stream", "timing.stream and not state.stream_asked", "timing.stream"),
    Guard("the log before the stream", "and not state.behind and now", "and now"),
    Guard("a failed stream waits", "state.behind and now >= state.stream_due", "state.behind"),
    Guard(
        "without Redis no stream is read",
        "if timing.stream and not state.stream",
        "if not state.stream",
    ),
    Guard("entries of another epoch", "if message.epoch != state.epoch:", "if False:"),
    Guard(
        "the log after a broken stream",
        "    if broken:\n        # The",
        "    if False:\n        # The",
    ),
    Guard("a broken stream waits", "state = _stream_failed(state, 1.0, now, timing)", "pass"),
    Guard("a stream that fails is asked again", "if message.lane == STREAM:", "if False:"),
    Guard("a log that fails is asked again", "if message.lane == LOG:", "if False:"),
    Guard("a misfit is not followed", "if reason := _misfit", "if False and _misfit"),
    Guard("another epoch is noticed", "    if head.epoch != state.epoch:", "    if False:"),
    Guard("an epoch is adopted from where we are", "message.asked.after != state.rev", "False"),
    Guard("silence is reported", "if applied and was_quiet and", "if False and"),
    Guard(
        "a broken log is not followed",
        "    if broken:\n        state, load",
        "    if False:\n        state, load",
    ),
    Guard("the next page of the log", "    if behind:", "    if False:"),
    Guard("the log ends at its head", "if behind and not message.changes:", "if False:"),
    Guard("ahead of the head", "if head.rev < asked.after:", "if False:"),
    Guard("too far back", "if asked.after < head.pruned_rev:", "if False:"),
    Guard("the nonce at the own rev", "if head.nonce != asked.nonce:", "if False:"),
    Guard("an epoch needs a proof", "if head.epoch != epoch and not head.nonce:", "if False:"),
    Guard("duplicates", "if change.rev <= rev:", "if False:"),
    Guard("gaps", "if change.rev != rev + 1:", "if False:"),
    Guard("forks", "if link.previous != nonce:", "if False:"),
    Guard("a stream that leads astray is left alone", "if reason in _ASTRAY:", "if False:"),
    Guard(
        "the stream of the new epoch is read",
        "epoch=head.epoch, stream_asked=False",
        "epoch=head.epoch",
    ),
    Guard(
        "after a swap the log is read at once",
        "        behind=True,\n        log_due=now,",
        "        behind=True,",
    ),
]


def copy_without(guard: Guard) -> ModuleType:
    """The protocol, as a module of its own, without a guard."""
    assert SOURCE.count(guard.text) == 1, (
        f"{guard.text!r} is there {SOURCE.count(guard.text)} times"
    )
    module = ModuleType("replica_without_a_guard")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(
            compile(SOURCE.replace(guard.text, guard.without), module.__name__, "exec"),
            vars(module),
        )
    finally:
        del sys.modules[module.__name__]
    return module


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_with_every_guard_the_story_ends_well(scenario: Scenario) -> None:
    scenario(replica)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_without_a_guard_some_story_goes_wrong(guard: Guard) -> None:
    module = copy_without(guard)
    failed = []
    for scenario in SCENARIOS:
        try:
            scenario(module)
        except Violation:
            failed.append(scenario.__name__)
    assert failed, f"nothing needs the guard: {guard.name}"


def test_every_condition_is_a_guard_of_the_list() -> None:
    """Each condition of the module is changed by taking some guard out."""
    covered: set[str] = set()
    for guard in GUARDS:
        changed = _conditions(SOURCE.replace(guard.text, guard.without))
        covered |= {each for each, count in _conditions(SOURCE).items() if changed[each] < count}
    assert set(_conditions(SOURCE)) - covered == set()


def _conditions(source: str) -> Counter[str]:
    nodes = ast.walk(ast.parse(source))
    return Counter(ast.unparse(node.test) for node in nodes if isinstance(node, ast.If))
