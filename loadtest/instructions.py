"""What a process of Locust is told, in environment variables: `make loadtest` sets them, and so
does whoever starts Locust by hand (`docs/loadtest.md`)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PREFIX = "LOADTEST_"


class NoToken(RuntimeError):
    """Locust was started without a key."""

    def __init__(self) -> None:
        super().__init__(
            f"{PREFIX}TOKEN is not set: make a key with `copse key create loadtest --scope match "
            "--scope campaigns:read --scope campaigns:write` and put its token there"
        )


@dataclass(frozen=True, kw_only=True)
class Instructions:
    """The variables, without their prefix and in lower case."""

    token: str
    seed: int = 1
    bodies: Path | None = None
    """The requests, a line each; without it they are generated."""

    texts: Path | None = None
    """The targetings that campaigns are given, a line each; without it they are generated."""

    directory: Path | None = None
    """Where ledgers and samples go; without it there are none but Locust's own figures."""

    pace: float | None = None
    """Matches a second of each user; without it each asks again at once."""

    writes: float | None = None
    """Writes a second of this process, at the most."""

    churners: int = 0
    """So many users write, whatever the weights say; 0 leaves it to the weights."""

    share: float | None = None
    """The share of all requests that are writes; without it there is no bound."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Instructions":
        """`NoToken` if there is none."""

        def told(name: str) -> str:
            return environment.get(PREFIX + name, "")

        if not told("TOKEN"):
            raise NoToken
        return cls(
            token=told("TOKEN"),
            seed=int(told("SEED") or 1),
            bodies=Path(told("BODIES")) if told("BODIES") else None,
            texts=Path(told("TEXTS")) if told("TEXTS") else None,
            directory=Path(told("DIRECTORY")) if told("DIRECTORY") else None,
            pace=float(told("PACE")) if told("PACE") else None,
            writes=float(told("WRITES")) if told("WRITES") else None,
            churners=int(told("CHURNERS") or 0),
            share=float(told("SHARE")) if told("SHARE") else None,
        )

    def variables(self) -> dict[str, str]:
        """What `from_environment` reads back."""
        return {
            PREFIX + name.upper(): str(value)
            for name, value in vars(self).items()
            if value is not None
        }
