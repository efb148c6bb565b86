"""The checker: finds violations in the history of a run.

It trusts nothing: it compares the log of the database with what the writers know
(`attribution.py`), and every answer with the states that the log leads to
(`states.py`, `replay.py`).

    lost              an acknowledged write is not in the log, or not as it was acknowledged
    unacknowledged    the log has a write that was never sent, was refused, or appears twice
    rows              the rows of the database are not what its log leads to
    wrong             an answer fits no state from its rev up to the newest possible one
    future            an answer, or an index, has a rev whose write had not been sent
    stale             in a quiet period, an answer or index lacks a write acknowledged long before
    min_rev           an answer is older than the requested rev
    backwards         on one connection, which is one worker, the rev went back
    digest            an index is not what the database was at its rev
    poisoned          a worker could not apply a change
    refused           a match was refused or lost without a recent worker fault on its host
    drained           a match on a kept-alive connection was lost while its worker was drained
    silence           a healthy host answered no match for too long
    writeless         a healthy host acknowledged no write for too long
    lane              in a quiet period, the stream lacks a write acknowledged long before
    repeat            a create with an Idempotency-Key could not be repeated
    forged            a key that only Redis had was accepted
    import            an import went on after its key was revoked
    command           an operator's command failed or hung beside the running service
    health            a health check was not answered in time during a burst
    failed            a write got a 5xx other than the documented 503
    apart             at the end, an index did not become the database
    impression        a row of the impression log is broken, or fits no state
"""

from http import HTTPStatus

from tests.faults.attribution import attribute
from tests.faults.availability import Availability
from tests.faults.history import (
    ANSWERED,
    Begin,
    Commit,
    End,
    History,
    Impression,
    Injected,
    Look,
    Match,
    Tip,
    Write,
)
from tests.faults.replay import Replay
from tests.faults.states import State
from tests.faults.timeline import Timeline
from tests.faults.verdict import Verdict, Violation
from tests.faults.workload import truths


def check(history: History) -> Verdict:
    """Run every check on a history."""
    records = history.records
    (begin,) = [each for each in records if isinstance(each, Begin)]
    (end,) = [each for each in records if isinstance(each, End)]
    commits = [each for each in records if isinstance(each, Commit)]
    writes = [each for each in records if isinstance(each, Write)]
    matches = [each for each in records if isinstance(each, Match)]
    looks = [each for each in records if isinstance(each, Look)]
    faults = [each for each in records if isinstance(each, Injected)]
    impressions = [each for each in records if isinstance(each, Impression)]

    verdict = Verdict()
    log = attribute(begin, commits, writes)
    verdict.add(*log.violations)
    _check_statuses(writes, verdict)
    timeline = Timeline(begin, faults, log)
    replay = Replay(commits, end, truths(begin.texts, begin.events), timeline, verdict)
    last = replay.check(matches, looks, impressions)
    _check_rows(last, commits, end, verdict)
    _check_order(matches, verdict)
    Availability(faults, matches, writes).check(verdict)
    _check_stream([each for each in records if isinstance(each, Tip)], timeline, verdict)
    if not end.in_step:
        verdict.add(Violation("apart", 0.0, end.message))
    return verdict


def _check_statuses(writes: list[Write], verdict: Verdict) -> None:
    for write in writes:
        verdict.counts[f"writes {write.outcome}"] += 1
        if write.status >= 500 and write.status != HTTPStatus.SERVICE_UNAVAILABLE:
            message = f"{write.action} {write.token}: {write.status}"
            verdict.add(Violation("failed", write.begin, message))


def _check_rows(state: State, commits: list[Commit], end: End, verdict: Verdict) -> None:
    """Compare the final rows of the database with its log."""
    if state.rev != end.rev:
        verdict.add(Violation("rows", 0.0, f"the head is {end.rev}, the log ends at {state.rev}"))
    for id in sorted(state.campaigns.keys() | end.campaigns.keys(), key=int):
        logged, row = state.campaigns.get(id), end.campaigns.get(id)
        if logged is None or row is None or any(logged[name] != row[name] for name in row):
            message = f"campaign {id} is {row}, and its log says {logged}"
            verdict.add(Violation("rows", 0.0, message))
    if state.advertisers != end.advertisers:
        message = f"advertisers are {end.advertisers}, and their log says {state.advertisers}"
        verdict.add(Violation("rows", 0.0, message))
    if state.digest() != end.digest:
        verdict.add(Violation("rows", 0.0, "the digest is not that of the log"))
    audited = {(each.rev, each.kind, each.object_id) for each in commits}
    if not {tuple(each) for each in end.kept} <= audited:
        verdict.add(Violation("rows", 0.0, "the log of changes has what is in no audit entry"))


def _check_order(matches: list[Match], verdict: Verdict) -> None:
    last: dict[tuple[str, int], int] = {}
    for match in sorted(matches, key=lambda match: match.begin):
        if match.outcome != ANSWERED:
            continue
        place = match.client, match.connection
        if match.rev < last.get(place, 0):
            message = f"{match.client}: {match.rev} after {last[place]}"
            verdict.add(Violation("backwards", match.begin, message))
        last[place] = match.rev


def _check_stream(tips: list[Tip], timeline: Timeline, verdict: Verdict) -> None:
    """The fast lane must work again after every fault."""
    for tip in tips:
        due = timeline.due(tip.begin, tip.end)
        if due is not None and tip.rev < due:
            message = f"the stream ends at {tip.rev}, and {due} had been acknowledged"
            verdict.add(Violation("lane", tip.begin, message))
