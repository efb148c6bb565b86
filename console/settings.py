"""What the console must know: where the API is, where it serves, how long a session lasts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """`root_path` is the path below which a proxy serves it, as in /console; empty at the top."""

    api_url: str
    root_path: str = ""
    session_minutes: float = 60

    def __post_init__(self) -> None:
        path = self.root_path.rstrip("/")
        if path and not path.startswith("/"):
            raise ValueError(f"a root path begins with a slash, unlike {self.root_path!r}")
        object.__setattr__(self, "root_path", path)
