"""What an action tells about the fault that it injects."""

from dataclasses import dataclass


@dataclass
class Effect:
    """What was done, and to which host, if not to both; `broken` is a promise that did not hold, as
    `kind: detail` of a violation."""

    message: str = ""
    host: int | None = None
    broken: str = ""
