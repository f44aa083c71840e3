"""A private topic beside the true one, for the pair with the 10th-highest Jaccard.

Limited-Precision Release, Table 1.
The words are those of the first seed; the pair's Jaccard is also given over all seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.arrays import Floats
from sottovoce.release.topics.evaluation import TopicMatch, match_topics, mean_interval, top_words
from sottovoce.report.page import INK, Plot, legend_below, new_panels
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release import _scores, _study
from sottovoce_lab.release._study import (
    ACCOUNTINGS,
    STRONG,
    WEAK,
    Level,
    ReleaseCase,
    ReleaseStudy,
    ReleaseStudySizes,
)

LEVELS = (WEAK, STRONG)
DASHES = {WEAK: "-", STRONG: "--"}
PAPER_JACCARDS: dict[tuple[str, Level], float] = {
    ("none", WEAK): 0.6000,
    ("random", WEAK): 0.2121,
    ("frequency", WEAK): 0.6000,
    ("none", STRONG): 0.0256,
    ("random", STRONG): 0.0811,
    ("frequency", STRONG): 0.0811,
}
SHOWN = (
    "method", "accounting", "stated_epsilon", "precision", "true_epsilon", "pair_jaccard",
    "paper_jaccard",
)  # fmt: skip
WIDE = ("shared_words", "private_words", "true_words")


PAIR = 10


@dataclass(frozen=True, eq=False)
class _Compared:
    case: ReleaseCase
    row: Row
    first: TopicMatch


def run_release_table_1(options: StudyOptions) -> StudyResult:
    """A private topic beside the true one: the pair with the 10th-highest Jaccard.

    Table 1 on the complaints, or on other documents.
    """
    sizes = _study.sizes_for(options, full=ReleaseStudySizes())
    corpus, recipe, notes = _study.prepare_documents(options, sizes)
    result = run(ReleaseStudy(recipe, lambda _seed: corpus, sizes))
    return replace(result, notes=result.notes + notes)


def run(study: ReleaseStudy, pair: int = PAIR) -> StudyResult:
    """One row per method, level and accounting; ``pair`` counts from 1."""
    compared = [
        _compare(study, ReleaseCase(method, level, accounting), pair)
        for accounting in ACCOUNTINGS
        for level in LEVELS
        for method in study.recipe.methods
    ]
    rows = tuple(each.row for each in compared)
    finding = _finding(rows)
    plot = Plot(
        _figure(compared),
        finding,
        f"Jaccards of topic pairs, best first, in each accounting. {finding}",
    )
    return StudyResult(rows, (plot,), SHOWN, _study.NOTES, WIDE)


def _compare(study: ReleaseStudy, case: ReleaseCase, pair: int) -> _Compared:
    rate = study.rate(case)
    runs = list(study.runs(case.method, rate))
    matches = [match_topics(run.phi, run.true) for run in runs]
    first, match, place = runs[0], matches[0], pair - 1
    ours = _words(first.corpus, first.phi, int(match.private[place]))
    theirs = _words(first.corpus, first.true, int(match.true[place]))
    interval = mean_interval([float(each.jaccards[place]) for each in matches])
    row: Row = {
        "pair": pair,
        "jaccard": float(match.jaccards[place]),
        "jaccard_mean": match.mean,
        "private_words": ours,
        "true_words": theirs,
        "shared_words": [word for word in ours if word in theirs],
        "pair_jaccard": interval.mean,
        "pair_jaccard_low": interval.low,
        "pair_jaccard_high": interval.high,
        "seeds": len(matches),
        **study.columns,
        "paper_jaccard": _paper_figure(case),
        **_scores.level_scores(first.true, first.corpus.counts),
    }
    return _Compared(case, case.labels(rate) | row, match)


def _paper_figure(case: ReleaseCase) -> float | None:
    """The paper's figure; its uncompressed ones are at the stated rate, which is the tight one."""
    if case.method == "none" and case.accounting == "paper":
        return None
    return PAPER_JACCARDS.get((case.method, case.level))


def _words(corpus: CountedCorpus, phi: Floats, topic: int) -> list[str]:
    return [corpus.vocabulary[word] for word in top_words(phi)[topic]]


def _finding(rows: Sequence[Row]) -> str:
    """The pair's Jaccards at each true epsilon: without compression, and the best with it."""
    parts = []
    levels = {(number(row, "true_epsilon"), number(row, "precision")) for row in rows}
    for epsilon, precision in sorted(levels, reverse=True):
        level = (epsilon, precision)
        there = [row for row in rows if (row["true_epsilon"], row["precision"]) == level]
        plain = [number(row, "pair_jaccard") for row in there if row["method"] == "none"]
        packed = [number(row, "pair_jaccard") for row in there if row["method"] != "none"]
        parts.append(
            f"true epsilon {epsilon:.3g}, N = {precision:g}: {plain[0]:.2f} without "
            f"compression, {min(packed):.2f} to {max(packed):.2f} with it"
        )
    return f"Jaccard of the pair at place {rows[0]['pair']}: {'; '.join(parts)}."


def _figure(compared: Sequence[_Compared]) -> Figure:
    figure, panels = new_panels(len(ACCOUNTINGS), width=8.2, height=4.4, share_y=True)
    for axes, accounting in zip(panels, ACCOUNTINGS, strict=True):
        own = [each for each in compared if each.case.accounting == accounting]
        for each in own:
            _draw_pairs(axes, each)
        chance = number(compared[0].row, "jaccard_chance")
        axes.axhline(chance, color=INK, linewidth=1, linestyle=":", label="chance")
        axes.set(title=_title(accounting, own), xlabel="topic pairs, best first")
    panels[0].set_ylabel("Jaccard of the 20 top words")
    legend_below(figure, 3)
    return figure


def _title(accounting: str, compared: Sequence[_Compared]) -> str:
    true = {each.row["precision"]: number(each.row, "true_epsilon") for each in compared}
    levels = "; ".join(f"{epsilon:.3g} (N = {n})" for n, epsilon in true.items())
    return f"{accounting} accounting\ntrue epsilon {levels}"


def _draw_pairs(axes: Axes, compared: _Compared) -> None:
    case = compared.case
    axes.plot(
        range(1, len(compared.first.jaccards) + 1),
        compared.first.jaccards,
        color=_scores.COLOUR[case.method],
        linestyle=DASHES[case.level],
        linewidth=1.2,
        marker=_scores.MARKERS[case.method],
        markersize=3,
        label=f"{_scores.LABELS[case.method]}, N = {case.level.precision}",
    )
