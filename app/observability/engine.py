"""The engine that the service runs on: the native core, or the reference if it is not built."""

from dataclasses import dataclass
from typing import Literal

try:
    from index import _native
except ImportError:
    _native_version = None
else:
    _native_version = _native.__version__

# As in index/native/Cargo.toml.
RUST_NEEDED = "1.88"


@dataclass(frozen=True)
class EngineInfo:
    """The engine in use; `version` is that of the native core."""

    name: Literal["native", "reference"]
    version: str | None

    def __str__(self) -> str:
        if self.version is not None:
            return f"native core {self.version}"
        return (
            "the native core is not built: serving with the reference engine, which is slower; "
            f"install Rust >= {RUST_NEEDED} and run make setup"
        )


def current_engine() -> EngineInfo:
    """The best engine that this installation has."""
    if _native_version is None:
        return EngineInfo("reference", None)
    return EngineInfo("native", _native_version)
