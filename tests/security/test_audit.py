"""An audit that could not run never passes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.security.audit import KNOWN_HOLE, Audit, crates, exit_code, python_packages


def report(*packages: tuple[str, str, list[str]]) -> str:
    return json.dumps(
        {
            "dependencies": [
                {"name": name, "version": version, "vulns": [{"id": id} for id in ids]}
                for name, version, ids in packages
            ]
        }
    )


NOW = report(("orjson", "3.13.0", []), ("starlette", "1.10.0", ["PYSEC-1"]))
KNOWN = report(("jinja2", "2.4.1", ["PYSEC-2014-8"]))


def answering(known: str, now: str, complaint: str = "") -> Audit:
    """Run with a pip-audit that prints this output."""

    def run(command: Sequence[str]) -> tuple[str, str]:
        is_proof = any(word.startswith("--requirement=") for word in command)
        return (known if is_proof else now), complaint

    return python_packages(run)


def test_holes_are_reported_and_fail() -> None:
    audit = answering(KNOWN, NOW)
    assert audit.holes == ("starlette 1.10.0: PYSEC-1",)
    assert exit_code([audit]) == 1
    assert "1 known holes\n  starlette 1.10.0: PYSEC-1" in str(audit)


def test_none_is_a_pass_only_if_the_database_knows_of_holes() -> None:
    clean = report(("orjson", "3.13.0", []))
    assert exit_code([answering(KNOWN, clean)]) == 0
    deaf = answering(report(("jinja2", "2.4.1", [])), clean)
    assert deaf.not_run is not None
    assert KNOWN_HOLE in deaf.not_run
    assert exit_code([deaf]) == 2


@pytest.mark.parametrize("known", ["", "not JSON"])
def test_a_database_that_does_not_answer_is_reported(known: str) -> None:
    away = answering(known, NOW, "Traceback\nConnectionError: no route to pypi.org")
    assert str(away) == "Python packages: NOT RUN: ConnectionError: no route to pypi.org"
    assert exit_code([away]) == 2


def test_one_that_ran_does_not_hide_one_that_did_not(tmp_path: Path) -> None:
    away = crates(tmp_path)
    assert away.not_run
    assert exit_code([Audit("x"), away]) == 2
    assert exit_code([Audit("x", ("a hole",)), away]) == 1
