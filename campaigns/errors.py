"""The errors of the store. The caller maps them to its own answers.

    CampaignsError
    ├── InvalidFields           invalid fields, with a problem for each
    ├── NotFound                the object does not exist
    ├── Refused                 valid, but not possible in the current state
    │   ├── VersionConflict     another writer was first; has the current version
    │   ├── TransitionRefused   the current status has no such transition
    │   ├── Final               an archived campaign cannot change
    │   ├── Taken               another object has this name or external id
    │   ├── AttributeInUse      campaigns use the attribute; names them
    │   ├── OperatorInUse       campaigns call the operator; names them
    │   ├── TooManyOperators    there are as many operators as there may be
    │   ├── CatalogueFull       the catalogue has as many attributes as it may have
    │   ├── BuiltIn             a built-in attribute cannot be written
    │   ├── AdvertiserInUse     the advertiser has campaigns
    │   ├── StillActive         an active campaign cannot be deleted
    │   ├── GateClosed          the statistics did not pass the gates; has the findings
    │   ├── NoneActive          no statistics are active, so none can be rolled back
    │   └── SampleGone          the sampled requests of old statistics are no longer kept
    ├── BadCursor               not a cursor of this list
    ├── IdempotencyError
    │   ├── KeyReused           the same idempotency key with another request
    │   └── InFlight            another request with this key was done at the same time
    ├── DatabaseUnavailable     the database does not answer; a later attempt may succeed
    ├── AnalysisFailed          the process that analyses expressions has failed
    ├── Contended               the catalogue kept changing during the check
    └── BadDatabaseUrl          not a supported database

The message of each names the offending values; those that callers use are attributes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from index import ExpressionError


class CampaignsError(Exception):
    """The base of all errors of the store."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One problem with the fields of a request: `pointer` is an RFC 6901 pointer into them, `code`
    is stable; for targeting, `expression` has the place and a hint."""

    pointer: str
    code: str
    detail: str
    expression: ExpressionError | None = None


class InvalidFields(CampaignsError):
    """Invalid fields."""

    def __init__(self, *problems: FieldProblem) -> None:
        super().__init__("; ".join(f"{p.pointer or '/'}: {p.detail}" for p in problems))
        self.problems: tuple[FieldProblem, ...] = problems


class NotFound(CampaignsError):
    """The object does not exist."""

    def __init__(self, kind: str, object_id: int | str) -> None:
        super().__init__(f"there is no {kind} {object_id}")
        self.kind = kind


class Refused(CampaignsError):
    """Valid, but not possible in the current state."""


class VersionConflict(Refused):
    """The version that the writer has seen is not the current one."""

    def __init__(self, kind: str, object_id: int | str, expected: int, current: int) -> None:
        super().__init__(f"the {kind} {object_id} is at version {current}, not {expected}")
        self.expected = expected
        self.current = current


class TransitionRefused(Refused):
    """There is no transition from one status to the other."""

    def __init__(self, kind: str, object_id: int | str, current: str, wanted: str) -> None:
        super().__init__(f"the {kind} {object_id} is {current} and cannot become {wanted}")


class Final(Refused):
    """An archived campaign cannot change."""

    def __init__(self, campaign_id: int) -> None:
        super().__init__(f"the campaign {campaign_id} is archived and cannot change")


class Taken(Refused):
    """Another object has this name or external id."""

    def __init__(self, kind: str, field: str, value: str) -> None:
        article = "an" if kind[0] in "aeiou" else "a"
        super().__init__(f"there is already {article} {kind} with {field} {value!r}")
        self.field = field


class AttributeInUse(Refused):
    """Campaigns use the attribute, or need its type; `campaign_ids` are the first of `total`."""

    def __init__(
        self, name: str, campaign_ids: Sequence[int], total: int, type: str | None = None
    ) -> None:
        campaigns = "1 campaign uses" if total == 1 else f"{total} campaigns use"
        instead = "" if type is None else f" in a way that {type} does not allow"
        super().__init__(f"{campaigns} the attribute {name}{instead}")
        self.campaign_ids = tuple(campaign_ids)
        self.total = total


class OperatorInUse(Refused):
    """Campaigns call the operator; `campaign_ids` are the first of `total`."""

    def __init__(self, name: str, campaign_ids: Sequence[int], total: int) -> None:
        campaigns = "1 campaign calls" if total == 1 else f"{total} campaigns call"
        super().__init__(f"{campaigns} the operator {name}")
        self.campaign_ids = tuple(campaign_ids)
        self.total = total


class TooManyOperators(Refused):
    """There are as many operators as there may be."""

    def __init__(self, most: int) -> None:
        super().__init__(f"there are {most} operators, and there cannot be more")


class CatalogueFull(Refused):
    """The catalogue has as many attributes as it may have."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"the catalogue has {most} attributes, and cannot have more: remove one that no "
            "campaign uses"
        )


class BuiltIn(Refused):
    """A built-in attribute cannot be created, changed or removed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is built in and cannot be changed")


class AdvertiserInUse(Refused):
    """The advertiser has campaigns; `campaign_ids` are the first of `total`."""

    def __init__(self, advertiser_id: int, campaign_ids: Sequence[int], total: int) -> None:
        super().__init__(f"the advertiser {advertiser_id} has {total} campaigns")
        self.campaign_ids = tuple(campaign_ids)
        self.total = total


class StillActive(Refused):
    """An active campaign cannot be deleted."""

    def __init__(self, campaign_id: int) -> None:
        super().__init__(f"the campaign {campaign_id} is active: pause or archive it first")


class GateClosed(Refused):
    """Statistics that did not pass the gates, or were not judged yet; `findings` are the gates that
    failed."""

    def __init__(self, statistics_id: int, findings: Sequence[Mapping[str, Any]]) -> None:
        why = "; ".join(str(finding["detail"]) for finding in findings)
        super().__init__(
            f"the statistics {statistics_id} cannot be activated: "
            f"{why or 'the gates have not judged them yet'}"
        )
        self.findings = tuple(findings)


class NoneActive(Refused):
    """No statistics are active, so none can be rolled back."""

    def __init__(self) -> None:
        super().__init__("no statistics are active, so none can be rolled back")


class SampleGone(Refused):
    """The sampled requests of an old version are no longer kept."""

    def __init__(self, id: int) -> None:
        super().__init__(
            f"the sampled requests of the statistics {id} are no longer kept: "
            "compute the same days again, or activate a newer version"
        )


class BadCursor(CampaignsError):
    """Not a cursor of this list with these filters."""

    def __init__(self, cursor: str) -> None:
        super().__init__("not a cursor of this list with these filters")


class IdempotencyError(CampaignsError):
    """An idempotency key that cannot be used for this request; `fate` says why."""

    fate = ""

    def __init__(self, key: str) -> None:
        super().__init__(f"the idempotency key {key!r} {self.fate}")


class KeyReused(IdempotencyError):
    """The same key was used for another request."""

    fate = "was used for another request"


class InFlight(IdempotencyError):
    """Another request with this key was done at the same time. Nothing was written."""

    fate = "is in use: another request with it is being done"


class DatabaseUnavailable(CampaignsError):
    """The database does not answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the database is unavailable: {reason}")
        self.reason = reason


class AnalysisFailed(CampaignsError):
    """The process that analyses expressions has ended, or took too long."""

    def __init__(self) -> None:
        super().__init__("the expression could not be analysed")


class Contended(CampaignsError):
    """The catalogue changed during each attempt to check the targeting."""

    def __init__(self, attempts: int) -> None:
        super().__init__(f"the catalogue changed {attempts} times while the targeting was checked")


class BadDatabaseUrl(CampaignsError):
    """Not a database that Copse supports."""

    def __init__(self) -> None:
        super().__init__("expected postgresql://user@host:port/database or sqlite:///file")
