"""A fuzzer for the match routes: random bytes against a running service.

    make fuzz-http MINUTES=30                                     a long run
    python -m tests.security.fuzz_http --seed 4711 --cases 1      repeat a failed case

Whatever is sent, the service answers or closes the connection in time, with no 5xx except for the
documented 503 and with complete problem documents. Its memory does not grow, it logs no error, and
it still answers good requests.
"""

import argparse
import collections
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from migrations.run import upgrade
from testkit.processes import memory_of
from tests.app.conftest import make_keys, on_store
from tests.app.serving import Served, serving
from tests.security.bodies import GOOD
from tests.security.requests import Case, Cases, request
from tests.security.wire import Answer, Wire

REQUEST_SECONDS = 2
WARM_UP = 300
"""Cases before the first memory reading."""
MAY_GROW = 48 * 1024 * 1024
BETWEEN = 100
"""Cases between two memory readings."""


class Wrong(AssertionError):
    """The service broke a rule."""


@dataclass
class Counts:
    """The bytes sent and received."""

    cases: int = 0
    answers: collections.Counter[int] = field(default_factory=collections.Counter)
    hang_ups: int = 0
    first_bytes: int = 0
    last_bytes: int = 0

    def __str__(self) -> str:
        by_status = ", ".join(f"{status}: {n:,}" for status, n in sorted(self.answers.items()))
        memory = f"{self.first_bytes / 2**20:.0f} to {self.last_bytes / 2**20:.0f} MiB"
        return f"{self.cases:,} cases, answers {by_status}, {self.hang_ups:,} hang-ups, {memory}"


def play(case: Case, port: int) -> list[Answer]:
    """Send a case and check the answers."""
    with Wire(port) as wire:
        for piece in case.pieces:
            if not wire.send(piece):
                break
        if case.good is not None:
            answers = [wire.answer() for _ in range(case.good)]
            found = [answer for answer in answers if answer is not None]
            statuses = [answer.status for answer in found]
            if len(found) < case.good or not set(statuses) <= {200, 204, 503}:
                raise Wrong(f"good requests were answered {statuses}")
            for answer in found:
                check(answer)  # 503 is for what has waited too long, on a busy machine
            return found
        if case.ends:
            wire.end()
        found = wire.answers()
    for answer in found:
        check(answer)
    return found


def check(answer: Answer) -> None:
    """Check one answer."""
    if answer.status >= 400 and "content-length" in answer.headers and answer.body:
        problem = json.loads(answer.body)
        if answer.headers["content-type"] != "application/problem+json":
            raise Wrong(f"no problem: {answer}")
        if problem["status"] != answer.status:
            raise Wrong(f"another status: {answer}")
    if answer.status == 503:
        codes = {error["code"] for error in json.loads(answer.body)["errors"]}
        if codes <= {"shed.deadline", "shed.overload"} and codes:
            return
    if answer.status >= 500:
        raise Wrong(f"{answer}")


class Fuzzer:
    """Sends cases to a service."""

    def __init__(self, served: Served, token: str) -> None:
        self.served = served
        self.token = token
        self.counts = Counts()
        self.logged: list[str] = []
        Thread(target=self._listen, daemon=True).start()  # it would block when the pipe is full

    def _listen(self) -> None:
        for line in self.served.process.stdout or ():
            self.logged.append(line)

    def play(self, seed: int) -> None:
        """Send the case of a seed; an error names the seed."""
        case = Cases(seed, self.token).next()
        try:
            answers = play(case, self.served.port)
        except Exception as error:
            sent = b"".join(case.pieces)
            shown = sent.replace(self.token.encode(), b"<token>")[:1500]
            raise Wrong(
                f"seed {seed}, {case.name}: {error}\n{len(sent)} bytes: {shown!r}"
            ) from error
        self.counts.cases += 1
        self.counts.answers.update(answer.status for answer in answers)
        self.counts.hang_ups += not answers
        if self.counts.cases % BETWEEN == 0:
            self.look()

    def look(self) -> None:
        """Check that the service still answers and uses no more memory."""
        case = Case("probe", (request("/v1/match", self.token, GOOD["/v1/match"]),), good=1)
        play(case, self.served.port)
        if self.logged:
            raise Wrong(f"it logged: {self.logged[0]}")
        held = memory_of(self.served.process.pid)
        if self.counts.cases <= WARM_UP:
            self.counts.first_bytes = held
        self.counts.last_bytes = held
        if held > self.counts.first_bytes + MAY_GROW:
            raise Wrong(f"it grows: {self.counts}")


@contextmanager
def service() -> Iterator[tuple[Served, dict[str, str], str]]:
    """A new service, the tokens of its keys, and its database URL."""
    directory = Path(tempfile.mkdtemp(prefix="copse-fuzz-"))
    try:
        url = f"sqlite:///{directory / 'copse.sqlite3'}"
        upgrade(url)
        tokens = on_store(url, make_keys)
        with serving(
            COPSE_DATABASE_URL=url,
            COPSE_REQUEST_SECONDS=str(REQUEST_SECONDS),
            COPSE_LOG_LEVEL="error",
        ) as served:
            yield served, tokens, url
    finally:
        shutil.rmtree(directory)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer; returns 1 after a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.fuzz_http")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="number of cases, instead of minutes")
    parser.add_argument("--seed", type=int, help="seed of the first case (default: the clock)")
    given = parser.parse_args(arguments)
    seed = time.time_ns() // 1_000_000 % 10**9 * 1000 if given.seed is None else given.seed
    started = printed = time.monotonic()
    with service() as (served, tokens, _):
        fuzzer = Fuzzer(served, tokens["match"])
        while True:
            try:
                fuzzer.play(seed)
            except Wrong as wrong:
                sys.stderr.write(f"{wrong}\n")
                return 1
            seed += 1
            now = time.monotonic()
            is_last = (
                fuzzer.counts.cases >= given.cases
                if given.cases
                else (now - started >= given.minutes * 60)
            )
            if is_last or now - printed >= 10:
                printed = now
                sys.stderr.write(f"{now - started:.0f} s: {fuzzer.counts}\n")
            if is_last:
                return 0


if __name__ == "__main__":
    sys.exit(main())
