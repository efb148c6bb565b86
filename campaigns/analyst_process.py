"""`python -m campaigns.analyst_process`: runs what `Analyst` asks for, until its input ends."""

import os
import pickle
import signal
import struct
import sys
from typing import BinaryIO

_LENGTH = struct.Struct("<Q")
_NICENESS = 5
"""Matches come first, also where cores are few."""

_CPU_SECONDS = 10
"""An analysis that takes more ends the process."""


def answer(question: bytes) -> bytes:
    """Whether the function succeeded, and its result or exception."""
    try:
        function, arguments = pickle.loads(question)
        return pickle.dumps((True, function(*arguments)))
    except Exception as error:
        return pickle.dumps((False, error))


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer one question after the other."""
    while len(head := questions.read(_LENGTH.size)) == _LENGTH.size:
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        answered = answer(questions.read(*_LENGTH.unpack(head)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(_LENGTH.pack(len(answered)) + answered)
        answers.flush()


def main() -> int:
    # The worker ends this process by closing its input, also when it is killed.
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    os.nice(_NICENESS)
    serve(sys.stdin.buffer, sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
