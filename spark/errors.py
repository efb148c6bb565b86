"""The errors that end a job, each with its exit code.

JobError ── 1   the job failed
  ├── FileError ── 1       a file of the log cannot be read
  ├── WrongArguments ── 2  the arguments, or what they name, cannot be used
  ├── NoJava ── 2          Java is missing or too old (`java.py`)
  ├── NoImpressions ── 3   a day is missing, or has no valid row
  └── GateFailed ── 4      the new statistics are stored but not activated
"""

import re

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

SPARK_ERRORS = (PySparkException, Py4JError)
"""What Spark raises, in Python or from the JVM."""


class JobError(Exception):
    """Printed on stderr without a stack trace."""

    code = 1


class FileError(JobError):
    """A file of the log cannot be read; the detail names it."""


class WrongArguments(JobError):
    """The arguments, or what they name, cannot be used: the detail says what to change."""

    code = 2


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


_CAUSE = re.compile(
    r"^(?:Caused by: |: )?(?:[a-z][\w$]*\.)+(\w+(?:Exception|Error)\w*)(?:: (.*))?$", re.MULTILINE
)


_FILE = re.compile(r"reading file (\S+?)\.?(?=\s)")


def reason_of(error: Exception) -> str:
    """The innermost cause of an error of Spark, in one line, after the file that it concerns."""
    causes = _CAUSE.findall(str(error))
    detailed = [f"{name}: {detail}" for name, detail in causes if detail]
    if detailed:
        file = _FILE.search(str(error))
        return f"{file[1]}: {detailed[-1]}" if file else detailed[-1]
    said = str(error).strip().partition("\n")[0]
    return said or (causes[-1][0] if causes else type(error).__name__)


def exit_code(error: Exception) -> int:
    """2 where Spark lacks what a path or a table needs, such as a connector, or where files of a
    day have columns of other types; otherwise 1."""
    return 2 if _UNSUPPORTED.search(str(error)) else 1


_UNSUPPORTED = re.compile(
    r"UnsupportedFileSystemException|No FileSystem for scheme|ClassNotFoundException"
    r"|TABLE_OR_VIEW_NOT_FOUND|FAILED_TO_FIND_DATA_SOURCE|DATA_SOURCE_NOT_FOUND"
    r"|CANNOT_MERGE_"
)
