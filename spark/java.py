"""The Java that Spark runs on: where it is, and what to type where it is not."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from spark.errors import JobError

NEEDED = 17
INSTALL = "apt-get install -y openjdk-17-jre-headless"


class NoJava(JobError):
    """There is no Java, or one that is too old."""

    code = 2

    def __init__(self, found: str) -> None:
        super().__init__(f"Spark needs Java {NEEDED}, {found}; on Debian: sudo {INSTALL}")
        self.found = found


def check_java() -> str:
    """The path of a Java that will do, or `NoJava`."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        raise NoJava("and there is none")
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoJava(f"and {java} does not run ({error.strerror})") from None
    version = re.search(r'version "(\d+)', told.stderr)
    if version is None:
        raise NoJava(f"and {java} is none")
    if int(version[1]) < NEEDED:
        raise NoJava(f"and {java} is Java {version[1]}")
    return java
