"""Sadoghi and Jacobsen: Analysis and optimization for Boolean expression indexing (TODS 2013)."""

from bench.papers.claims.claim import (
    Claim,
    Evidence,
    Figure,
    about,
    change,
    falls,
    gains,
    growth,
    saves,
    times,
    value,
)

_COLUMNS = (
    "Propagation's checks are one bit each in columns that the processor prefetches; BE-Tree "
    "follows a pointer for each node and each conjunction, and waits for memory."
)
_FEW_PREDICATES = (
    "A predicate costs a comparison of two registers here, as much as looking its bit up; the gain "
    "was largest where evaluation meant a call."
)
_EQUALITIES_FIRST = (
    "With equalities ranked first few candidates are false, so there is little to filter, while "
    "every candidate reads its signature."
)
_FEW_VALUES = (
    "With 2 values for an attribute an event passes half of what is below a node instead of a "
    "tenth, and a deeper tree makes up for a part of it only."
)
_PAIRS = (
    "The dynamic clustering makes tables of several attributes where one value says little, which "
    "single keys cannot."
)
_RANDOM = (
    "Half of the conjunctions are visited in the order of the tree, each at a place of its own, "
    "while a scan reads memory front to back, which the processor prefetches."
)
_READING = "Reading the expression from JSON text is a part of our figure."
_MEMORY = (
    "64-bit values, a store of distinct predicates with their use counts and Rust's vectors with "
    "room to grow; the paper packs 32-bit values into C arrays."
)
_CHURN = "Domains and popular attributes of the first workload leave a differently shaped tree."


def _build_us(evidence: Evidence) -> float:
    run = evidence.runs["be-tree"]["be-tree"]
    return float(f"{1e6 * run['build_s'] / run['n']:.3g}")


def _bytes(evidence: Evidence) -> float:
    return value(evidence, "be-tree", "be-tree", "bytes_per_expression")


def _recovery(place: int) -> Figure:
    def ours(evidence: Evidence) -> float:
        if not evidence.recoveries:
            raise KeyError("recoveries")
        return round(100 * (evidence.recoveries[place].ratio - 1), 1)

    return ours


CLAIMS = (
    Claim(
        "matching, uniform, against the next best (8.6.2)",
        "−80 %",
        change("be-tree", "be-tree", "propagation", "flat"),
        saves(80),
        why=_COLUMNS,
    ),
    Claim(
        "matching, Zipf, against the next best (8.6.2)",
        "−63 %",
        change("be-tree zipf", "be-tree", "propagation", "flat"),
        saves(63),
        why=_COLUMNS,
    ),
    Claim(
        "Zipf, against Propagation (8.6.1)",
        "≥ 2.5 times",
        times("be-tree zipf", "be-tree", "propagation"),
        gains(2.5),
        "times",
        why=_COLUMNS,
    ),
    Claim(
        "150,000 values of an attribute, against Propagation (8.6.4)",
        "−66 %",
        change("be-tree-cardinality=150000", "be-tree", "propagation-dynamic"),
        saves(66),
        why=_COLUMNS,
    ),
    Claim(
        "2 instead of 10 values, equalities: BE-Tree's time (8.6.5)",
        "+1 % at most",
        growth("be-tree", "be-tree-selectivity=10", "be-tree-selectivity=2"),
        lambda ours: ours <= 10,
        why=_FEW_VALUES,
    ),
    Claim(
        "the same: Propagation's time (8.6.5)",
        "up to +80 %",
        growth("propagation-dynamic", "be-tree-selectivity=10", "be-tree-selectivity=2"),
        lambda ours: ours >= 40,
        why=_PAIRS,
    ),
    Claim(
        "ranges of half the values, against the next best (8.6.6)",
        "−76 %",
        change("be-tree-range-share=0.5", "be-tree", "propagation-dynamic", "flat"),
        saves(76),
        why=_COLUMNS,
    ),
    Claim(
        "66 predicates, 81 attributes an event, against the next best (8.6.7)",
        "−63 %",
        change("be-tree-size=66", "be-tree", "propagation-dynamic", "flat"),
        saves(63),
        why=_COLUMNS,
    ),
    Claim(
        "only equalities, against Propagation (8.6.8)",
        "faster",
        change("be-tree =", "be-tree", "propagation"),
        falls,
        why=_COLUMNS,
    ),
    Claim(
        "half of all match, against a scan (8.6.9)",
        "about equal",
        change("be-tree-matching=0.5", "be-tree", "flat"),
        about(25),
        why=_RANDOM,
    ),
    Claim(
        "lazy evaluation against plain, uniform (8.7.1)",
        "−43 %",
        change("be-tree", "be-tree-lazy", "be-tree"),
        saves(43),
        why=_FEW_PREDICATES,
    ),
    Claim(
        "bitmap evaluation against plain, uniform (8.7.1)",
        "−64 to −75 %",
        change("be-tree", "be-tree-bitmap", "be-tree"),
        saves(64),
        why=_FEW_PREDICATES,
    ),
    Claim(
        "cache-conscious bitmap against bitmap, uniform (8.7.1)",
        "up to −70 %",
        change("be-tree", "be-tree-bitmap-cc", "be-tree-bitmap"),
        falls,
        why="Leaves of 20 conjunctions are in the cache after the first one.",
    ),
    Claim(
        "Bloom filter before lazy evaluation, 7 attributes an event (8.7.2)",
        "−70 %",
        change("be-tree 5/7", "be-tree-lazy-bloom", "be-tree-lazy"),
        saves(70),
        why=_EQUALITIES_FIRST,
    ),
    Claim(
        "Bloom filter before the bitmap, 7 attributes an event (8.7.2)",
        "−21 %",
        change("be-tree 5/7", "be-tree-bitmap-bloom", "be-tree-bitmap-cc"),
        saves(21),
        why=_EQUALITIES_FIRST,
    ),
    Claim(
        "build, for each expression (table VII: 2.37 s for a million)",
        "2.4 µs",
        _build_us,
        lambda ours: ours <= 2 * 2.4,
        "µs",
        why=_READING,
    ),
    Claim(
        "bytes of an expression (table VII: 68 MB for a million)",
        "68",
        _bytes,
        lambda ours: ours <= 2 * 68,
        "bytes",
        why=_MEMORY,
    ),
    Claim(
        "uniform → Zipf → uniform by churn, time at the end (figure 21)",
        "as before",
        _recovery(0),
        about(25),
        why=_CHURN,
    ),
    Claim(
        "Zipf → uniform → Zipf by churn, time at the end (figure 21)",
        "as before",
        _recovery(1),
        about(25),
        why=_CHURN,
    ),
)
