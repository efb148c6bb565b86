"""The documents point at files that exist, and the import linter sees every package."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def documents() -> list[Path]:
    """Every Markdown file that git tracks or would; without git, all but the build's."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0 and listing.stdout:
        return [path for name in listing.stdout.splitlines() if (path := ROOT / name).exists()]
    hidden = {".venv", "target"}
    return [path for path in ROOT.rglob("*.md") if not hidden & set(path.parts)]


def test_there_are_documents() -> None:
    names = {path.name for path in documents()}
    assert {"README.md", "ARCHITECTURE.md", "CHANGELOG.md"} <= names


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    text = FENCE.sub("", document.read_text())
    targets = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    broken = [target for target in targets if target and not (document.parent / target).exists()]
    assert broken == []


def test_the_import_linter_sees_every_package() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    packages = (
        "app",
        "bench",
        "campaigns",
        "console",
        "index",
        "loadtest",
        "migrations",
        "spark",
        "testkit",
    )
    assert config["root_packages"] == [name for name in packages if (ROOT / name).is_dir()]


@pytest.mark.parametrize("package", ["bench", "loadtest"])
def test_only_its_own_tests_import_a_package_beside_the_product(package: str) -> None:
    """What others need of it belongs into `testkit`."""
    own = ROOT / "tests" / package
    importers = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if own not in path.parents and package in imported_packages(path)
    ]
    assert importers == []


def imported_packages(path: Path) -> set[str]:
    """The first names of all that a module imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    froms = {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    imports = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    return {name.partition(".")[0] for name in froms | imports}
