"""Values that are computed from an attribute of the event: predicates compare those in its place.

    country = 'us' ignoring case          Folded: the text in one case
    bucket(user.id, 'spring') < 1000      Bucket: a stable number from 0 to 9,999

A derived attribute is a name of its own for everything that tells attributes apart (the normal
form, the engines): that of its attribute, then a NUL, which no name has. The native core has the
same two (`schema.rs`, `bucket.rs`).
"""

import hashlib
from typing import Any

from index.language.folding import fold
from index.language.names import written_name
from index.language.types import Type

BUCKETS = 10_000


class Derived(str):
    """What is computed from the attribute `base`."""

    base: str
    source: Type
    """The type of that attribute."""
    kind: str
    """The word of the JSON form."""
    sources: frozenset[Type]
    """The types of attributes that have it."""

    def of(self, value: Any) -> Any:
        """The derived value of a value that is present."""
        raise NotImplementedError

    @property
    def type(self) -> Type:
        """The type of what is derived."""
        return self.source

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the JSON form has after the attribute."""
        return ()


class Folded(Derived):
    """The text, or the texts of a list, without upper and lower case."""

    kind = "fold"
    sources = frozenset({Type.STRING, Type.STRING_LIST})

    def __new__(cls, base: str, source: Type) -> "Folded":
        self = super().__new__(cls, f"{base}\0{cls.kind}")
        self.base, self.source = base, source
        return self

    def __getnewargs__(self) -> tuple[str, Type]:  # type: ignore[override]
        return self.base, self.source

    def of(self, value: Any) -> Any:
        return fold(value) if isinstance(value, str) else frozenset(map(fold, value))


class Bucket(Derived):
    """A number from 0 to 9,999 that only the value and the salt determine."""

    kind = "bucket"
    sources = frozenset({Type.STRING, Type.INT})
    salt: str

    def __new__(cls, base: str, source: Type, salt: str) -> "Bucket":
        self = super().__new__(cls, f"{base}\0{cls.kind}\0{salt}")
        self.base, self.source, self.salt = base, source, salt
        return self

    def __getnewargs__(self) -> tuple[str, Type, str]:  # type: ignore[override]
        return self.base, self.source, self.salt

    def of(self, value: Any) -> int:
        digest = hashlib.sha256(f"{self.salt}\0{value}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % BUCKETS

    @property
    def type(self) -> Type:
        return Type.INT

    @property
    def arguments(self) -> tuple[str, ...]:
        return (self.salt,)

    def written(self) -> str:
        """As it stands in an expression."""
        salt = self.salt.replace("'", "''")
        return f"bucket({written_name(self.base)}, '{salt}')"
