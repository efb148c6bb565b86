"""Directories of the settings: checked at the start, so that a mistake is not found by a worker."""

import tempfile
from pathlib import Path

from app.settings import Settings, SettingsError, variable
from app.workers import peers

FIELDS = ("index_directory", "impressions_dir", "run_directory")


def check_directories(settings: Settings) -> None:
    """Make each directory, and write to it; `SettingsError` names every one that is unusable."""
    wrong = []
    for field in FIELDS:
        directory: Path | None = getattr(settings, field)
        if directory is None:
            continue
        try:
            _check(directory, private=field == "run_directory")
        except OSError as error:
            reason = error.strerror or str(error)
            wrong.append(f"{variable(field)}={str(directory)!r}: cannot write there: {reason}")
    if wrong:
        raise SettingsError("\n".join(wrong))


def _check(directory: Path, private: bool) -> None:
    if private:
        peers.prepare(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=directory):
        pass
