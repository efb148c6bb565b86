"""Java for the tests of Spark; Debian's is installed where it is missing."""

from pathlib import Path

from spark.java import INSTALL, NoJava, check_java
from testkit.debian import installed


def java_there() -> None:
    """Make sure that a suitable Java is installed."""
    installed(INSTALL.split()[-1], _find)


def _find() -> Path | None:
    try:
        return Path(check_java())
    except NoJava:
        return None
