"""What a job says when it cannot do what it was asked, and the exit code that goes with it.

JobError ── 1   something failed
  ├── NoJava ── 2          asked where it cannot run (`java.py`)
  ├── NoImpressions ── 3   a day is missing, or has no good row
  └── GateFailed ── 4      the statistics are kept and marked, and do not steer
"""


class JobError(Exception):
    """Told on one line, without a stack trace."""

    code = 1


class NoImpressions(JobError):
    """There is nothing to make statistics from."""

    code = 3

    def __init__(self, detail: str) -> None:
        super().__init__(f"{detail}; nothing was changed, the last statistics stay active")
        self.detail = detail


class GateFailed(JobError):
    """A version must not steer; why not, gate by gate."""

    code = 4

    def __init__(self, version: int, reasons: list[str]) -> None:
        told = "\n".join(f"  {reason}" for reason in reasons)
        super().__init__(
            f"version {version} is kept and not activated:\n{told}\n"
            f"look at it: GET /v1/statistics/{version}"
        )
        self.version = version
        self.reasons = reasons
