"""The package, its native core and the documents around them agree."""

import os
import tomllib
from importlib.metadata import version
from pathlib import Path

from app.observability.engine import RUST_NEEDED, current_engine

ROOT = Path(__file__).parent.parent
CARGO = tomllib.loads((ROOT / "index/native/Cargo.toml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_native_core_is_built_where_it_is_required() -> None:
    required = os.environ.get("REQUIRE_NATIVE") == "1"  # .ci/run says so
    assert current_engine().name == "native" or not required


def test_a_native_core_bears_the_version_of_the_package() -> None:
    assert current_engine().version in {version("copse"), None}


def test_the_crate_bears_the_version_of_the_package() -> None:
    assert CARGO["package"]["version"] == PROJECT["project"]["version"]


def test_the_installed_package_is_this_one() -> None:
    assert version("copse") == PROJECT["project"]["version"]


def test_the_rust_that_messages_name_is_the_one_that_the_crate_needs() -> None:
    assert CARGO["package"]["rust-version"] == RUST_NEEDED


def test_direct_dependencies_are_pinned() -> None:
    project = PROJECT["project"]
    extras = dict(project["optional-dependencies"])
    ranges = {pin.split(">=")[0] for pin in extras.pop("spark")}  # a cluster brings its own Spark
    pins = [*project["dependencies"], *(pin for extra in extras.values() for pin in extra)]
    assert [pin for pin in pins if "==" not in pin] == []
    assert ranges <= {pin.split("==")[0] for pin in extras["dev"]}
    crates = {
        name: crate if isinstance(crate, str) else crate["version"]
        for name, crate in CARGO["dependencies"].items()
    }
    assert {name: pin for name, pin in crates.items() if not pin.startswith("=")} == {}
