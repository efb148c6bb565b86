"""The engines that Copse is compared with: the interface of the Rust crate in `bench/native/`.

`bench/build.py` builds it on demand.
"""

class Flat:
    """A flat scan over contiguous programs: every expression, one after the other."""

    def __init__(self, schema: list[tuple[str, str]]) -> None: ...
    def insert(self, id: int, tree: str) -> None:
        """Append a JSON tree. Ids must ascend."""
    def match_ns(self, events: list[str]) -> list[int]:
        """Nanoseconds of the scan for each event, a JSON object, into a reused buffer."""
    def matching(self, event: str) -> list[int]:
        """The ids that match, ascending."""
    def bytes_held(self) -> int:
        """Bytes that a scan reads."""

class ATree:
    """The crate a-tree. Raises `ValueError` for what its language cannot express."""

    def __init__(self, schema: list[tuple[str, str]]) -> None: ...
    def insert(self, id: int, tree: str) -> None:
        """Insert a JSON tree."""
    def translate(self, tree: str) -> str:
        """A JSON tree in the crate's own language."""
    def match_ns(self, events: list[str]) -> list[int]:
        """Nanoseconds of the search and of sorting the ids, for each event."""
    def matching(self, event: str) -> list[int]:
        """The ids that match, ascending."""
    def bytes_held(self) -> int:
        """Bytes that the inserts allocated and have not freed."""

class Quamina:
    """The crate quamina. Raises `ValueError` for what its patterns cannot express."""

    def __init__(self, schema: list[tuple[str, str]]) -> None: ...
    def insert(self, id: int, tree: str) -> None:
        """Add the pattern of a JSON tree."""
    def translate(self, tree: str) -> str:
        """A JSON tree as a pattern."""
    def match_ns(self, events: list[str]) -> list[int]:
        """Nanoseconds of reading, matching and sorting the ids, for each event."""
    def matching(self, event: str) -> list[int]:
        """The ids that match, ascending."""
    def bytes_held(self) -> int:
        """Bytes that the inserts allocated and have not freed."""

class Paper:
    """An engine of the papers. Raises `ValueError` for what it cannot hold."""

    def __init__(
        self, name: str, schema: list[tuple[str, str]], setting: int | None = None
    ) -> None: ...
    @staticmethod
    def names() -> list[str]:
        """The names of all engines."""
    def learn(self, events: list[str]) -> None:
        """Take statistics and domains from events, before the first insert."""
    def insert(self, id: int, tree: str) -> None:
        """Insert a JSON tree, in place of the one that the id has."""
    def remove(self, id: int) -> bool:
        """Whether the id was there."""
    def maintain(self, events: list[str]) -> None:
        """What the paper does after a build or now and then, given recent events."""
    def match_ns(self, events: list[str]) -> list[int]:
        """Nanoseconds of the search and of ordering the ids, for each event."""
    def matching(self, event: str) -> list[int]:
        """The ids that match, ascending."""
    def check_invariants(self) -> None:
        """Raises if something is not as it should be."""
    def bytes_held(self) -> int:
        """Bytes that the engine has allocated and not freed."""
