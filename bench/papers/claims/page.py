"""All claims as tables."""

from collections.abc import Sequence

from bench.papers.claims import be_tree, propagation, tama, thesis
from bench.papers.claims.claim import Claim, Evidence
from testkit.markdown import table

PAPERS: dict[str, Sequence[Claim]] = {
    "BE-Tree": be_tree.CLAIMS,
    "Propagation": propagation.CLAIMS,
    "The thesis: PSTBloom and PSTHash": thesis.CONJUNCTIVE,
    "The thesis: A-Tree": thesis.ARBITRARY,
    "TAMA": tama.CLAIMS,
}


def claims_page(evidence: Evidence) -> str:
    """How many hold, then a table for each paper with the reasons where a claim does not hold."""
    parts, judged = [], []
    for paper, claims in PAPERS.items():
        rows, reasons = [], []
        for claim in claims:
            try:
                ours = claim.ours(evidence)
            except KeyError:
                rows.append([claim.claim, claim.theirs, "not measured", ""])
                continue
            holds = claim.holds(ours)
            judged.append(holds)
            shown = f"{ours:+g} %" if claim.unit == "%" else f"{ours:g} {claim.unit}".rstrip()
            rows.append([claim.claim, claim.theirs, shown, "yes" if holds else "**no**"])
            if not holds:
                reasons.append(f"- {claim.claim}: {claim.why}")
        parts += [f"### {paper}", table(["claim", "theirs", "ours", "holds"], rows)]
        if reasons:
            parts += ["Why not, as we read it:", "\n".join(reasons)]
    return "\n\n".join([f"{sum(judged)} of {len(judged)} claims hold.", *parts])
