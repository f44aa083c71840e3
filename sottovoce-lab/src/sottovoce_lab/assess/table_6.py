"""Table 6: R-precision of the latent measures, topic by topic."""

from collections.abc import Sequence

from sottovoce.assess.evaluation.runs import RANDOM
from sottovoce.loop.subject import DEFAULT
from sottovoce.report.figures import legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab.assess._paper import table_6_columns
from sottovoce_lab.assess.experiment import (
    AssessStudySizes,
    notes_for,
    outcomes_by_level,
    size_columns,
    sizes_for,
)
from sottovoce_lab.assess.outcomes import CommunityOutcome, interval_columns, pair_columns
from sottovoce_lab.assess.plots import draw_line
from sottovoce_lab.options import StudyOptions

MEASURES = ("lda", "lda-d", "lda-t", "lda-dt")
SHOWN = (
    "topic",
    "measure",
    "r_precision",
    "gain",
    "above_curious",
    "above_professional",
    "paper_r_precision",
)
WIDE = ("chance", "above_supporter", "above_bystander")
SLIPS = (
    "Slips of the paper: its Table 5 recomputes from Tables 3 and 6 only with 10 Quora users in "
    "debt, not 11, and with one hit less for LDA in the health forums' depression or pregnancy "
    "(0.738 or 0.548, of 42 users)."
)


def run_table_6(options: StudyOptions) -> StudyResult:
    """R-Susceptibility, Table 6: R-precision of LDA, LDA-D, LDA-T and LDA-DT by topic.

    Beside it, why: of pairs of an afflicted user and a curious or professional one, in how many the
    afflicted stands higher.
    """
    sizes = sizes_for(options, AssessStudySizes(levels=(DEFAULT,)))
    (outcomes,) = outcomes_by_level(options, sizes, MEASURES).values()
    shared = size_columns(options, sizes, outcomes)
    topics = [topic.name for topic in outcomes[0].community.judged]
    rows = tuple(
        _row(outcomes, topic, place, measure) | shared
        for place, topic in enumerate(topics)
        for measure in MEASURES
    )
    notes = (*notes_for(options, sizes), SLIPS)
    return StudyResult(rows, (_plot(rows, topics),), SHOWN, notes, WIDE)


def _row(outcomes: Sequence[CommunityOutcome], topic: str, place: int, measure: str) -> Row:
    values = [each.by_topic[measure][topic] for each in outcomes]
    gains = [each.by_topic[measure][topic] - each.by_topic["lda"][topic] for each in outcomes]
    return (
        {"topic": topic, "measure": measure}
        | interval_columns("r_precision", values)
        | interval_columns("gain", gains)
        | pair_columns(outcomes, measure, [place])
        | {"chance": outcomes[0].by_topic[RANDOM][topic]}
        | table_6_columns(topic, measure)
    )


def _plot(rows: Sequence[Row], topics: Sequence[str]) -> Plot:
    figure, panels = new_panels(1, width=7.5, height=3.6)
    for place, measure in enumerate(MEASURES):
        own = [row for row in rows if row["measure"] == measure]
        draw_line(panels[0], own, "r_precision", place, measure)
    panels[0].set(xticks=range(len(topics)), ylabel="R-precision")
    panels[0].set_xticklabels(topics, rotation=15, ha="right")
    legend_below(figure, 4)
    gained = {
        measure: sum(number(row, "gain") > 0 for row in rows if row["measure"] == measure)
        for measure in MEASURES[1:]
    }
    finding = f"Of {len(topics)} topics, the mean R-precision is above lda's on " + ", ".join(
        f"{count} for {measure}" for measure, count in gained.items()
    )
    return Plot(figure, f"{finding}.", f"R-precision with 95% intervals by topic. {finding}.")
