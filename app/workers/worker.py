"""One of several workers, started by `workers.py`: `python -m app.worker`."""

import argparse
import ctypes
import os
import signal
import socket
import sys

from app.observability import logging as logs
from app.server.uvicorn import serve
from app.settings import Settings
from app.workers.heartbeat import STARTED, Heart

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve on a socket that is open already, until a signal comes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--listener", type=int, required=True)
    parser.add_argument("--tell", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    options = parser.parse_args()
    _end_with_parent(options.parent)

    heart = Heart(options.tell)
    settings = Settings.from_environment(os.environ)
    logs.configure(settings.log_level, settings.log_format, options.number)
    with socket.socket(fileno=options.listener) as listener:
        serve(settings, listener, lambda _: heart.say(STARTED), options.number, heart)
    return 0


def _end_with_parent(parent: int) -> None:
    """A parent that was killed leaves nobody behind, where the system can see to it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it ended before we could ask
            sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
