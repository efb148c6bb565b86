"""Finds the Java that Spark runs on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from spark.errors import JobError

NEEDED = 17
INSTALL = "apt-get install -y openjdk-17-jre-headless"


class NoJava(JobError):
    """Java is missing or too old."""

    code = 2

    def __init__(self, found: str) -> None:
        super().__init__(f"Spark needs Java {NEEDED}, but {found}; on Debian: sudo {INSTALL}")
        self.found = found


def check_java() -> str:
    """The path of a Java that is new enough; raises `NoJava` otherwise."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        raise NoJava("no java is in the PATH")
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoJava(f"{java} cannot be run ({error.strerror})") from None
    version = re.search(r'version "(\d+)', done.stderr)
    if version is None:
        raise NoJava(f"{java} is not a Java")
    if int(version[1]) < NEEDED:
        raise NoJava(f"{java} is Java {version[1]}")
    return java
