"""Random histories on the native core and the oracle, until the time is up or they disagree.

    python -m tests.fuzz --minutes 30            # `make fuzz MINUTES=30`
    python -m tests.fuzz --seed 1234             # repeat one round

A seed determines the schema, the expressions and the steps of a round. A disagreement, a failed
invariant or a panic ends the run: the history is reduced to the necessary steps and printed as a
script.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from index import Index, Query, Schema
from index.language import And, Not, Or, Tree, children_of, normalize, to_json
from tests.random_histories import Cases, Change, Insert, Match, Step, Upkeep, UseStatistics

STEPS = 250
SMALL = 12
"""Most expressions for which the reference engine runs as well."""
SECONDS_TO_SHRINK = 30.0


class Disagreement(AssertionError):
    """Two engines gave different answers."""


@dataclass
class Counts:
    """Counts of what was done."""

    rounds: int = 0
    steps: int = 0
    expressions: int = 0
    events: int = 0
    pairs: int = 0

    def __str__(self) -> str:
        return (
            f"{self.rounds:,} rounds, {self.expressions:,} expressions, "
            f"{self.events:,} events compared, {self.pairs:,} pairs of the two"
        )


def equal(what: str, found: object, expected: object) -> None:
    """Check that an engine's answer equals the oracle's."""
    if found != expected:
        raise Disagreement(f"{what}: {found} instead of {expected}")


class Round:
    """Runs one history on all engines."""

    def __init__(self, schema: Schema, counts: Counts) -> None:
        self.schema = schema
        self.counts = counts
        self.native = Index(schema, engine="native")
        # The first band has a few entries, so that borders move all the time.
        self.native._native().core.tune("bands", 1 + len(schema) % 3)
        self.scan = Index(schema, engine="scan")
        self.reference: Index | None = Index(schema, engine="reference")

    def run(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.counts.steps += 1
            self.take(step)
        self.native.check_invariants()
        self.empty()

    def take(self, step: Step) -> None:
        match step:
            case Insert():
                self.insert(step)
            case Change(method, argument):
                native, scan = getattr(self.native, method), getattr(self.scan, method)
                equal(method, native(argument), scan(argument))
                if self.reference:
                    getattr(self.reference, method)(argument)
            case Match():
                self.match(step)
            case UseStatistics(statistics):
                self.native.use_statistics(statistics)
            case Upkeep.REPLAN:
                self.native.replan()
            case Upkeep.RELOAD:
                self.reload()
            case Upkeep.CHECK:
                self.native.check_invariants()
                equal("the digest", self.native.digest(), self.scan.digest())

    def insert(self, step: Insert) -> None:
        self.counts.expressions += 1
        if self.counts.expressions % 3 == 0:
            self.native.insert_json([(step.id, to_json(step.tree), *step.beside)])
        else:
            self.native.insert(step.id, step.tree, *step.beside)
        self.scan.insert(step.id, step.tree, *step.beside)
        if self.reference and len(self.scan) > SMALL:
            self.reference = None
        if self.reference:
            self.reference.insert(step.id, step.tree, *step.beside)
        if self.counts.expressions % 8 == 0:
            core = self.native._native().core
            for tree in (step.tree, Not(step.tree)):
                form = core.normal_form(to_json(tree).encode())
                equal(f"the normal form of {tree}", form, normalize(tree).to_json())

    def match(self, step: Match) -> None:
        self.counts.events += 1
        self.counts.pairs += len(self.scan)
        event, at, limit = step.event, step.at, step.limit
        every = Query(at, None, True, step.exclude, step.floor)
        best = Query(at, limit, True, step.exclude, step.floor)
        native, scan = self.native, self.scan
        expected = scan.ask(event, every).ids
        sent = json.dumps(event, ensure_ascii=self.counts.events % 2 == 0).encode()
        equal("the matches", native.ask(event, every).ids, expected)
        equal("the matches from JSON", native.ask(sent, every).ids, expected)
        answer = scan.ask(event, best).to_json(b"}")
        equal("the best", native.ask(event, best).to_json(b"}"), answer)
        equal("the best from JSON", native.ask(sent, best).to_json(b"}"), answer)
        first = replace(best, total=False)
        answer = scan.ask(event, first).to_json(b"}")
        equal("the best without a total", native.ask(event, first).to_json(b"}"), answer)
        added = replace(first, builtins=event)
        equal("the best from built-ins", native.ask(b"{}", added).to_json(b"}"), answer)
        if self.reference:
            found = self.reference.ask(event, every).ids
            equal("the reference's matches", found, expected)

    def reload(self) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.copse"
            self.native.save(path)
            self.native = Index.load(path, self.schema)
        equal("the ids after load", list(self.native), list(self.scan))
        equal("the muted after load", self.native.muted(), self.scan.muted())
        equal("the digest after load", self.native.digest(), self.scan.digest())

    def empty(self) -> None:
        for id in list(self.scan):
            self.native.remove(id)
        self.native.check_invariants()
        stats = self.native.stats()
        equal("the digest of an emptied index", self.native.digest(), 0)
        for part in ("expressions", "distinct_expressions", "edges", "postings", "keys", "groups"):
            equal(f"{part} of an emptied index", stats[part], 0)


def failure_of(schema: Schema, steps: Sequence[Step], counts: Counts) -> BaseException | None:
    """The failure of a history, if any."""
    try:
        Round(schema, counts).run(steps)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as failure:  # a panic is no Exception
        return failure
    return None


def shrink(steps: list[Step], fails: Callable[[list[Step]], bool]) -> list[Step]:
    """Reduce a history to fewer steps and smaller expressions that still fail."""
    until = time.monotonic() + SECONDS_TO_SHRINK
    return shrink_trees(drop_steps(steps, fails, until), fails, until)


def drop_steps(steps: list[Step], fails: Callable[[list[Step]], bool], until: float) -> list[Step]:
    """Remove smaller and smaller pieces."""
    piece = len(steps) // 2
    while piece and time.monotonic() < until:
        at = 0
        while at < len(steps) and time.monotonic() < until:
            shorter = steps[:at] + steps[at + piece :]
            if fails(shorter):
                steps = shorter
            else:
                at += piece
        piece //= 2
    return steps


def shrink_trees(
    steps: list[Step], fails: Callable[[list[Step]], bool], until: float
) -> list[Step]:
    """Replace parents by their children, and remove children."""
    at = 0
    while at < len(steps) and time.monotonic() < until:
        step = steps[at]
        if isinstance(step, Insert):
            less = (replace(step, tree=tree) for tree in smaller(step.tree))
            changes = ([*steps[:at], other, *steps[at + 1 :]] for other in less)
            changed = next(filter(fails, changes), None)
            if changed:
                steps = changed
                continue
        at += 1
    return steps


def smaller(tree: Tree) -> Iterator[Tree]:
    """Slightly smaller trees."""
    yield from children_of(tree)
    if isinstance(tree, And | Or):
        for place, child in enumerate(tree.children):
            others = tree.children[:place] + tree.children[place + 1 :]
            if len(others) > 1:
                yield type(tree)(others)
            for less in smaller(child):
                yield type(tree)((*others, less))
    elif isinstance(tree, Not):
        yield from map(Not, smaller(tree.child))


def script_of(schema: Schema, steps: Sequence[Step]) -> str:
    """A history as a Python script."""
    attributes = [(attribute.name, attribute.type.value) for attribute in schema]
    lines = [
        "from index import Attribute, Exclude, Index, Schema",
        "from index.language import from_json",
        f"schema = Schema([Attribute(*each) for each in {attributes!r}])",
        "native, scan = Index(schema, engine='native'), Index(schema, engine='scan')",
    ]
    for step in steps:
        match step:
            case Insert(id, tree):
                beside = ", ".join(map(str, step.beside))
                lines.append(f"# {str(tree)[:500]}")
                lines.append(f"tree = from_json({to_json(tree)!r}, schema)")
                lines.append(f"for index in (native, scan): index.insert({id}, tree, {beside})")
            case Change(method, argument):
                lines.append(f"for index in (native, scan): index.{method}({argument})")
            case Match(event, at, _, exclude, floor):
                asked = f"{event!r}, {at}, exclude={exclude!r}, floor={floor}"
                lines.append(f"for index in (native, scan): print(index.match({asked}))")
            case UseStatistics(statistics):
                lines.append(f"native.use_statistics({statistics!r})")
            case Upkeep.REPLAN:
                lines.append("native.replan()")
            case Upkeep.RELOAD:
                lines.append("native.save('/tmp/i'); native = Index.load('/tmp/i', schema)")
            case Upkeep.CHECK:
                lines.append("native.check_invariants()")
    return "\n".join([*lines, "native.check_invariants()"])


def play(seed: int, counts: Counts) -> str | None:
    """Run one round; returns a description of a failure and how to repeat it."""
    cases = Cases(Random(seed))
    steps = cases.history(STEPS)
    counts.rounds += 1
    failure = failure_of(cases.schema, steps, counts)
    if failure is None:
        return None
    kind = type(failure)
    shorter = shrink(steps, lambda some: type(failure_of(cases.schema, some, Counts())) is kind)
    last = failure_of(cases.schema, shorter, Counts())
    return (
        f"seed {seed}: {kind.__name__}: {failure}\n"
        f"with {len(shorter)} of {len(steps)} steps: {last}\n\n{script_of(cases.schema, shorter)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run rounds; returns 1 after a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="run only this round")
    parser.add_argument("--first-seed", type=int, help="first seed (default: the clock)")
    given = parser.parse_args(arguments)
    counts, started = Counts(), time.monotonic()
    seed = given.seed if given.first_seed is None else given.first_seed
    if seed is None:
        seed = time.time_ns() // 1_000_000 % 10**9 * 1000
    while True:
        problem = play(seed, counts)
        elapsed = time.monotonic() - started
        sys.stderr.write(f"seed {seed}: {counts}, {elapsed:.0f} s\n")
        if problem:
            sys.stderr.write(f"\n{problem}\n")
            return 1
        if given.seed is not None or elapsed >= given.minutes * 60:
            return 0
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
