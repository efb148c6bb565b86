"""The index in a local file, so that a start need not read every campaign from the database.

    index-<rev>-<nonce>     what `Index.save` writes
    index.json              the current index's name, its place in the log, attributes, and the
                            statistics that it uses

`index.json` is written aside, synced and renamed into place after its index is complete, so a crash
at any time leaves the old pair or the new one. API keys are never in it: they are always read from
the database. One process writes to a directory at a time; any number read.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from campaigns.feed.view import NamedStatistics, Poisoned, View
from index import Attribute, Index, Limits, Schema

FORMAT = 4
"""Since 3 the index has its statistics, since 4 the categories of campaigns."""

_NAME = "index.json"


class NoIndexFile(ValueError):
    """The directory has no usable index."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A directory with the index of one place in the log."""

    directory: Path

    def save(self, view: View) -> None:
        """Save a view while no changes are applied to it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        place = view.place
        name = f"index-{place.rev}-{place.nonce or 'none'}"
        arranged, settled = view.arranged, view.settled
        view.index.save(self.directory / name)
        settled = settled and view.settled and view.arranged == arranged
        beside = {
            "format": FORMAT,
            "index": name,
            "epoch": place.epoch,
            "rev": place.rev,
            "nonce": place.nonce,
            # In the order of the index, removed ones included.
            "attributes": [(each.name, each.type.value) for each in view.index.schema],
            "catalogue": list(view.catalogue),
            # The version that the index uses; its content is in the index itself.
            "statistics": asdict(arranged) if arranged is not None else None,
            "settled": settled,
            "poisoned": [asdict(each) for each in view.poisoned.values()],
        }
        self._replace(orjson.dumps(beside))
        # Older files, and partial files of a process that was killed.
        for old in self.directory.glob("index[-.]*"):
            if old.name not in (name, _NAME):
                old.unlink(missing_ok=True)

    def load(self, limits: Limits) -> View:
        """The saved view, without advertisers and keys; `NoIndexFile` if it is not complete.

        Nothing is checked against the database: its place may be of another history.
        """
        try:
            beside = orjson.loads((self.directory / _NAME).read_bytes())
            if beside["format"] != FORMAT:
                raise ValueError(f"expected format {FORMAT}, found {beside['format']!r}")
            declared = dict(beside["attributes"])
            schema = Schema([Attribute(name, type) for name, type in declared.items()])
            index = Index.load(self.directory / beside["index"], schema, limits)
            view = View(index, {name: declared[name] for name in beside["catalogue"]})
            if beside["statistics"] is not None:
                view.arranged = NamedStatistics(**beside["statistics"])
            view.settled = bool(beside["settled"])
            for each in beside["poisoned"]:
                poisoned = Poisoned(**each)
                view.poisoned[poisoned.kind, poisoned.object_id] = poisoned
            view.arrive(beside["epoch"], beside["rev"], beside["nonce"])
            return view
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoIndexFile(f"{self.directory}: {error}") from error

    def _replace(self, content: bytes) -> None:
        """Write aside, sync to disk, then rename into place."""
        aside = self.directory / f"{_NAME}.{os.getpid()}"
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.directory / _NAME)
        directory = os.open(self.directory, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
