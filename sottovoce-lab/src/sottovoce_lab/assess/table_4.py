"""Table 4: measures of structured data against topical strength of interest."""

from collections.abc import Sequence

from sottovoce.loop.subject import DEFAULT
from sottovoce.report.result import StudyResult
from sottovoce_lab.assess._paper import strength_claims, table_4_columns
from sottovoce_lab.assess.experiment import (
    AssessStudySizes,
    notes_for,
    outcomes_by_level,
    size_columns,
    sizes_for,
)
from sottovoce_lab.assess.outcomes import SPACES, CommunityOutcome, level_rows
from sottovoce_lab.assess.plots import by_measure
from sottovoce_lab.options import StudyOptions

MEASURES = ("ent", "diff-priv", *SPACES)
TRADITIONAL = ("ent", "diff-priv")
SHOWN = (
    "measure",
    "r_precision_micro",
    "r_precision_macro",
    "precision_at_5",
    "map",
    "ndcg",
    "p_t",
    "paper_map",
)
WIDE = (
    "against",
    "map_gain",
    "ndcg_gain",
    "p_permutation",
    "p_holm",
    "paper_r_precision_micro",
    "paper_r_precision_macro",
    "paper_precision_at_5",
    "paper_ndcg",
)
SLIP = (
    "The paper's text (5.2) speaks of LDA where its Table 4 prints W2V; both are here, and the "
    "bag of words."
)


def run_table_4(options: StudyOptions) -> StudyResult:
    """R-Susceptibility, Table 4: ENT and DIFF-PRIV against strength in each space."""
    sizes = sizes_for(options, AssessStudySizes(levels=(DEFAULT,)))
    found = outcomes_by_level(options, sizes, MEASURES)
    (outcomes,) = found.values()
    better = _better_traditional(outcomes)
    rows = level_rows(
        outcomes,
        against=lambda measure: better if measure in SPACES else None,
        paper=table_4_columns,
        shared=size_columns(options, sizes, outcomes),
    )
    claims = (
        [str(claim) for claim in strength_claims(outcomes, SPACES)] if len(outcomes) > 1 else []
    )
    compared = f"Gains and tests are against {better}, the better of ENT and DIFF-PRIV in MAP."
    notes = (*notes_for(options, sizes), compared, SLIP, *claims)
    return StudyResult(tuple(rows), (by_measure(rows),), SHOWN, notes, WIDE)


def _better_traditional(outcomes: Sequence[CommunityOutcome]) -> str:
    return max(TRADITIONAL, key=lambda name: sum(each.metrics[name]["map"] for each in outcomes))
