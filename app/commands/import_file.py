"""`copse import FILE`: import campaigns from NDJSON, with progress and the lines that failed."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from app.api.imports.pipeline import Batch, batches_of, import_all, result_line
from app.commands.store import ACTOR, with_store
from app.settings import Settings
from campaigns.campaign.imports import FAILED, LineResult, import_batch
from campaigns.errors import CampaignsError
from campaigns.store import Store

PIECE = 256 * 1024
SHOWN = 20
"""Failed lines that are shown on the terminal; --failures writes all of them."""


def add_to(commands: Any) -> None:
    parser = commands.add_parser("import", help="import campaigns from an NDJSON file")
    parser.add_argument("file", help="one campaign per line; - for standard input")
    parser.add_argument(
        "--failures",
        type=Path,
        metavar="FILE",
        help="write the results of failed lines to this file",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    with ExitStack() as stack:
        try:
            source = _open(options.file, stack)
            failures = _failures(options.failures, stack)
        except OSError as error:
            print(f"copse: {error.filename}: {error.strerror}", file=sys.stderr)
            return 2
        progress = _Progress(sys.stderr, failures)
        try:
            with_store(settings, lambda store: _import(store, source, progress))
        except CampaignsError:
            print(f"stopped after {progress.summary()}", file=sys.stderr)
            raise
        finally:
            progress.finish()
    print(progress.summary())
    return 1 if progress.counts[FAILED] else 0


def _open(name: str, stack: ExitStack) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    path = Path(name)
    return stack.enter_context(path.open("rb"))


def _failures(path: Path | None, stack: ExitStack) -> BinaryIO | None:
    return None if path is None else stack.enter_context(path.open("wb"))


async def _import(store: Store, source: BinaryIO, progress: "_Progress") -> None:
    async def pieces() -> AsyncIterator[bytes | None]:
        while piece := source.read(PIECE):
            yield piece

    await import_all(store, ACTOR, batches_of(pieces()), import_batch, progress.deliver)


class _Progress:
    """Counts the results and shows them: on a terminal in one line, else in a line now and then."""

    def __init__(self, stream: TextIO, failures: BinaryIO | None) -> None:
        self.counts: Counter[str] = Counter()
        self._stream = stream
        self._failures = failures
        self._began = time.monotonic()
        self._shown_at = self._began
        self._on_terminal = stream.isatty()

    def deliver(self, batch: Batch, results: list[LineResult]) -> None:
        for number, result in zip(batch.numbers, results, strict=True):
            self.counts[result.outcome] += 1
            if result.outcome == FAILED:
                self._fail(number, result)
        now = time.monotonic()
        if now - self._shown_at >= (0.2 if self._on_terminal else 5.0):
            self._shown_at = now
            self._show()

    def finish(self) -> None:
        if self._on_terminal:
            self._show()
            self._stream.write("\n")

    def _fail(self, number: int, result: LineResult) -> None:
        if self._failures is not None:
            self._failures.write(result_line(number, result))
        if self.counts[FAILED] <= SHOWN:
            for problem in result.problems:
                where = f" {problem.pointer}" if problem.pointer else ""
                self._write(f"line {number}:{where} {problem.detail}")
        elif self.counts[FAILED] == SHOWN + 1:
            self._write("more lines failed; use --failures FILE for all of them")

    def _show(self) -> None:
        total = self.counts.total()
        rate = total / max(0.001, time.monotonic() - self._began)
        self._write(f"{self.summary()}; {rate:,.0f} a second", over=True)

    def summary(self) -> str:
        """The number of lines by outcome."""
        some = [f"{count:,} {outcome}" for outcome, count in sorted(self.counts.items())]
        return f"{self.counts.total():,} lines: {', '.join(some) or 'none'}"

    def _write(self, text: str, over: bool = False) -> None:
        if self._on_terminal:
            self._stream.write(f"\r\x1b[K{text}" + ("" if over else "\n"))
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
