"""No guard of the protocol is there for nothing: without any one of them some story goes wrong.

A guard is taken out of a copy of the module's text; the product has no switch for it. The list is
complete: a condition of `replica.py` that is not in it fails the last test.
"""

import ast
import inspect
import sys
from collections import Counter
from types import ModuleType

import pytest

from campaigns.feed import replica
from tests.campaigns.feed.scenarios import SCENARIOS, Scenario
from tests.campaigns.feed.world import Violation

SOURCE = inspect.getsource(replica)


Guard = tuple[str, str, str]
"""A name, a piece of the protocol, and the text without it."""

GUARDS: list[Guard] = [
    ("no log is read during a load", "if state.loading:", "if False:"),
    ("one load at a time", "state.load_asked or now < state.load_due", "False"),
    ("a failed load waits", "or now < state.load_due", "or False"),
    ("a load waits for the log", "if state.log_asked:", "if False:"),
    ("one reading of the log", "if not state.log_asked and now", "if now"),
    ("the log is not read all the time", "log_asked and now >= state.log_due", "log_asked"),
    ("the heartbeat", "if not state.log_asked and now >= state.log_due", "if False"),
    ("one wait for the stream", "timing.stream and not state.stream_asked", "timing.stream"),
    ("the log before the stream", "and not state.behind and now", "and now"),
    ("a failed stream waits", "state.behind and now >= state.stream_due", "state.behind"),
    (
        "without Redis no stream is read",
        "if timing.stream and not state.stream",
        "if not state.stream",
    ),
    ("entries of another epoch", "if message.epoch != state.epoch:", "if False:"),
    (
        "the log after a broken stream",
        "    if broken:\n        # The",
        "    if False:\n        # The",
    ),
    ("a broken stream waits", "state = _stream_failed(state, 1.0, now, timing)", "pass"),
    ("a stream that fails is asked again", "if message.lane == STREAM:", "if False:"),
    ("a log that fails is asked again", "if message.lane == LOG:", "if False:"),
    ("a misfit is not followed", "if reason := _misfit", "if False and _misfit"),
    ("another epoch is noticed", "    if head.epoch != state.epoch:", "    if False:"),
    ("an epoch is adopted from where we are", "message.asked.after != state.rev", "False"),
    ("silence is reported", "if applied and was_quiet and", "if False and"),
    (
        "a broken log is not followed",
        "    if broken:\n        state, load",
        "    if False:\n        state, load",
    ),
    ("the next page of the log", "    if behind:", "    if False:"),
    ("the log ends at its head", "if behind and not message.changes:", "if False:"),
    ("ahead of the head", "if head.rev < asked.after:", "if False:"),
    ("too far back", "if asked.after < head.pruned_rev:", "if False:"),
    ("the nonce at the own rev", "if head.nonce != asked.nonce:", "if False:"),
    ("an epoch needs a proof", "if head.epoch != epoch and not head.nonce:", "if False:"),
    ("duplicates", "if change.rev <= rev:", "if False:"),
    ("gaps", "if change.rev != rev + 1:", "if False:"),
    ("forks", "if link.previous != nonce:", "if False:"),
    ("a stream that leads astray is left alone", "if reason in _ASTRAY:", "if False:"),
    (
        "the stream of the new epoch is read",
        "epoch=head.epoch, stream_asked=False",
        "epoch=head.epoch",
    ),
    (
        "after a swap the log is read at once",
        "        behind=True,\n        log_due=now,",
        "        behind=True,",
    ),
]


def copy_without(guard: Guard) -> ModuleType:
    """The protocol, as a module of its own, without a guard."""
    _, text, without = guard
    assert SOURCE.count(text) == 1, f"{text!r} is there {SOURCE.count(text)} times"
    module = ModuleType("replica_without_a_guard")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(SOURCE.replace(text, without), module.__name__, "exec"), vars(module))
    finally:
        del sys.modules[module.__name__]
    return module


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_with_every_guard_the_story_ends_well(scenario: Scenario) -> None:
    scenario(replica)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard[0])
def test_without_a_guard_some_story_goes_wrong(guard: Guard) -> None:
    module = copy_without(guard)
    failed = []
    for scenario in SCENARIOS:
        try:
            scenario(module)
        except Violation:
            failed.append(scenario.__name__)
    assert failed, f"nothing needs the guard: {guard[0]}"


def test_every_condition_is_a_guard_of_the_list() -> None:
    """Each condition of the module is changed by taking some guard out."""
    covered: set[str] = set()
    for _, text, without in GUARDS:
        changed = _conditions(SOURCE.replace(text, without))
        covered |= {each for each, count in _conditions(SOURCE).items() if changed[each] < count}
    assert set(_conditions(SOURCE)) - covered == set()


def _conditions(source: str) -> Counter[str]:
    nodes = ast.walk(ast.parse(source))
    return Counter(ast.unparse(node.test) for node in nodes if isinstance(node, ast.If))
