"""The gates: whether the index may use a version of the statistics. Pure functions.

    rows      the version was made from enough rows, and few were malformed
    sample    there are enough sampled requests to replay and to forecast from
    drift     no attribute is farther from the active version (PSI) than chance explains
    replay    the sample has the same matches with the version as without, and costs no more

Without an active version there is no drift; without an index there is no replay. A version that
failed a gate keeps the findings, and can only be activated by force.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from campaigns.statistics.drift import Drift, drift
from campaigns.statistics.replay import Replay, replay
from campaigns.statistics.sample import Sampled
from index import Index

ROWS = "rows"
SAMPLE = "sample"
QUARANTINE = "quarantine"
DRIFT = "drift"
MATCHES = "replay.matches"
COST = "replay.cost"


@dataclass(frozen=True, slots=True)
class Rules:
    """The limit of each gate."""

    least_rows: int = 1_000
    least_sample: int = 1_000
    """Of a version with fewer rows, half must be in the sample."""

    most_quarantined: float = 0.05
    most_drift: float = 0.25
    most_cost: float = 1.05
    """The cost after divided by the cost before; equally good versions can differ a little."""

    replayed: int = 2_000
    """How many requests of the sample are replayed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a gate: the value that it measured, and its limit."""

    gate: str
    passed: bool
    detail: str
    attribute: str | None = None
    value: float | None = None
    limit: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(
    document: Mapping[str, Any],
    sample: Sequence[Sampled],
    active: Mapping[str, Any] | None,
    rules: Rules = Rules(),  # noqa: B008 (immutable)
    index: Index | None = None,
) -> list[Finding]:
    """The findings of every gate. `index` has the active campaigns, and no other user; afterwards
    it uses the statistics of `document`."""
    findings = [_rows(document, rules), _sample(document, rules), _quarantined(document, rules)]
    if active is not None:
        findings += _drifted(drift(active, document), rules)
    if index is not None and document["attributes"]:
        findings += _replayed(replay(index, sample[: rules.replayed], active, document), rules)
    return findings


def passed(findings: Sequence[Finding]) -> bool:
    """Whether every gate was passed."""
    return all(finding.passed for finding in findings)


def _rows(document: Mapping[str, Any], rules: Rules) -> Finding:
    rows, least = document["rows"], rules.least_rows
    detail = f"{rows} rows, of at least {least}"
    return Finding(ROWS, rows >= least, detail, value=rows, limit=least)


def _sample(document: Mapping[str, Any], rules: Rules) -> Finding:
    rows, least = document["sample"]["rows"], min(rules.least_sample, (document["rows"] + 1) // 2)
    detail = f"{rows} sampled requests, of at least {least}"
    if rows < least:
        detail += "; are the request ids of the log unique?"
    return Finding(SAMPLE, rows >= least, detail, value=rows, limit=least)


def _quarantined(document: Mapping[str, Any], rules: Rules) -> Finding:
    bad, most = document["quarantined"], rules.most_quarantined
    share = bad / max(1, bad + document["rows"])
    detail = f"{bad} rows were malformed: {share:.2%}, of at most {most:.2%}"
    return Finding(QUARANTINE, share <= most, detail, value=round(share, 6), limit=most)


def _drifted(drifts: Mapping[str, Drift], rules: Rules) -> Iterator[Finding]:
    for name, found in drifts.items():
        most = float(f"{rules.most_drift + found.chance:.4g}")
        if found.presence_before is None:
            # The attribute was declared since: there is nothing to compare with.
            yield Finding(DRIFT, True, f"{name} is new", name, found.psi, most)
        elif found.psi <= most:
            yield Finding(DRIFT, True, f"{name} has not drifted", name, found.psi, most)
        else:
            after = "gone" if found.presence_after is None else f"in {found.presence_after:.1%}"
            detail = (
                f"{name} has drifted: PSI {found.psi:g}, of at most {most:g} "
                f"({found.chance:g} by chance); "
                f"it was in {found.presence_before:.1%} of the requests and is {after}"
            )
            yield Finding(DRIFT, False, detail, name, found.psi, most)


def _replayed(found: Replay, rules: Rules) -> Iterator[Finding]:
    detail = f"{found.different} of {found.requests} requests had other matches"
    yield Finding(MATCHES, found.different == 0, detail, value=found.different, limit=0)
    if found.cost_before is None or found.cost_after is None:
        return
    ratio = found.cost_after / max(1, found.cost_before)
    detail = (
        f"{found.cost_after} postings touched, {found.cost_before} before: "
        f"{ratio:.3f} times, of at most {rules.most_cost:g}"
    )
    limit = rules.most_cost
    yield Finding(COST, ratio <= limit, detail, value=round(ratio, 4), limit=limit)
