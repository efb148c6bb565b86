"""A service with short timeouts to attack, and applications in this process."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.app.conftest import template, tokens, url
from tests.app.serving import Served
from tests.security.fuzz_http import service


@dataclass(frozen=True)
class Target:
    """A running service, the tokens of its keys, and its database."""

    served: Served
    tokens: dict[str, str]
    url: str

    @property
    def port(self) -> int:
        return self.served.port


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    with service() as found:
        yield Target(*found)


__all__ = ["template", "tokens", "url"]
