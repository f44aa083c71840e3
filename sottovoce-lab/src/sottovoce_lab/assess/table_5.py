"""Table 5: all measures in all spaces, over all sensitive topics."""

from collections.abc import Mapping, Sequence

from sottovoce.loop.subject import DEFAULT
from sottovoce.report.result import StudyResult
from sottovoce_lab.assess import _paper as paper
from sottovoce_lab.assess._paper import table_5_columns
from sottovoce_lab.assess.experiment import (
    AssessStudySizes,
    notes_for,
    outcomes_by_level,
    size_columns,
    sizes_for,
)
from sottovoce_lab.assess.outcomes import SPACES, CommunityOutcome, level_rows, strength_of
from sottovoce_lab.assess.plots import by_level, by_measure, by_persona
from sottovoce_lab.communities import CONTROL
from sottovoce_lab.options import StudyOptions

SHOWN = (
    "community",
    "measure",
    "map",
    "ndcg",
    "professional",
    "curious",
    "paper_map",
)
WIDE = (
    "r_precision_micro",
    "r_precision_macro",
    "precision_at_5",
    "afflicted",
    "supporter",
    "bystander",
    "above_supporter",
    "above_curious",
    "above_professional",
    "above_bystander",
    "against",
    "map_gain",
    "ndcg_gain",
    "p_t",
    "p_permutation",
    "p_holm",
    "paper_r_precision_micro",
    "paper_r_precision_macro",
    "paper_ndcg",
)


def run_table_5(options: StudyOptions) -> StudyResult:
    """R-Susceptibility, Table 5.

    Every topical measure, ENT, DIFF-PRIV and the baselines, at the frozen default difficulty, at
    the levels around it, and in a control where personas differ in name only.
    """
    sizes = sizes_for(options, AssessStudySizes())
    found = outcomes_by_level(options, sizes)
    rows = tuple(
        row
        for outcomes in found.values()
        for row in level_rows(
            outcomes,
            against=compared_with,
            paper=table_5_columns,
            shared=size_columns(options, sizes, outcomes),
        )
    )
    plots = (by_measure(rows), by_persona(rows), *([by_level(rows)] if len(found) > 1 else []))
    notes = (*notes_for(options, sizes), *_claims(found))
    return StudyResult(rows, plots, SHOWN, notes, WIDE)


def compared_with(measure: str) -> str | None:
    """-D, -T and -DT are held against strength, as the paper does; strength against ENT."""
    return "ent" if measure in SPACES else strength_of(measure)


def _claims(found: Mapping[str, Sequence[CommunityOutcome]]) -> list[str]:
    """The paper's claims, where there are enough communities to judge them by."""
    written: list[paper.Claim] = []
    main = found.get(DEFAULT, [])
    if len(main) > 1:
        written += paper.strength_claims(main, SPACES)
        written += paper.persona_claims(main, SPACES)
        written += paper.best_claims(main, SPACES)
    if len(found.get(CONTROL, [])) > 1:
        written += paper.control_claims(found[CONTROL], SPACES)
    return [str(claim) for claim in written]
