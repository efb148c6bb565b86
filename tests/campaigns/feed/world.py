"""A model of everything around a replica: the database, Redis, the ways between, and all faults.

The model knows the truth: what the database held after each commit, by (epoch, rev, nonce). After
every single step the replica must hold exactly that, for the place where it says it is. Answers are
made at one moment and delivered at another, so that the lanes overtake each other.
"""

from copy import copy
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from campaigns.feed import messages as m
from campaigns.feed import replica as original
from campaigns.log.changes import Change

Content = dict[str, bytes]
PAGE = 3
"""Changes in one reading of the log."""


class Violation(AssertionError):
    """The replica is not where it says it is, or asks for what it must not."""


DATABASE = ("epoch", "rev", "pruned_rev", "log", "content", "history")
"""What a backup of the database has."""

Backup = dict[str, Any]


def require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Violation(otherwise)


@dataclass
class World:
    """One database, one Redis, one replica."""

    module: ModuleType = original
    epoch: str = "e1"
    rev: int = 0
    pruned_rev: int = 0
    log: dict[int, Change] = field(default_factory=dict)
    content: Content = field(default_factory=dict)
    history: list[tuple[int, str, Content]] = field(default_factory=list)
    truths: dict[tuple[str, int, str], list[Content]] = field(default_factory=dict)
    streams: dict[str, list[m.Link]] = field(default_factory=dict)
    redis_up: bool = True
    database_up: bool = True
    now: float = 0.0
    nonces: int = 0
    epochs: int = 1

    held: Content = field(default_factory=dict)
    aside: Content = field(default_factory=dict)
    asked_log: m.ReadLog | None = None
    asked_stream: m.ReadStream | None = None
    asked_snapshot: bool = False
    log_answer: m.Message | None = None
    snapshot_answer: tuple[m.Message, Content] | None = None
    late: list[m.Entries] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    requests: int = 0

    def __post_init__(self) -> None:
        self.timing = self.module.Timing()
        self.state: Any = self.module.ReplicaState()
        self._remember(0, "")
        self.tell(m.Tick())

    # The database.

    def write(self, name: str = "a", value: str | None = None) -> None:
        """Commit one change."""
        self.nonces += 1
        self.rev += 1
        nonce = f"n{self.nonces}"
        payload = b"null" if value is None else value.encode()
        if value is None:
            self.content.pop(name, None)
        else:
            self.content[name] = payload
        self.log[self.rev] = Change(self.rev, "campaign", name, nonce, payload, self.now)
        self._remember(self.rev, nonce)

    def writes(self, count: int) -> None:
        for _ in range(count):
            self.write("abc"[self.nonces % 3], f"v{self.nonces}")

    def _remember(self, rev: int, nonce: str) -> None:
        self.history.append((rev, nonce, dict(self.content)))
        self._hold_true(rev, nonce, self.content)

    def _hold_true(self, rev: int, nonce: str, content: Content) -> None:
        for known in {nonce, ""}:  # a snapshot whose change is pruned has no nonce
            self.truths.setdefault((self.epoch, rev, known), []).append(dict(content))

    def prune(self, upto: int) -> None:
        self.pruned_rev = max(self.pruned_rev, min(upto, self.rev))
        self.log = {rev: change for rev, change in self.log.items() if rev > self.pruned_rev}

    def backup(self) -> Backup:
        return {name: copy(getattr(self, name)) for name in DATABASE}

    def restore(self, backup: Backup) -> None:
        """Go back to a backup, and tell nobody."""
        for name in DATABASE:
            setattr(self, name, copy(backup[name]))

    def new_epoch(self) -> None:
        self.epochs += 1
        self.epoch = f"e{self.epochs}"
        for entry in self.history:
            self._hold_true(*entry)

    # Redis, and a relay that trusts everything that it finds.

    def publish(self, count: int = 100, skip: int = 0) -> None:
        """Add the next changes to the stream, or leave some out."""
        stream = self.streams.setdefault(self.epoch, [])
        last = stream[-1].change.rev if stream else 0
        for rev in sorted(self.log):
            if rev > last + skip and count > 0:
                before = self.log.get(rev - 1)
                stream.append(m.Link(before.nonce if before else "", self.log[rev]))
                count -= 1

    def clean(self) -> None:
        """What the real relay does: a stream that does not end in the log begins again."""
        stream = self.streams.get(self.epoch, [])
        if stream and self.log.get(stream[-1].change.rev) != stream[-1].change:
            stream.clear()

    def trim(self, keep: int) -> None:
        for stream in self.streams.values():
            del stream[: max(0, len(stream) - keep)]

    def flush(self) -> None:
        self.streams.clear()

    # The ways between.

    def tell(self, message: m.Message) -> None:
        """Give the replica a message, do what it wants, and look whether it is where it says."""
        self.state, actions = self.module.step(self.state, message, self.now, self.timing)
        for action in actions:
            self._do(action)
        self.check()

    def _do(self, action: m.Action) -> None:
        match action:
            case m.Apply(changes):
                for change in changes:
                    if change.removed:
                        self.held.pop(change.object_id, None)
                    else:
                        self.held[change.object_id] = change.payload
            case m.Swap():
                self.held = dict(self.aside)
            case m.ReadLog():
                require(self.asked_log is None, "two readings of the log at once")
                require(not self.asked_snapshot, "reading the log during a load")
                self.asked_log, self.log_answer = action, None
                self.requests += 1
            case m.ReadStream():
                self.asked_stream = action
                self.requests += 1
            case m.Load():
                require(self.asked_log is None, "a load during a reading of the log")
                require(not self.asked_snapshot, "two loads at once")
                self.asked_snapshot, self.snapshot_answer = True, None
                self.requests += 1
            case m.Report(what, reason):
                self.reports.append(f"{what} {reason}")

    def check(self) -> None:
        """Prefix consistency."""
        place = (self.state.epoch, self.state.rev, self.state.nonce)
        if self.state.epoch and self.held not in self.truths.get(place, []):
            raise Violation(f"at {place} it holds {self.held}, not {self.truths.get(place)}")

    def tick(self, seconds: float = 0.0) -> None:
        self.now += seconds
        self.tell(m.Tick())

    def answer_stream(self, repeat: bool = False) -> None:
        """Let the stream answer; with `repeat` the answer will come once more, later."""
        asked, self.asked_stream = self.asked_stream, None
        if asked is None:
            return
        if not self.redis_up:
            self.tell(m.Failed(m.STREAM))
            return
        entries = self._entries(asked)
        if repeat:
            self.late.append(entries)
        self.tell(entries)

    def _entries(self, asked: m.ReadStream) -> m.Entries:
        links = [e for e in self.streams.get(asked.epoch, []) if e.change.rev > asked.after]
        return m.Entries(asked.epoch, tuple(links[:PAGE]))

    def hold_stream(self) -> None:
        """The stream answers, and the answer is long under way."""
        asked, self.asked_stream = self.asked_stream, None
        if asked is not None and self.redis_up:
            self.late.append(self._entries(asked))
        elif asked is not None:
            self.asked_stream = asked

    def deliver_late(self) -> None:
        if self.late:
            self.tell(self.late.pop(0))

    def make_log_answer(self) -> None:
        """The database reads, at this moment."""
        asked = self.asked_log
        if asked is None or self.log_answer is not None:
            return
        if not self.database_up:
            self.log_answer = m.Failed(m.LOG)
            return
        own = self.log.get(asked.after)
        head = m.LogHead(self.epoch, self.rev, self.pruned_rev, own.nonce if own else "")
        rows = [self.log[rev] for rev in sorted(self.log) if rev > asked.after]
        self.log_answer = m.LogRead(asked, head, tuple(rows[:PAGE]))

    def deliver_log(self) -> None:
        self.make_log_answer()
        answer, self.asked_log, self.log_answer = self.log_answer, None, None
        if answer is not None:
            self.tell(answer)

    def make_snapshot(self) -> None:
        if not self.asked_snapshot or self.snapshot_answer is not None:
            return
        if not self.database_up:
            self.snapshot_answer = (m.Failed(m.LOAD), {})
            return
        own = self.log.get(self.rev)
        loaded = m.Loaded(self.epoch, self.rev, own.nonce if own else "")
        self.snapshot_answer = (loaded, dict(self.content))

    def deliver_snapshot(self) -> None:
        self.make_snapshot()
        answer, self.asked_snapshot, self.snapshot_answer = self.snapshot_answer, False, None
        if answer is not None:
            message, self.aside = answer
            self.tell(message)

    def go_on(self, steps: int, seconds: float) -> None:
        """Time passes in steps, and whatever was asked is answered in each."""
        for _ in range(steps):
            self.tick(seconds)
            self.deliver_snapshot()
            self.deliver_log()
            self.answer_stream()

    def unfollowable(self) -> None:
        """What was applied needs a new index; sent like every message after an `Apply`."""
        if self.state.epoch:
            self.tell(m.Unfollowable("catalogue"))

    def kill(self) -> None:
        """The replica's process is gone; a new one begins with nothing."""
        self.asked_log = self.asked_stream = self.log_answer = self.snapshot_answer = None
        self.asked_snapshot = False
        self.late.clear()
        self.held, self.state = {}, self.module.ReplicaState()
        self.tell(m.Tick())

    # The end.

    def settle(self, stream: bool = True, seconds: float = 10.0) -> None:
        """Without more faults it is soon where the database is, and asks no more than it must."""
        self.redis_up = self.redis_up and stream
        self.database_up = True
        end = self.now + seconds
        self.clean()
        while self.now < end:
            self.tick(0.1)
            self.requests = 0
            waiting = 0
            while self.asked_log or self.asked_snapshot or waiting < 2:
                self.deliver_snapshot()
                self.deliver_log()
                if waiting < 2:
                    self.answer_stream()
                    waiting += 1
                require(self.requests <= 8 + self.rev, "it asks without end")
            if self.converged():
                return
        raise Violation(f"it does not converge: {self.state}, the head is {self.epoch} {self.rev}")

    def converged(self) -> bool:
        place = (self.state.epoch, self.state.rev)
        return place == (self.epoch, self.rev) and self.held == self.content
