"""The settings of a Locust process, in environment variables. `make loadtest` sets them; to start
Locust by hand, set them yourself (`docs/loadtest.md`)."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

PREFIX = "LOADTEST_"


class NoToken(RuntimeError):
    """Locust was started without an API key."""

    def __init__(self) -> None:
        super().__init__(
            f"{PREFIX}TOKEN is not set: create a key with `copse key create loadtest --scope match "
            "--scope campaigns:read --scope campaigns:write` and set the variable to its token"
        )


class Settings(BaseModel, frozen=True):
    """The variables, without their prefix and in lower case."""

    token: str
    seed: int = 1
    bodies: Path | None = None
    """A file with the requests, one per line; without it they are generated."""

    texts: Path | None = None
    """A file with targetings for campaigns, one per line; without it they are generated."""

    directory: Path | None = None
    """The folder for latencies and sampled answers; without it neither is recorded."""

    pace: float | None = None
    """Matches per second of each user; without it users do not pause."""

    writes: float | None = None
    """Most writes per second of this process."""

    churners: int = 0
    """Number of users that write; 0 uses the weights of the user classes."""

    share: float | None = None
    """Largest share of writes among all requests; without it there is no limit."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Read the settings; raises `NoToken`."""
        given = {
            name: value
            for name in cls.model_fields
            if (value := environment.get(PREFIX + name.upper()))
        }
        if "token" not in given:
            raise NoToken
        return cls.model_validate(given)

    def variables(self) -> dict[str, str]:
        """The environment variables that `from_environment` reads."""
        given = self.model_dump(exclude_none=True)
        return {PREFIX + name.upper(): str(value) for name, value in given.items()}
