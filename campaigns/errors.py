"""What can go wrong in the store. The caller maps these to its own answers.

    CampaignsError
    ├── InvalidFields                 fields that cannot be; says which, a problem each
    ├── NotFound                there is no such object
    ├── Refused                 right in form, not possible as things are
    │   ├── VersionConflict     somebody else wrote first; says the current version
    │   ├── TransitionRefused   the status does not lead there
    │   ├── Final               an archived campaign changes no more
    │   ├── Taken               a name or an external id that another object has
    │   ├── AttributeInUse      campaigns speak of it; says which
    │   ├── BuiltIn             an attribute of every schema: it cannot be written
    │   ├── AdvertiserInUse     it has campaigns
    │   ├── StillActive         an active campaign cannot be deleted
    │   ├── GateClosed          statistics that the gates did not let pass; says what they found
    │   ├── NoneActive          no statistics are active: there is nothing to roll back
    │   └── SampleGone          statistics so old that their sampled requests are no longer kept
    ├── BadCursor               a cursor that is not ours, or of another list
    ├── IdempotencyError
    │   ├── KeyReused           the same idempotency key with another request
    │   ├── InFlight            the first request with this key is still being done
    │   └── ClaimLost           it took so long that another took it over; nothing was written
    ├── DatabaseUnavailable     it cannot be asked now; asking again later makes sense
    ├── Contended               the catalogue changed again and again while we checked
    └── BadDatabaseUrl          not a database that we know

Each holds the offending values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from index import ExpressionError


class CampaignsError(Exception):
    """Anything that the store refuses or cannot do."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing wrong with what was sent: `pointer` is an RFC 6901 pointer into the fields,
    `code` is stable; for targeting, `expression` says where and how to mend it."""

    pointer: str
    code: str
    detail: str
    expression: ExpressionError | None = None


class InvalidFields(CampaignsError):
    """Fields that cannot be."""

    def __init__(self, *problems: FieldProblem) -> None:
        super().__init__("; ".join(f"{p.pointer or '/'}: {p.detail}" for p in problems))
        self.problems: tuple[FieldProblem, ...] = problems


class NotFound(CampaignsError):
    """There is no such object."""

    def __init__(self, kind: str, object_id: int | str) -> None:
        super().__init__(f"there is no {kind} {object_id}")
        self.kind = kind
        self.object_id = object_id


class Refused(CampaignsError):
    """Right in form, but not possible as things are."""


class VersionConflict(Refused):
    """The version that the writer had seen is not the current one."""

    def __init__(self, kind: str, object_id: int | str, expected: int, current: int) -> None:
        super().__init__(f"the {kind} {object_id} is at version {current}, not {expected}")
        self.kind = kind
        self.object_id = object_id
        self.expected = expected
        self.current = current


class TransitionRefused(Refused):
    """There is no way from the one status to the other."""

    def __init__(self, kind: str, object_id: int | str, current: str, wanted: str) -> None:
        super().__init__(f"the {kind} {object_id} is {current} and cannot become {wanted}")
        self.kind = kind
        self.object_id = object_id
        self.current = current
        self.wanted = wanted


class Final(Refused):
    """An archived campaign changes no more."""

    def __init__(self, campaign_id: int) -> None:
        super().__init__(f"the campaign {campaign_id} is archived: it changes no more")
        self.campaign_id = campaign_id


class Taken(Refused):
    """Another object has this name already."""

    def __init__(self, kind: str, field: str, value: str) -> None:
        article = "an" if kind[0] in "aeiou" else "a"
        super().__init__(f"there is already {article} {kind} with {field} {value!r}")
        self.kind = kind
        self.field = field
        self.value = value


class AttributeInUse(Refused):
    """Campaigns speak of the attribute; `campaign_ids` are the first of `total`."""

    def __init__(self, name: str, campaign_ids: Sequence[int], total: int) -> None:
        campaigns = "1 campaign uses" if total == 1 else f"{total} campaigns use"
        super().__init__(f"{campaigns} the attribute {name}")
        self.name = name
        self.campaign_ids = tuple(campaign_ids)
        self.total = total


class BuiltIn(Refused):
    """An attribute that every schema has; it cannot be created, changed or removed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is built in: it is always there and cannot be changed")
        self.name = name


class AdvertiserInUse(Refused):
    """The advertiser has campaigns; `campaign_ids` are the first of `total`."""

    def __init__(self, advertiser_id: int, campaign_ids: Sequence[int], total: int) -> None:
        super().__init__(f"the advertiser {advertiser_id} has {total} campaigns")
        self.advertiser_id = advertiser_id
        self.campaign_ids = tuple(campaign_ids)
        self.total = total


class StillActive(Refused):
    """An active campaign cannot be deleted."""

    def __init__(self, campaign_id: int) -> None:
        super().__init__(f"the campaign {campaign_id} is active: pause or archive it first")
        self.campaign_id = campaign_id


class GateClosed(Refused):
    """Statistics that the gates did not let pass, or that they have not looked at; `findings` are
    what stands against them."""

    def __init__(self, statistics_id: int, findings: Sequence[Mapping[str, Any]]) -> None:
        why = "; ".join(str(finding["detail"]) for finding in findings)
        super().__init__(
            f"the statistics {statistics_id} are not to be activated: "
            f"{why or 'no gate has looked at them'}"
        )
        self.statistics_id = statistics_id
        self.findings = tuple(findings)


class NoneActive(Refused):
    """No statistics are active: there is nothing to roll back."""

    def __init__(self) -> None:
        super().__init__("no statistics are active: there is nothing to roll back")


class SampleGone(Refused):
    """A version so old that its sampled requests are no longer kept."""

    def __init__(self, id: int) -> None:
        super().__init__(
            f"the sampled requests of the statistics {id} are no longer kept: "
            "compute the same days again, or activate a newer version"
        )
        self.id = id


class BadCursor(CampaignsError):
    """Not a cursor of this list with these filters."""

    def __init__(self, cursor: str) -> None:
        super().__init__("this is not a cursor of this list with these filters")
        self.cursor = cursor


class IdempotencyError(CampaignsError):
    """An idempotency key that cannot be used like this."""

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(detail)
        self.key = key


class KeyReused(IdempotencyError):
    """The same key came with another request."""

    def __init__(self, key: str) -> None:
        super().__init__(key, f"the idempotency key {key!r} was used for another request")


class InFlight(IdempotencyError):
    """The first request with this key is still being done."""

    def __init__(self, key: str) -> None:
        super().__init__(key, f"the request with the idempotency key {key!r} is still being done")


class ClaimLost(IdempotencyError):
    """Another request took this key over, since ours took too long. Nothing was written."""

    def __init__(self, key: str) -> None:
        super().__init__(key, f"the idempotency key {key!r} was taken over by a later request")


class DatabaseUnavailable(CampaignsError):
    """The database cannot be asked now."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the database cannot be asked now: {reason}")
        self.reason = reason


class Contended(CampaignsError):
    """The catalogue changed each time that the targeting had been checked."""

    def __init__(self, attempts: int) -> None:
        super().__init__(f"the catalogue changed {attempts} times while targeting was checked")
        self.attempts = attempts


class BadDatabaseUrl(CampaignsError):
    """Not a database that Copse knows."""

    def __init__(self, url: str) -> None:
        scheme = url.partition(":")[0]
        super().__init__(f"a database URL starts with postgresql:// or sqlite://, not {scheme!r}")
        self.url = url
