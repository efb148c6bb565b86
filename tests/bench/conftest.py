"""`python -m bench …` in this process."""

import sys
from collections.abc import Callable

import pytest

from bench import __main__ as command

Bench = Callable[..., list[str]]


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Run a command of bench; returns the lines that it printed."""

    def run(*arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["bench", *arguments])
        command.main()
        return capsys.readouterr().out.splitlines()

    return run
