"""`copse serve` whose matches take a fixed time, so that little traffic is an overload.

    python -m testkit.slow_service MILLISECONDS OPTION…      options as of `copse serve`

The time is slept, in the worker's only thread: the worker can do nothing else meanwhile, as in a
match of a very large index, but leaves the CPU to the clients on the same machine.
"""

import sys
from time import sleep
from typing import Any

from app.cli import main
from app.match import single


def slow_down(seconds: float) -> None:
    """Add a fixed time to every match of this process."""
    ask = single.ask

    def slow(*arguments: Any, **more: Any) -> bytes:
        sleep(seconds)
        return ask(*arguments, **more)

    single.ask = slow


if __name__ == "__main__":
    slow_down(float(sys.argv[1]) / 1000)
    sys.exit(main(["serve", *sys.argv[2:]]))
