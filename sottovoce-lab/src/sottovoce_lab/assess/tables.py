"""Tables 4 to 6: measures of structured data, of all spaces, and of latent topics one by one."""

from collections.abc import Mapping, Sequence

from sottovoce.assess.evaluation.runs import RANDOM
from sottovoce.loop.subject import DEFAULT
from sottovoce.report.page import Plot, legend_below, new_panels
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab.assess import _paper as paper
from sottovoce_lab.assess import plots
from sottovoce_lab.assess.experiment import AssessStudy, AssessStudySizes
from sottovoce_lab.assess.outcomes import (
    SPACES,
    CommunityOutcome,
    level_rows,
    pair_columns,
    strength_of,
)
from sottovoce_lab.columns import mean_columns
from sottovoce_lab.communities import CONTROL
from sottovoce_lab.options import StudyOptions, study_notes

TRADITIONAL = ("ent", "diff-priv")
LATENT = ("lda", "lda-d", "lda-t", "lda-dt")
_R_PRECISIONS = ("r_precision_micro", "r_precision_macro")
_TESTS = ("p_permutation", "p_holm", "paper_r_precision_micro", "paper_r_precision_macro")
LDA_OR_W2V, RECOMPUTED = study_notes("assess-tables")


def run_table_4(options: StudyOptions) -> StudyResult:
    """Measures of structured data against topical strength of interest.

    R-Susceptibility, Table 4: ENT and DIFF-PRIV against strength in each space.
    """
    study = AssessStudy.from_options(options, AssessStudySizes(levels=(DEFAULT,)))
    (outcomes,) = study.outcomes((*TRADITIONAL, *SPACES)).values()
    better = max(TRADITIONAL, key=lambda name: sum(each.metrics[name]["map"] for each in outcomes))
    rows = level_rows(
        outcomes,
        against=lambda measure: better if measure in SPACES else None,
        paper=paper.table_4_columns,
        shared=study.columns(outcomes),
    )
    claims = map(str, paper.strength_claims(outcomes, SPACES)) if len(outcomes) > 1 else ()
    compared = f"Gains and tests are against {better}, the better of ENT and DIFF-PRIV in MAP."
    return StudyResult(
        tuple(rows),
        (plots.by_measure(rows),),
        ("measure", *_R_PRECISIONS, "precision_at_5", "map", "ndcg", "p_t", "paper_map"),
        (*study.notes, compared, LDA_OR_W2V, *claims),
        ("against", "map_gain", "ndcg_gain", *_TESTS, "paper_precision_at_5", "paper_ndcg"),
    )


def run_table_5(options: StudyOptions) -> StudyResult:
    """All measures in all spaces over all sensitive topics, and where personas stand.

    R-Susceptibility, Table 5.

    Every topical measure, ENT, DIFF-PRIV and the baselines, at the frozen default difficulty, at
    the levels around it, and in a control where personas differ in name only.
    """
    study = AssessStudy.from_options(options, AssessStudySizes())
    found = study.outcomes()
    rows = tuple(
        row
        for outcomes in found.values()
        for row in level_rows(
            outcomes,
            against=compared_with,
            paper=paper.table_5_columns,
            shared=study.columns(outcomes),
        )
    )
    drawn = [plots.by_measure(rows), plots.by_persona(rows)]
    if len(found) > 1:
        drawn.append(plots.by_level(rows))
    personas = ("afflicted", "supporter", "bystander")
    pairs = ("above_supporter", "above_curious", "above_professional", "above_bystander")
    gains = ("against", "map_gain", "ndcg_gain", "p_t")
    return StudyResult(
        rows,
        tuple(drawn),
        ("community", "measure", "map", "ndcg", "professional", "curious", "paper_map"),
        (*study.notes, *_claims(found)),
        (*_R_PRECISIONS, "precision_at_5", *personas, *pairs, *gains, *_TESTS, "paper_ndcg"),
    )


def compared_with(measure: str) -> str | None:
    """-D, -T and -DT are held against strength, as the paper does; strength against ENT."""
    return "ent" if measure in SPACES else strength_of(measure)


def _claims(found: Mapping[str, Sequence[CommunityOutcome]]) -> list[str]:
    """The paper's claims, where there are enough communities to judge them by."""
    kinds = {
        DEFAULT: (paper.strength_claims, paper.persona_claims, paper.best_claims),
        CONTROL: (paper.control_claims,),
    }
    return [
        str(claim)
        for level, claims in kinds.items()
        if len(found.get(level, [])) > 1
        for make in claims
        for claim in make(found[level], SPACES)
    ]


def run_table_6(options: StudyOptions) -> StudyResult:
    """R-precision of the latent measures, topic by topic.

    R-Susceptibility, Table 6: R-precision of LDA, LDA-D, LDA-T and LDA-DT by topic.

    Beside it, why: of pairs of an afflicted user and a curious or professional one, in how many the
    afflicted stands higher.
    """
    study = AssessStudy.from_options(options, AssessStudySizes(levels=(DEFAULT,)))
    (outcomes,) = study.outcomes(LATENT).values()
    shared = study.columns(outcomes)
    topics = [topic.name for topic in outcomes[0].community.judged]
    rows = tuple(
        _topic_row(outcomes, topic, place, measure) | shared
        for place, topic in enumerate(topics)
        for measure in LATENT
    )
    shown = ("gain", "above_curious", "above_professional", "paper_r_precision")
    return StudyResult(
        rows,
        (_plot(rows, topics),),
        ("topic", "measure", "r_precision", *shown),
        (*study.notes, RECOMPUTED),
        ("chance", "above_supporter", "above_bystander"),
    )


def _topic_row(outcomes: Sequence[CommunityOutcome], topic: str, place: int, measure: str) -> Row:
    values = [each.by_topic[measure][topic] for each in outcomes]
    gains = [each.by_topic[measure][topic] - each.by_topic["lda"][topic] for each in outcomes]
    return (
        {"topic": topic, "measure": measure}
        | mean_columns("r_precision", values)
        | mean_columns("gain", gains)
        | pair_columns(outcomes, measure, [place])
        | {"chance": outcomes[0].by_topic[RANDOM][topic]}
        | paper.table_6_columns(topic, measure)
    )


def _plot(rows: Sequence[Row], topics: Sequence[str]) -> Plot:
    figure, panels = new_panels(1, width=7.5, height=3.6)
    for place, measure in enumerate(LATENT):
        own = [row for row in rows if row["measure"] == measure]
        plots.draw_line(panels[0], own, "r_precision", place, measure)
    panels[0].set(xticks=range(len(topics)), ylabel="R-precision")
    panels[0].set_xticklabels(topics, rotation=15, ha="right")
    legend_below(figure, 4)
    gained = {
        measure: sum(number(row, "gain") > 0 for row in rows if row["measure"] == measure)
        for measure in LATENT[1:]
    }
    finding = f"Of {len(topics)} topics, the mean R-precision is above lda's on " + ", ".join(
        f"{count} for {measure}" for measure, count in gained.items()
    )
    return Plot(figure, f"{finding}.", f"R-precision with 95% intervals by topic. {finding}.")
