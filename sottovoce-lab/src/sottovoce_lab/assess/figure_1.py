"""Figure 1: the risk scores of users sampled by a^score against those of everybody."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.loop.subject import DEFAULT
from sottovoce.report.page import COLOURS, Plot, legend_below, new_panels
from sottovoce.report.result import Row, StudyResult
from sottovoce.topics.judgements.profiles import HEALTH_FORUM_BASE, QUERY_LOG_BASE, sample_users
from sottovoce_lab.assess.experiment import SETTING, AssessStudy, AssessStudySizes
from sottovoce_lab.assess.outcomes import ScoredCommunity
from sottovoce_lab.options import StudyOptions, study_notes

# Beside the paper's two, one for scores that are less skewed than its own.
BASES = (1.0, 10.0, HEALTH_FORUM_BASE, QUERY_LOG_BASE)
SAMPLED = 100
TENTHS = 10
EVERYBODY = "everybody"
PAPER_USERS = 170_000
SHOWN = ("users", "base", "region", "share", "number", "paper_sampled", "paper_users")
(SLIP,) = study_notes("assess-figure-1")


def run_figure_1(options: StudyOptions) -> StudyResult:
    """Risk scores of users sampled by a^score against those of everybody.

    R-Susceptibility, Figure 1: risk scores of sample and full data.

    Regions are tenths of the range of scores. A base of 1 samples everybody alike.
    """
    if options.seeds is not None:
        raise ParameterError("assess-figure-1 shows one draw; leave --seeds out.")
    full = AssessStudySizes(users=4000, levels=(DEFAULT,))
    study = AssessStudy.from_options(options, full)
    measures = ("bow", "lda")
    (scored,) = replace(study, sizes=replace(study.sizes, seeds=1)).communities(measures)
    measure = measures[-1] if measures[-1] in scored.measures else measures[0]
    scores, drawn = _draw_scores(scored, measure)
    topic = scored.community.judged[0].name
    rows = [
        row | {"measure": measure, "topic": topic}
        for name, values in ({EVERYBODY: scores} | drawn).items()
        for row in _regions(name, values, scores)
    ]
    whose = "Your own community" if study.own else "A simulated community"
    note = f"{whose}, {len(scores)} users; strength of interest ({measure}) in {topic!r}."
    return StudyResult(tuple(rows), (_plot(scores, drawn),), SHOWN, (note, SLIP))


def _draw_scores(scored: ScoredCommunity, measure: str) -> tuple[Floats, dict[str, Floats]]:
    """Everybody's scores, and those of the users sampled with each base."""
    topic = scored.community.judged[0].name
    scores = scored.measures[measure].score(scored.state, topic, SETTING)
    users = scored.state.users.names().to_pylist()
    count = min(SAMPLED, len(users) // 2)
    return scores, {
        f"a = {base:g}": scores[sample_users(users, scores, count, base=base, seed=0)]
        for base in BASES
    }


def _regions(name: str, values: Floats, everybody: Floats) -> list[Row]:
    edges = np.linspace(everybody.min(), everybody.max(), TENTHS + 1)
    numbers, _ = np.histogram(values, edges)
    sampled = name != EVERYBODY
    return [
        {
            "users": name,
            "base": float(name.removeprefix("a = ")) if sampled else None,
            "region": f"{low:.2f} to {high:.2f}",
            "share": float(number / len(values)),
            "number": int(number),
            "paper_sampled": SAMPLED if name == f"a = {QUERY_LOG_BASE:g}" else None,
            "paper_users": PAPER_USERS if not sampled else None,
        }
        for low, high, number in zip(edges[:-1], edges[1:], numbers, strict=True)
    ]


def _plot(scores: Floats, drawn: dict[str, Floats]) -> Plot:
    figure, panels = new_panels(1, width=7.0, height=3.6)
    for colour, (name, values) in zip(COLOURS, ({EVERYBODY: scores} | drawn).items(), strict=False):
        place = (np.arange(len(values)) + 0.5) / len(values)
        panels[0].plot(place, np.sort(values)[::-1], color=colour, linewidth=1.4, label=name)
    panels[0].set(xlabel="users by falling score, as a share", ylabel="risk score")
    legend_below(figure, 5)
    counted = ", ".join(
        f"{name} {count_covered_tenths(values, scores)}" for name, values in drawn.items()
    )
    finding = (
        f"Regions (tenths of the range of scores) with at least 5% of the sample, of {TENTHS}: "
        f"{counted}; of everybody {count_covered_tenths(scores, scores)}."
    )
    return Plot(figure, finding, f"Falling curves of sorted scores. {finding}")


def count_covered_tenths(values: Sequence[float] | Floats, everybody: Floats) -> int:
    """How many tenths of the range of scores hold at least a twentieth of ``values``."""
    edges = np.linspace(everybody.min(), everybody.max(), TENTHS + 1)
    numbers, _ = np.histogram(values, edges)
    return int((numbers >= 0.05 * len(values)).sum())
