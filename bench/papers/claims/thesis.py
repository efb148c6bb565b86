"""Ji: the thesis; section 10.3 for conjunctions, 10.4 for arbitrary expressions."""

from bench.papers.claims.claim import Claim, about, change, falls, gains, growth, saves, times

_FEW_CANDIDATES = (
    "With far fewer expressions than in the thesis there are few candidates to save, while the "
    "spaces of an event and the pairs of them cost the same."
)
_SIGNATURES = (
    "Every candidate reads a signature for each of its predicates, a line of memory each, before "
    "it is verified; verifying at once is cheaper."
)
_SPACES = (
    "A range covers many spaces, and a leaf of each has a signature of its own with counters "
    "beside the bits, which deletion needs; in the thesis all of it is 19 bytes a subscription."
)
_BYTES = "bytes_per_expression"

CONJUNCTIVE = (
    Claim(
        "PSTHash against BE-Tree, ads (table 10.3.2: 0.24 against 2.26 ms)",
        "−89 %",
        change("ads-conj", "pst-hash", "be-tree"),
        saves(89),
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "PSTBloom against BE-Tree, ads (0.82 against 2.26 ms)",
        "−64 %",
        change("ads-conj", "pst-bloom", "be-tree"),
        saves(64),
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "PSTHash against Propagation, ads (0.24 against 168.73 ms)",
        "703 times",
        times("ads-conj", "pst-hash", "propagation"),
        gains(100),
        "times",
        why=(
            "At 56 ns for each subscription the thesis's Propagation must have checked most of "
            "them; ours enters by the rarest equality of sampled events."
        ),
    ),
    Claim(
        "PSTHash against a scan, ads (0.24 against 435.27 ms)",
        "1,814 times",
        times("ads-conj", "pst-hash", "flat"),
        gains(100),
        "times",
        why=(
            "Our scan reads compact programs front to back, at about 6 ns each; the thesis's took "
            "145 ns for each subscription. And the gain grows with their number: theirs is 60 "
            "times ours."
        ),
    ),
    Claim(
        "build, PSTBloom against BE-Tree, ads (7.81 against 13.70 s)",
        "−43 %",
        change("ads-conj", "pst-bloom", "be-tree", column="build_s"),
        saves(43),
        why=_SPACES,
    ),
    Claim(
        "memory, PSTBloom against BE-Tree, ads (55.93 against 393.21 MB)",
        "−86 %",
        change("ads-conj", "pst-bloom", "be-tree", column=_BYTES),
        saves(86),
        why=_SPACES,
    ),
    Claim(
        "memory, PSTHash against BE-Tree, ads (759.72 against 393.21 MB)",
        "+93 %",
        change("ads-conj", "pst-hash", "be-tree", column=_BYTES),
        lambda ours: ours > 0,
        why="Most pairs of spaces have one conjunction here, and a list of one is small.",
    ),
    Claim(
        "30,000 attributes: PSTBloom against BE-Tree (10.3.2)",
        "faster",
        change("be-sparse", "pst-bloom", "be-tree"),
        falls,
        why=_SIGNATURES,
    ),
    Claim(
        "100 attributes: PSTHash against PSTBloom (10.3.2)",
        "faster from 1M on",
        change("be-dense", "pst-hash", "pst-bloom"),
        falls,
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "Zipf (α = 5): PSTHash against the next best (figure 10.3.3)",
        "best",
        change("be-dense-alpha=5", "pst-hash", "pst-bloom", "be-tree", "propagation-dynamic"),
        falls,
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "90 attributes an event: PSTHash against BE-Tree (figure 10.3.7)",
        "−85 %",
        change("be-dense-event-size=90", "pst-hash", "be-tree"),
        saves(85),
        why=(
            "An event of 90 attributes has 4,005 pairs of spaces, each a lookup; with a million "
            "subscriptions that is little beside the candidates, here it is most of the time."
        ),
    ),
    Claim(
        "only equalities: PSTHash against the next best (figure 10.3.9)",
        "first",
        change("be-dense-equality=1", "pst-hash", "pst-bloom", "be-tree", "propagation-dynamic"),
        falls,
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "30 instead of 5 predicates: PSTHash's time (figure 10.3.6)",
        "falls",
        growth("pst-hash", "be-dense-size=5", "be-dense-size=30"),
        falls,
        why=_FEW_CANDIDATES,
    ),
    Claim(
        "half of all match: PSTBloom against a scan (figure 10.3.8)",
        "−75 %",
        change("be-dense-matching=0.5", "pst-bloom", "flat"),
        saves(75),
        why=(
            "What matches must be written and, for most, verified; a scan does nothing else, front "
            "to back."
        ),
    ),
    Claim(
        "half of all match: BE-Tree against a scan (figure 10.3.8)",
        "about equal",
        change("be-dense-matching=0.5", "be-tree", "flat"),
        about(25),
        why=(
            "Half of the conjunctions are visited in the order of the tree, each at a place of its "
            "own; a scan reads memory front to back."
        ),
    ),
)

ARBITRARY = (
    Claim(
        "against a scan, ads (table 10.4.2: 0.27 against 994.1 ms)",
        "3,682 times",
        times("ads", "a-tree-thesis", "flat"),
        gains(100),
        "times",
        why=(
            "Our scan takes 7 ns for an expression, the thesis's 714. And the thesis's ads repeat "
            "expressions many times, which share a node; the generated ones share predicates, each "
            "of which is propagated to the gates above it one by one."
        ),
    ),
    Claim(
        "against a scan, arbitrary expressions (figure 10.4.3)",
        "best of all",
        times("abe", "a-tree-thesis", "flat"),
        gains(1),
        "times",
        why=(
            "Our scan is a tight loop over compact programs, while satisfied predicates are "
            "propagated one by one."
        ),
    ),
    Claim(
        "against BE-Tree, conjunctions, 30,000 attributes (10.4.2)",
        "comparable",
        change("be-sparse", "a-tree-thesis", "be-tree"),
        about(100),
        why=(
            "Each satisfied predicate visits the conjunctions that it is the access child of, a "
            "place of memory each; BE-Tree's leaves hold theirs together."
        ),
    ),
    Claim(
        "each expression 6 times: time (figure 10.4.3d)",
        "does not grow",
        growth("a-tree-thesis", "abe-repeat=0", "abe-repeat=5"),
        lambda ours: ours <= 25,
        why="Six times as many ids match and are written.",
    ),
    Claim(
        "each expression 6 times: memory of an expression (figure 10.4.2d)",
        "−76 % (of the next best's)",
        growth("a-tree-thesis", "abe-repeat=0", "abe-repeat=5", column=_BYTES),
        saves(76),
        why="Ids and slots are kept for each expression, shared or not.",
    ),
    Claim(
        "depth 4 instead of 1: time (figure 10.4.3b)",
        "grows",
        growth("a-tree-thesis", "abe-depth=1", "abe-depth=4"),
        lambda ours: ours > 0,
        why="Depth 4 has a quarter of the expressions here.",
    ),
    Claim(
        "30,000 instead of 100 attributes: time (figure 10.4.3e)",
        "falls quickly",
        growth("a-tree-thesis", "abe-dimensions=100", "abe-dimensions=30000"),
        saves(50),
        why=(
            "Fewer predicates are satisfied, but a negated predicate holds for most values of the "
            "attributes that an event has."
        ),
    ),
    Claim(
        "1,000 instead of 3 values: time (figure 10.4.3f)",
        "falls",
        growth("a-tree-thesis", "abe-cardinality=3", "abe-cardinality=1000"),
        falls,
        why="Negations hold for more values.",
    ),
    Claim(
        "30 instead of 5 attributes an event: time (figure 10.4.3g)",
        "grows",
        growth("a-tree-thesis", "abe-event-size=5", "abe-event-size=30"),
        lambda ours: ours > 0,
        why="The first phase is not what takes the time.",
    ),
)
