"""The plan of a run: the options of the command line."""

from dataclasses import dataclass
from pathlib import Path

from loadtest.scenarios import SCENARIOS, Scenario

RAMP_SECONDS = 3
"""The start of Locust's run, while its users start: not counted."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run."""

    scenario_name: str = "mixed"
    campaigns: int = 100_000
    users: int = 32
    seconds: int = 60
    workers: int = 2
    processes: int = 2
    """Locust processes."""

    rate: float | None = None
    """Matches per second, all users together; without it users do not pause."""

    writes: float | None = None
    """Most campaign writes per second."""

    seed: int = 1
    bodies: int = 10_000
    """Number of different requests."""

    wrk_seconds: int = 5
    """How long wrk measures the service before Locust starts; 0 skips it."""

    reports: Path = Path("reports/loadtest")

    @property
    def scenario(self) -> Scenario:
        return SCENARIOS[self.scenario_name]

    @property
    def command(self) -> str:
        """The command that repeats this run."""
        options = {
            "SCENARIO": self.scenario_name,
            "CAMPAIGNS": self.campaigns,
            "USERS": self.users,
            "DURATION": self.seconds,
            "WORKERS": self.workers,
            "PROCESSES": self.processes,
            "RATE": self.rate,
            "WRITES": self.writes,
            "SEED": self.seed,
        }
        given = " ".join(f"{name}={value}" for name, value in options.items() if value is not None)
        return f"make loadtest {given}"
