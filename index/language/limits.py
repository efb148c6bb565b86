"""How large an expression may be. Exceeding a limit is an error, never a crash."""

from dataclasses import dataclass

MAX_DEPTH = 64
"""The highest `depth` that can be set: trees are compared by recursion, and one level of
parentheses can be three levels of a tree."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one expression."""

    text_bytes: int = 64 * 1024
    """Bytes of text, as UTF-8."""
    predicates: int = 4096
    """Predicates, counting every occurrence."""
    depth: int = 64
    """Nesting: each parenthesis and each `not` is one deeper."""
    set_values: int = 100_000
    """Values in one set, repeated ones included."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"the limit {name} must be at least 1")
        if self.depth > MAX_DEPTH:
            raise ValueError(f"the limit depth must be at most {MAX_DEPTH}, got {self.depth}")
