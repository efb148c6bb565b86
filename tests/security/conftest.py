"""A service to be attacked, which loses its patience soon; and applications in this process."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.app.conftest import template, tokens, url
from tests.app.serving import Served
from tests.security.fuzz_http import service


@dataclass(frozen=True)
class Target:
    """A running service, and the tokens of the keys in it."""

    served: Served
    tokens: dict[str, str]

    @property
    def port(self) -> int:
        return self.served.port


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    with service() as (served, tokens):
        yield Target(served, tokens)


__all__ = ["template", "tokens", "url"]
