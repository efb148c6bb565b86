"""A copy of the package `campaigns` in which a process kills itself at a named step.

The product has no switch for it: the steps are put into the text of the copy. They do nothing until
a file beside it names one of them, so one copy serves for many lives:

    directory/campaigns/…           the copy
    directory/index, tests, …       as they are
    directory/armed                 the step at which to die
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.feed.workers import ROOT, Process, worker

DYING = """

def _armed(step):
    import pathlib
    armed = pathlib.Path("armed")
    return armed.exists() and armed.read_text() == step


def _die(step):
    import os, signal
    if _armed(step):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass(frozen=True)
class Patch:
    """A piece of a file of `campaigns`, and what stands there in the copy."""

    file: str
    text: str
    becomes: str


class Copy:
    """The patched copy, in a directory of its own."""

    def __init__(self, directory: Path, patches: Sequence[Patch]) -> None:
        self._directory = directory
        unread = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "campaigns", directory / "campaigns", ignore=unread)
        for name in ("index", "migrations", "tests"):
            (directory / name).symlink_to(ROOT / name)
        for patch in patches:
            path = directory / "campaigns" / patch.file
            source = path.read_text()
            assert source.count(patch.text) == 1, f"{patch.text!r} is not there once"
            source = source.replace(patch.text, patch.becomes)
            path.write_text(source.removesuffix(DYING) + DYING)

    def worker(self, *arguments: str | Path) -> AbstractContextManager[Process]:
        """A worker that runs the copy."""
        return worker(*arguments, directory=self._directory)

    @contextmanager
    def dying(self, step: str) -> Iterator[None]:
        """Within the block, a process that comes to the step dies."""
        armed = self._directory / "armed"
        aside = armed.with_suffix(".new")
        aside.write_text(step)
        aside.replace(armed)
        try:
            yield
        finally:
            armed.unlink()
