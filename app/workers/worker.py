"""One of several workers, started by `supervisor.py`: `python -m app.workers.worker`."""

import argparse
import ctypes
import os
import signal
import socket
import sys

from app.observability import logging as logs
from app.server.uvicorn import serve
from app.settings import Settings
from app.workers.heartbeat import STARTED, Heartbeat
from app.workers.lifeline import Lifeline

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve on a socket that is already open, until a signal arrives."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--listener", type=int, required=True)
    parser.add_argument("--pipe", type=int, required=True)
    parser.add_argument("--lifeline", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    options = parser.parse_args()
    _end_with_parent(options.parent)

    heartbeat = Heartbeat(options.pipe)
    settings = Settings.from_environment(os.environ)
    logs.configure(settings.log_level, settings.log_format, options.number)
    with socket.socket(fileno=options.listener) as listener:
        serve(
            settings,
            listener,
            lambda _: heartbeat.send(STARTED),
            options.number,
            heartbeat,
            Lifeline(options.lifeline),
        )
    return 0


def _end_with_parent(parent: int) -> None:
    """Get SIGTERM when the parent is killed, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it ended before the call
            sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
