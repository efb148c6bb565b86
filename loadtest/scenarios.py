"""The scenarios: who comes, and what they do."""

from dataclasses import dataclass

MATCH, OPENRTB, CHURN, MIXED = "match", "openrtb", "campaign_churn", "mixed"

CHURN_SHARE = 0.05
"""Of the requests of `mixed`."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The users of the locustfile that take part, and what the run must therefore look after."""

    name: str
    users: tuple[str, ...]
    about: str
    writes: bool = False
    openrtb: bool = False
    statistics: bool = False
    """Whether statistics are activated in the middle."""

    @property
    def path(self) -> str | None:
        """Where most of it goes, which wrk can be sent to as well."""
        if self.name == CHURN:
            return None
        return "/v1/openrtb" if self.openrtb else "/v1/match"


SCENARIOS = {
    each.name: each
    for each in (
        Scenario(MATCH, ("MatchUser",), "ad servers ask which campaigns want a request"),
        Scenario(OPENRTB, ("OpenrtbUser",), "an exchange sends OpenRTB bid requests", openrtb=True),
        Scenario(
            CHURN,
            ("ChurnUser",),
            "campaign managers create, change, pause and delete",
            writes=True,
        ),
        Scenario(
            MIXED,
            ("MatchUser", "ChurnUser"),
            "95% matches, campaign managers in the background, new statistics in the middle",
            writes=True,
            statistics=True,
        ),
    )
}
