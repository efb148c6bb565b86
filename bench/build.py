"""Builds `bench._peers`, the Rust crate in `bench/native/`, if it is missing or out of date.

It is not part of the product and is not installed: the library is copied next to this file.
"""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

CRATE = Path(__file__).parent / "native"
LIBRARY = Path(__file__).parent / "_peers.abi3.so"


class CannotBuild(RuntimeError):
    """Rust is not installed, or the crate does not compile."""


def peers() -> ModuleType:
    """The module, built first if necessary."""
    if not is_current():
        build()
    return importlib.import_module("bench._peers")


def is_current() -> bool:
    """Whether the library is newer than all its sources."""
    if not LIBRARY.exists():
        return False
    language = CRATE.parents[1] / "index" / "native" / "src" / "language"
    sources = [CRATE / "Cargo.toml", *CRATE.glob("src/**/*.rs"), *language.glob("**/*.rs")]
    return LIBRARY.stat().st_mtime > max(source.stat().st_mtime for source in sources)


def build() -> None:
    """Compile the crate and copy the library."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise CannotBuild("the engines of bench/native need Rust (rustup.rs): no cargo found")
    print("Building bench/native (a minute, the first time)", file=sys.stderr)
    command = [cargo, "build", "--quiet", "--release", "--features", "python"]
    command += ["--manifest-path", str(CRATE / "Cargo.toml")]
    environment = {
        **os.environ,
        "PYO3_PYTHON": sys.executable,
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "CARGO_TARGET_DIR": str(CRATE / "target"),
    }
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        raise CannotBuild("bench/native does not compile; see the error above")
    built = CRATE / "target" / "release" / "lib_peers.so"
    unfinished = LIBRARY.with_suffix(".unfinished")
    shutil.copy(built, unfinished)
    unfinished.replace(LIBRARY)


if __name__ == "__main__":
    build()
