"""The scenarios: which users take part, and what they do."""

from dataclasses import dataclass

MATCH, OPENRTB, CHURN, MIXED = "match", "openrtb", "campaign_churn", "mixed"

CHURN_SHARE = 0.05
"""Share of writes among the requests of `mixed`."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The user classes of the locustfile that take part, and what the run must prepare."""

    name: str
    users: tuple[str, ...]
    writes: bool = False
    openrtb: bool = False
    statistics: bool = False
    """Whether statistics are activated in the middle of the run."""

    @property
    def path(self) -> str | None:
        """The route of the matches, which wrk measures as well."""
        if self.name == CHURN:
            return None
        return "/v1/openrtb" if self.openrtb else "/v1/match"


SCENARIOS = {
    each.name: each
    for each in (
        Scenario(MATCH, ("MatchUser",)),
        Scenario(OPENRTB, ("OpenrtbUser",), openrtb=True),
        Scenario(CHURN, ("ChurnUser",), writes=True),
        Scenario(MIXED, ("MatchUser", "ChurnUser"), writes=True, statistics=True),
    )
}
