"""What each paper says, beside what the league measured.

A claim compares the times (or bytes, or build times) of two engines on one workload as the paper
does: the change in percent against the rival, or how many times faster.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bench.papers.league import Results
from testkit.markdown import table

League = dict[str, Results]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper. `ours` gives our figure, `holds` judges it."""

    paper: str
    claim: str
    theirs: str
    ours: Callable[[League], float]
    holds: Callable[[float], bool]
    unit: str = "%"
    why: str = ""
    """The reason, where it does not hold."""


def change(
    workload: str, engine: str, rival: str, field: str = "match_us_median"
) -> Callable[[League], float]:
    """The change of `engine` against `rival`, in percent."""

    def ours(league: League) -> float:
        one, other = league[workload][engine][field], league[workload][rival][field]
        return float(round(100 * (one - other) / other, 1))

    return ours


def times(workload: str, engine: str, rival: str) -> Callable[[League], float]:
    """How many times faster `engine` is than `rival`."""

    def ours(league: League) -> float:
        results = league[workload]
        ratio = results[rival]["match_us_median"] / results[engine]["match_us_median"]
        return float(f"{ratio:.3g}")

    return ours


def _saves(percent: float) -> Callable[[float], bool]:
    """At least half of the saving."""
    return lambda ours: ours <= -percent / 2


_FEW_PREDICATES = (
    "A predicate costs a comparison of two registers here, as much as looking its bit up; the gain "
    "was largest where evaluation meant a call."
)
_EQUALITIES_FIRST = (
    "With equalities ranked first few candidates are false, so there is little to filter, while "
    "every candidate reads its signature."
)
_PREFETCHERS = (
    "Columns are read front to back, and the processor's own prefetcher fetches them without being "
    "asked; on the Pentium III of the paper it did not."
)

_FEW_CANDIDATES = (
    "With far fewer expressions than in the thesis there are few candidates to save, while the "
    "spaces of an event and the pairs of them cost the same."
)

CLAIMS = (
    Claim(
        "BE-Tree",
        "lazy evaluation against plain, uniform (8.7.1)",
        "−43 %",
        change("be-tree", "be-tree-lazy", "be-tree"),
        _saves(43),
        why=_FEW_PREDICATES,
    ),
    Claim(
        "BE-Tree",
        "bitmap evaluation against plain, uniform (8.7.1)",
        "−64 to −75 %",
        change("be-tree", "be-tree-bitmap", "be-tree"),
        _saves(64),
        why=_FEW_PREDICATES,
    ),
    Claim(
        "BE-Tree",
        "cache-conscious bitmap against bitmap, uniform (8.7.1)",
        "up to −70 %",
        change("be-tree", "be-tree-bitmap-cc", "be-tree-bitmap"),
        lambda ours: ours < 0,
        why="Leaves of 20 conjunctions are in the cache after the first one.",
    ),
    Claim(
        "BE-Tree",
        "Bloom filter before lazy evaluation, 7 attributes an event (8.7.2)",
        "−70 %",
        change("be-tree 5/7", "be-tree-lazy-bloom", "be-tree-lazy"),
        _saves(70),
        why=_EQUALITIES_FIRST,
    ),
    Claim(
        "BE-Tree",
        "Bloom filter before the bitmap, 7 attributes an event (8.7.2)",
        "−21 %",
        change("be-tree 5/7", "be-tree-bitmap-bloom", "be-tree-bitmap-cc"),
        _saves(21),
        why=_EQUALITIES_FIRST,
    ),
    Claim(
        "BE-Tree",
        "against Propagation, zipf (8.6.2)",
        "≥ 2.5 times",
        times("be-tree zipf", "be-tree", "propagation"),
        lambda ours: ours >= 2.5,
        "times",
        why="Propagation's checks are one bit each in columns; BE-Tree follows a pointer for each "
        "node and conjunction.",
    ),
    Claim(
        "BE-Tree",
        "against Propagation, only equalities (8.6.8)",
        "faster, Propagation gains most from equalities",
        times("be-tree =", "be-tree", "propagation"),
        lambda ours: ours >= 1,
        "times",
        why="The same.",
    ),
    Claim(
        "Propagation",
        "prefetching, W0 (6.2.1: 804 → 509 ms)",
        "−37 %",
        change("w0", "propagation", "propagation-plain"),
        _saves(37),
        why=_PREFETCHERS,
    ),
    Claim(
        "Propagation",
        "dynamic clustering against single keys, W0 (6.2.1: 509 → 166 ms)",
        "3.1 times",
        times("w0", "propagation-dynamic", "propagation"),
        lambda ours: ours >= 1.5,
        "times",
        why="At this size the first phase, which both share, is most of the time.",
    ),
    Claim(
        "Propagation",
        "dynamic against static clustering, W0 (6.2.1)",
        "about equal",
        change("w0", "propagation-dynamic", "propagation-static"),
        lambda ours: abs(ours) <= 25,
        why="The dynamic algorithm makes tables one by one as clusters grow and keeps early ones "
        "that the greedy would not choose; at this size the difference is a microsecond.",
    ),
    Claim(
        "thesis",
        "PSTHash against BE-Tree, ads (10.3.4)",
        "−89 %",
        change("ads-conj", "pst-hash", "be-tree"),
        _saves(89),
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "thesis",
        "PSTBloom against BE-Tree, ads (10.3.4: 0.82 against 2.26 ms)",
        "−64 %",
        change("ads-conj", "pst-bloom", "be-tree"),
        _saves(64),
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "thesis",
        "PSTBloom against BE-Tree, 30,000 attributes (10.3.2)",
        "faster",
        change("be-sparse", "pst-bloom", "be-tree"),
        lambda ours: ours < 0,
        why="Every candidate reads a signature for each of its predicates, a line of memory each, "
        "before it is verified; verifying at once is cheaper.",
    ),
    Claim(
        "thesis",
        "PSTHash against PSTBloom, 100 attributes (10.3.2)",
        "faster from 1M on",
        change("be-dense", "pst-hash", "pst-bloom"),
        lambda ours: ours < 0,
        why=_FEW_CANDIDATES,
    ),
)


def claims_page(league: League) -> str:
    """A table of all claims whose engines were measured."""
    rows, reasons = [], []
    for claim in CLAIMS:
        try:
            ours = claim.ours(league)
        except KeyError:
            continue  # skipped
        holds = claim.holds(ours)
        shown = f"{ours:+g} %" if claim.unit == "%" else f"{ours:g} {claim.unit}"
        rows.append([claim.paper, claim.claim, claim.theirs, shown, "yes" if holds else "**no**"])
        if not holds and claim.why:
            reasons.append(f"- {claim.claim}: {claim.why}")
    page = table(["paper", "claim", "theirs", "ours", "holds"], rows)
    return "\n".join([page, "", "Why not, as we read it:", "", *reasons]) if reasons else page
