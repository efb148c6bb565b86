"""A Java for the tests of Spark: Debian's is installed where it is missing, as servers are."""

import os
import shutil
import subprocess

from spark.java import INSTALL, NoJava, check_java


def java_there() -> None:
    """Nothing, once there is a Java; else `NoJava` says what to type."""
    try:
        check_java()
        return
    except NoJava:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ("apt-get update -qq", f"{INSTALL} -qq"):
        subprocess.run(command.split(), env=environment, check=True, capture_output=True)
    check_java()
