"""The protocol of a replica, without any I/O: (state, message, now) → (state, actions).

A replica is at (epoch, rev, nonce): it holds exactly what the database held when the change with
that nonce was committed. From there it moves in three ways only:

    a change that is chained to its own nonce     from the stream or from the log
    another epoch of the same history             the log shows its own nonce at its own rev
    a load                                        of everything, aside, then swapped in

The stream is trusted as long as it chains. When it does not, and every second anyway, the log is
read. One read of the log has the head, the nonce at the replica's own rev and the next changes, in
one version of the database. If they do not fit, only a load helps.

       ┌────────── does not chain, or a second has passed ─────────┐
       │                                                           ▼
    following the stream ◀──────── caught up ─────────── reading the log ◀──┐
                                                                   │        │ caught up
                                                                   ▼        │ from there
                                          does not fit ──▶ loading everything, swap

At most one read of the log or one load is in progress, never both. Every wait is a time in the
state that a later message passes, so nothing here sleeps, fails or loops.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from campaigns.backoff import Backoff
from campaigns.feed.messages import (
    LOG,
    STREAM,
    Action,
    Adopt,
    Apply,
    Entries,
    Failed,
    Link,
    Load,
    Loaded,
    LogHead,
    LogRead,
    Message,
    ReadLog,
    ReadStream,
    Report,
    Swap,
    Tick,
    Unfollowable,
)
from campaigns.log.changes import Change

RETRY = Backoff(0.05, 2.0)


@dataclass(frozen=True, slots=True)
class Timing:
    """Intervals in seconds; without a `stream` the log is polled."""

    stream: bool = True
    heartbeat: float = 1.0
    poll: float = 0.2
    retry: Backoff = RETRY
    distrust: float = 5.0


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The position of a replica, what it waits for, and when it asks again."""

    epoch: str = ""
    rev: int = 0
    nonce: str = ""

    loading: str = "start"  # why a load is needed; empty when none is
    load_asked: bool = False
    log_asked: bool = False
    stream_asked: bool = False
    behind: bool = False  # the log must be read before the stream goes on

    load_due: float = 0.0
    log_due: float = 0.0
    stream_due: float = 0.0
    load_failures: int = 0
    log_failures: int = 0
    stream_failures: int = 0

    head_rev: int = 0  # the newest rev seen
    head_at: float | None = None  # when the head was last seen
    quiet: bool = True  # no entries from the stream since then


Step = tuple[ReplicaState, list[Action]]

_IN_THE_LOG = {"gap": "hole", "fork": "nonce"}
"""The reasons of a load for faults in the log's own chain."""

_ASTRAY = ("ahead", "nonce")
"""The database has another history than the one that was followed."""


def step(state: ReplicaState, message: Message, now: float, timing: Timing) -> Step:
    """The next state, and the actions that a message leads to."""
    state, actions = _heard(state, message, now, timing)
    state, asked = _asking(state, now, timing)
    return state, actions + asked


def _heard(state: ReplicaState, message: Message, now: float, timing: Timing) -> Step:
    match message:
        case Tick():
            return state, []
        case Entries():
            return _entries(state, message, now, timing)
        case LogRead():
            return _log_read(state, message, now, timing)
        case Loaded():
            return _loaded(state, message, now)
        case Unfollowable():
            return _load(state, message.reason, now, timing)
        case Failed():
            return _failed(state, message, now, timing), []


def _asking(state: ReplicaState, now: float, timing: Timing) -> Step:
    """Ask for everything that is due and not in progress."""
    if state.loading:
        if state.load_asked or now < state.load_due:
            return state, []
        if state.log_asked:
            return state, []  # its reply would be about the state before the load
        return replace(state, load_asked=True), [Load(state.loading)]
    asked: list[Action] = []
    if not state.log_asked and now >= state.log_due:
        state = replace(state, log_asked=True)
        asked.append(ReadLog(state.rev, state.nonce))
    if timing.stream and not state.stream_asked and not state.behind and now >= state.stream_due:
        state = replace(state, stream_asked=True)
        asked.append(ReadStream(state.epoch, state.rev))
    return state, asked


def _entries(state: ReplicaState, message: Entries, now: float, timing: Timing) -> Step:
    state = replace(state, stream_asked=False)
    if message.epoch != state.epoch:
        return state, []  # a late reply, from a history that may have ended elsewhere
    state, applied, broken = _follow(state, message.links)
    actions = _apply(applied, STREAM)
    if broken:
        # The same entries would come again at once, so the stream waits longer each time.
        state = _stream_failed(state, 1.0, now, timing)
        state = replace(state, behind=True, log_due=now)
        return state, [*actions, Report("resync", broken)]
    quiet = state.quiet and not applied
    head_rev = max(state.head_rev, state.rev)
    return replace(state, stream_failures=0, quiet=quiet, head_rev=head_rev), actions


def _failed(state: ReplicaState, message: Failed, now: float, timing: Timing) -> ReplicaState:
    if message.lane == STREAM:
        return _stream_failed(state, message.jitter, now, timing)
    if message.lane == LOG:
        failures = state.log_failures
        due = now + timing.retry.delay(failures, message.jitter)
        return replace(state, log_asked=False, log_due=due, log_failures=failures + 1)
    failures = state.load_failures
    due = now + timing.retry.delay(failures, message.jitter)
    return replace(state, load_asked=False, load_due=due, load_failures=failures + 1)


def _stream_failed(state: ReplicaState, jitter: float, now: float, timing: Timing) -> ReplicaState:
    wait = timing.retry.delay(state.stream_failures, jitter)
    return replace(
        state,
        stream_asked=False,
        stream_due=now + wait,
        stream_failures=state.stream_failures + 1,
        log_due=min(state.log_due, now + timing.poll),
    )


def _log_read(state: ReplicaState, message: LogRead, now: float, timing: Timing) -> Step:
    head = message.head
    streaming = timing.stream and not state.stream_failures
    wait = timing.heartbeat if streaming else timing.poll
    was_quiet = state.quiet
    state = replace(state, log_asked=False, log_failures=0, log_due=now + wait)
    state = replace(state, head_rev=head.rev, head_at=now, quiet=True)
    if reason := _misfit(message.asked, head, state.epoch):
        return _load(state, reason, now, timing)
    actions: list[Action] = []
    if head.epoch != state.epoch:
        if message.asked.after != state.rev:
            # The stream of the old epoch moved the replica: the reply is not about its position.
            return replace(state, behind=True, log_due=now), []
        state = replace(state, epoch=head.epoch, stream_asked=False)
        actions = [Adopt(head.epoch), Report("resync", "epoch")]
    state, applied, broken = _follow(state, _chained(head.nonce, message.changes))
    actions += _apply(applied, LOG)
    if applied and was_quiet and streaming and not state.behind:
        actions.append(Report("resync", "silence"))
    behind = state.rev < head.rev
    if behind and not message.changes:
        broken = "gap"
    if broken:
        state, load = _load(state, _IN_THE_LOG[broken], now, timing)
        return state, actions + load
    if behind:
        state = replace(state, log_due=now)
    return replace(state, behind=behind), actions


def _misfit(asked: ReadLog, head: LogHead, epoch: str) -> str:
    """Why the log does not continue what the replica holds; empty if it does."""
    if head.rev < asked.after:
        return "ahead"
    if asked.after < head.pruned_rev:
        return "pruned"
    if head.nonce != asked.nonce:
        return "nonce"
    if head.epoch != epoch and not head.nonce:
        return "epoch"  # nothing proves that it is the same history
    return ""


def _follow(state: ReplicaState, links: Iterable[Link]) -> tuple[ReplicaState, list[Change], str]:
    """Take the changes that are chained to the one before; the fault of the first that is not."""
    rev, nonce, applied, broken = state.rev, state.nonce, [], ""
    for link in links:
        change = link.change
        if change.rev <= rev:
            continue
        if change.rev != rev + 1:
            broken = "gap"
            break
        if link.previous != nonce:
            broken = "fork"
            break
        rev, nonce = change.rev, change.nonce
        applied.append(change)
    return replace(state, rev=rev, nonce=nonce), applied, broken


def _chained(previous: str, changes: Iterable[Change]) -> Iterator[Link]:
    for change in changes:
        yield Link(previous, change)
        previous = change.nonce


def _apply(changes: list[Change], lane: str) -> list[Action]:
    return [Apply(tuple(changes), lane)] if changes else []


def _load(state: ReplicaState, reason: str, now: float, timing: Timing) -> Step:
    if reason in _ASTRAY:
        # A stream that still has the lost history would lead back to it again and again, until the
        # relay removes it. Until then, the log is read.
        failures = state.stream_failures + 1
        state = replace(state, stream_due=now + timing.distrust, stream_failures=failures)
    return replace(state, loading=reason, load_due=now), [Report("load", reason)]


def _loaded(state: ReplicaState, message: Loaded, now: float) -> Step:
    """Serve from the loaded view, and read on from there."""
    state = replace(
        state,
        epoch=message.epoch,
        rev=message.rev,
        nonce=message.nonce,
        loading="",
        load_asked=False,
        load_failures=0,
        stream_asked=False,
        behind=True,
        log_due=now,
        head_rev=message.rev,
        quiet=True,
    )
    return state, [Swap()]
