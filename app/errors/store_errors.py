"""The errors of the store (`campaigns/errors.py`) as problems.

InvalidFields, BadCursor, KeyReused               422
NotFound                                          404
VersionConflict                                   412    with the current version
TransitionRefused, Final, StillActive             409
Taken, BuiltIn                                    409
AttributeInUse, OperatorInUse, AdvertiserInUse    409    with the campaigns
CatalogueFull, TooManyOperators                   409
GateClosed, NoneActive, SampleGone                409    the first with the findings of the gates
InFlight                                          409
DatabaseUnavailable, AnalysisFailed, Contended    503    with Retry-After
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from app.errors.http_errors import RETRY, expression_item
from app.errors.problems import (
    ExpressionItem,
    GateProblem,
    InUseProblem,
    Problem,
    ProblemItem,
    StaleProblem,
    item,
)
from campaigns import errors
from campaigns.errors import CampaignsError

WRONG_REQUEST = "The request is not valid for this route."

_KEY = "/idempotency-key"
_CODES: dict[type[CampaignsError], tuple[HTTPStatus, str, str]] = {
    errors.TransitionRefused: (HTTPStatus.CONFLICT, "status.transition", ""),
    errors.Final: (HTTPStatus.CONFLICT, "campaign.final", ""),
    errors.StillActive: (HTTPStatus.CONFLICT, "campaign.active", ""),
    errors.CatalogueFull: (HTTPStatus.CONFLICT, "attribute.limit", ""),
    errors.TooManyOperators: (HTTPStatus.CONFLICT, "operator.limit", ""),
    errors.BuiltIn: (HTTPStatus.CONFLICT, "attribute.built_in", ""),
    errors.NoneActive: (HTTPStatus.CONFLICT, "statistics.none_active", ""),
    errors.SampleGone: (HTTPStatus.CONFLICT, "statistics.sample_gone", ""),
    errors.InFlight: (HTTPStatus.CONFLICT, "idempotency.in_flight", _KEY),
    errors.KeyReused: (HTTPStatus.UNPROCESSABLE_ENTITY, "idempotency.reused", _KEY),
    errors.BadCursor: (HTTPStatus.UNPROCESSABLE_ENTITY, "cursor.wrong", "/cursor"),
    errors.AnalysisFailed: (HTTPStatus.SERVICE_UNAVAILABLE, "analysis.failed", ""),
    errors.Contended: (HTTPStatus.SERVICE_UNAVAILABLE, "catalogue.contended", ""),
}
"""The status of each, and the code and the pointer of its item."""

_IN_USE: dict[type[CampaignsError], str] = {
    errors.AttributeInUse: "attribute.in_use",
    errors.OperatorInUse: "operator.in_use",
    errors.AdvertiserInUse: "advertiser.in_use",
}


def problem_of(error: CampaignsError) -> Problem:
    """The problem for an error of the store."""
    detail = _sentence(str(error))
    match error:
        case errors.InvalidFields():
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            items = [item_of(problem) for problem in error.problems]
            return _problem(Problem, status, WRONG_REQUEST, items)
        case errors.NotFound():
            missing = item("", f"{error.kind}.not_found", str(error))
            return _problem(Problem, HTTPStatus.NOT_FOUND, detail, [missing])
        case errors.VersionConflict():
            stale = item("/if-match", "version.stale", str(error))
            status = HTTPStatus.PRECONDITION_FAILED
            current = error.current
            return _problem(StaleProblem, status, detail, [stale], current_version=current)
        case errors.Taken():
            taken = item(f"/{error.field}", f"{error.field}.taken", str(error))
            return _problem(Problem, HTTPStatus.CONFLICT, detail, [taken])
        case errors.AttributeInUse() | errors.OperatorInUse() | errors.AdvertiserInUse():
            used = item("", _IN_USE[type(error)], str(error))
            more = {"campaign_ids": list(error.campaign_ids), "total": error.total}
            return _problem(InUseProblem, HTTPStatus.CONFLICT, detail, [used], **more)
        case errors.GateClosed():
            found = [
                item("", f"gate.{finding['gate']}", finding["detail"]) for finding in error.findings
            ] or [item("", "gate.unjudged", str(error))]
            findings = [dict(finding) for finding in error.findings]
            return _problem(GateProblem, HTTPStatus.CONFLICT, detail, found, findings=findings)
        case errors.DatabaseUnavailable():
            # The reason can name hosts and files: it is only logged.
            detail = "The database is unavailable. Try again."
            gone = item("", "database.unavailable", "the database is unavailable")
            return _problem(Problem, HTTPStatus.SERVICE_UNAVAILABLE, detail, [gone])
    status, code, pointer = _CODES[type(error)]
    return _problem(Problem, status, detail, [item(pointer, code, str(error))])


def headers_of(error: CampaignsError) -> Mapping[str, str]:
    """Headers of the response."""
    match error:
        case errors.VersionConflict():
            return {"ETag": f'"{error.current}"'}
        case (
            errors.DatabaseUnavailable()
            | errors.AnalysisFailed()
            | errors.Contended()
            | errors.InFlight()
        ):
            return RETRY
    return {}


def item_of(problem: errors.FieldProblem) -> ExpressionItem | ProblemItem:
    """One error of a field; for a targeting, with its position."""
    if problem.expression is not None:
        return expression_item(problem.pointer, problem.expression)
    return item(problem.pointer, problem.code, problem.detail)


def _problem(
    shape: type[Problem],
    status: HTTPStatus,
    detail: str,
    items: list[ExpressionItem | ProblemItem],
    **more: Any,
) -> Problem:
    return shape(title=status.phrase, status=status, detail=detail, errors=items, **more)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
