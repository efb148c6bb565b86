"""The errors that end a job, each with its exit code.

JobError ── 1   the job failed
  ├── NoJava ── 2          Java is missing or too old (`java.py`)
  ├── NoImpressions ── 3   a day is missing, or has no valid row
  └── GateFailed ── 4      the new statistics are stored but not activated
"""


class JobError(Exception):
    """Printed on stderr without a stack trace."""

    code = 1


class NoImpressions(JobError):
    """The log has no rows to build statistics from."""

    code = 3

    def __init__(self, detail: str) -> None:
        super().__init__(f"{detail}; nothing was changed, the last statistics stay active")
        self.detail = detail


class GateFailed(JobError):
    """A version must not be activated; `reasons` has a line for each gate that it failed."""

    code = 4

    def __init__(self, version: int, reasons: list[str]) -> None:
        lines = "\n".join(f"  {reason}" for reason in reasons)
        super().__init__(
            f"version {version} is stored but not activated:\n{lines}\n"
            f"inspect it: GET /v1/statistics/{version}"
        )
        self.version = version
        self.reasons = reasons
