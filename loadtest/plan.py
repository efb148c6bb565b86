"""What is to be run: everything that the command line says."""

from dataclasses import dataclass
from pathlib import Path

from loadtest.scenarios import SCENARIOS, Scenario

RAMP_SECONDS = 3
"""At the beginning of Locust's run, while its users arrive: not counted."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run."""

    scenario_name: str = "mixed"
    campaigns: int = 100_000
    users: int = 32
    seconds: int = 60
    workers: int = 2
    processes: int = 2
    """Of Locust."""

    rate: float | None = None
    """Matches a second, all users together; without it each asks again at once."""

    writes: float | None = None
    """Of campaigns, a second, at the most."""

    seed: int = 1
    bodies: int = 10_000
    """Different requests."""

    wrk_seconds: int = 5
    """How long wrk drives the same service before Locust does; 0 leaves it out."""

    reports: Path = Path("reports/loadtest")

    @property
    def scenario(self) -> Scenario:
        return SCENARIOS[self.scenario_name]

    @property
    def command(self) -> str:
        """What runs this again."""
        told = {
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
        given = " ".join(f"{name}={value}" for name, value in told.items() if value is not None)
        return f"make loadtest {given}"
