"""A predicate and where it stands in the text of its expression, for warnings about it."""

from collections.abc import Iterator, Sequence

from index.language.derived import Bucket
from index.language.lexer import Token, start_of
from index.language.predicate import Predicate

Span = tuple[int, int]
"""Offsets in characters, the end exclusive."""


class WrittenPredicate:
    """A predicate as it was read. Its places are computed only when they are asked for."""

    __slots__ = ("_first", "_last", "_places", "_tokens", "_values", "predicate")

    def __init__(
        self,
        predicate: Predicate,
        values: Sequence[object],
        tokens: Sequence[Token],
        first: int,
        last: int,
        places: Sequence[int],
    ) -> None:
        self.predicate = predicate
        self._values = values
        self._tokens = tokens
        self._first = first
        self._last = last
        self._places = places

    @property
    def span(self) -> Span:
        """The whole predicate."""
        return start_of(self._tokens[self._first]), self._tokens[self._last].end()

    @property
    def name_span(self) -> Span:
        """Its attribute."""
        # bucket ( name
        within = 2 if isinstance(self.predicate.derived, Bucket) else 0
        token = self._tokens[self._first + within]
        return start_of(token), token.end()

    def values(self) -> Iterator[tuple[object, Span]]:
        """Its values as they were written, repeated ones too, with their places."""
        for value, place in zip(self._values, self._places, strict=True):
            token = self._tokens[place]
            yield value, (start_of(token), token.end())
