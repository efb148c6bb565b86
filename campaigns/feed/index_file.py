"""The index in a local file, so that a start need not read every campaign from the database.

    index-<rev>-<nonce>     what `Index.save` writes
    index.json              which of them counts, its place in the log, attributes, categories, and
                            the statistics that it is arranged by

`index.json` is written aside, synced and renamed into place after its index is whole, so a crash at
any moment leaves the old pair or the new one. Keys are never in it: what may log in is always read
from the database. One process writes to a directory at a time; any number read.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from campaigns.campaign.categories import for_index
from campaigns.feed.view import NamedStatistics, Poisoned, View
from index import Attribute, Index, Limits, Schema

FORMAT = 3
"""Campaigns have their categories beside their targeting since 2, the index its statistics since 3.
"""

_NAME = "index.json"


class NoIndexFile(ValueError):
    """There is no index in the directory that can be used."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A directory that holds the index of one place in the log."""

    directory: Path

    def save(self, view: View) -> None:
        """Keep a view that nobody is applying to. It takes as long as writing the index does."""
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
            # In the order in which the index has them, removed ones included.
            "attributes": [(each.name, each.type.value) for each in view.index.schema],
            "catalogue": list(view.catalogue),
            "categories": orjson.Fragment(view.categories.to_json()),
            # The index has them inside; this is which, if it is arranged by one version alone.
            "statistics": asdict(arranged) if arranged is not None else None,
            "settled": settled,
            "poisoned": [asdict(each) for each in view.poisoned.values()],
        }
        self._replace(orjson.dumps(beside))
        # Older ones, and what was being written when somebody was killed.
        for old in self.directory.glob("index[-.]*"):
            if old.name not in (name, _NAME):
                old.unlink(missing_ok=True)

    def load(self, limits: Limits) -> View:
        """The view that was saved, without advertisers and keys; `NoIndexFile` if it is not whole.

        It checks nothing against the database: its place may be of another history.
        """
        try:
            beside = orjson.loads((self.directory / _NAME).read_bytes())
            if beside["format"] != FORMAT:
                raise ValueError(f"expected format {FORMAT}, found {beside['format']!r}")
            declared = dict(beside["attributes"])
            schema = Schema([Attribute(name, type) for name, type in declared.items()])
            index = Index.load(self.directory / beside["index"], schema, for_index(limits))
            view = View(index, {name: declared[name] for name in beside["catalogue"]})
            view.categories.fill(beside["categories"])
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
        """Write aside, make sure that it is on disk, and only then let it count."""
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
