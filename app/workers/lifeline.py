"""How a worker knows that the whole service ends: a pipe from the parent that never says anything.

A worker gets the same SIGTERM when the service ends and when only this worker is to be replaced. If
the service ends, or its parent has been killed, the pipe has been closed before.
"""

import select


class Lifeline:
    """The worker's end of the pipe; it owns it from now on."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def is_cut(self) -> bool:
        """Whether the service ends."""
        return bool(select.select([self._pipe], [], [], 0)[0])
