"""A private topic beside the true one, for the pair with the 10th-highest Jaccard.

Limited-Precision Release, Table 1.
The words are those of the first seed; the pair's Jaccard is also given over all seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.release.topics.evaluation import (
    MOST_TOKENS,
    TopicMatch,
    match_topics,
    mean_interval,
    top_words,
)
from sottovoce.report.figures import INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce.steps import repetitions
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release._cases import (
    ACCOUNTINGS,
    NOTES,
    STRONG,
    WEAK,
    Level,
    ReleaseCase,
    ReleaseRecipe,
    methods_for,
    other_seed,
    release,
    study_topics,
)
from sottovoce_lab.release._scores import COLOUR, LABELS, MARKERS, level_scores
from sottovoce_lab.release._sizes import ReleaseStudySizes, prepare_documents, sizes_for

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
    "method",
    "accounting",
    "stated_epsilon",
    "precision",
    "true_epsilon",
    "pair_jaccard",
    "paper_jaccard",
)
WIDE = ("shared_words", "private_words", "true_words")


@dataclass(frozen=True, eq=False)
class ReleaseTable1Settings:
    """What to run; fewer documents and iterations for a quick look. ``pair`` counts from 1."""

    recipe: ReleaseRecipe
    corpus: CountedCorpus
    topics: int = 25
    pair: int = 10
    seeds: int = 1
    iterations: int = 200
    most_tokens: int = MOST_TOKENS
    documents: int | None = None

    def __post_init__(self) -> None:
        """Refuse a pair that does not exist."""
        if not 1 <= self.pair <= self.topics:
            raise ParameterError(f"pair must be 1 to {self.topics}, the topics, got {self.pair}.")


@dataclass(frozen=True, eq=False)
class _Compared:
    case: ReleaseCase
    row: Row
    first: TopicMatch


def run_release_table_1(options: StudyOptions) -> StudyResult:
    """Table 1 on the complaints, or on other documents."""
    sizes = sizes_for(options, full=ReleaseStudySizes())
    corpus, recipe, notes = prepare_documents(options, sizes)
    settings = ReleaseTable1Settings(
        recipe,
        corpus,
        topics=sizes.topics,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
    )
    result = run(settings)
    return replace(result, notes=result.notes + notes)


def run(settings: ReleaseTable1Settings) -> StudyResult:
    """One row per method, level and accounting."""
    corpus = settings.corpus.first(settings.documents)
    truths = [study_topics(settings, corpus.counts, seed) for seed in repetitions(settings.seeds)]
    compared = [
        _compare(settings, corpus, truths, ReleaseCase(method, level, accounting))
        for accounting in ACCOUNTINGS
        for level in LEVELS
        for method in methods_for(settings.recipe)
    ]
    rows = tuple(each.row for each in compared)
    finding = _finding(rows)
    description = f"Jaccards of topic pairs, best first, in each accounting. {finding}"
    return StudyResult(rows, (Plot(_figure(compared), finding, description),), SHOWN, NOTES, WIDE)


def _compare(
    settings: ReleaseTable1Settings,
    corpus: CountedCorpus,
    truths: Sequence[Floats],
    case: ReleaseCase,
) -> _Compared:
    rate = case.rate(corpus.counts.shape[1], settings.recipe.columns)
    models, matches = [], []
    for seed, true in enumerate(truths):
        private = release(settings.recipe, case.method, corpus.counts, rate, seed)
        models.append(study_topics(settings, private, other_seed(settings, seed)))
        matches.append(match_topics(models[-1], true))
    row = case.labels(rate) | _pair_row(settings, corpus, matches[0], models[0], truths[0])
    row |= _over_seeds(settings, matches) | _sizes(settings, corpus)
    row |= {"paper_jaccard": _paper_figure(case), **level_scores(truths[0], corpus.counts)}
    return _Compared(case, row, matches[0])


def _paper_figure(case: ReleaseCase) -> float | None:
    """The paper's figure; its uncompressed ones are at the stated rate, which is the tight one."""
    if case.method == "none" and case.accounting == "paper":
        return None
    return PAPER_JACCARDS.get((case.method, case.level))


def _pair_row(
    settings: ReleaseTable1Settings,
    corpus: CountedCorpus,
    match: TopicMatch,
    private: Floats,
    true: Floats,
) -> Row:
    place = settings.pair - 1
    ours = _words(corpus, private, int(match.private[place]))
    theirs = _words(corpus, true, int(match.true[place]))
    return {
        "pair": settings.pair,
        "jaccard": float(match.jaccards[place]),
        "jaccard_mean": match.mean,
        "private_words": ours,
        "true_words": theirs,
        "shared_words": [word for word in ours if word in theirs],
    }


def _over_seeds(settings: ReleaseTable1Settings, matches: Sequence[TopicMatch]) -> Row:
    interval = mean_interval([float(match.jaccards[settings.pair - 1]) for match in matches])
    return {
        "pair_jaccard": interval.mean,
        "pair_jaccard_low": interval.low,
        "pair_jaccard_high": interval.high,
        "seeds": len(matches),
    }


def _sizes(settings: ReleaseTable1Settings, corpus: CountedCorpus) -> Row:
    return {
        "data": corpus.name,
        "documents": corpus.counts.shape[0],
        "words": corpus.counts.shape[1],
        "columns": settings.recipe.columns,
        "topics": settings.topics,
        "iterations": settings.iterations,
        "most_tokens": settings.most_tokens,
    }


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
        color=COLOUR[case.method],
        linestyle=DASHES[case.level],
        linewidth=1.2,
        marker=MARKERS[case.method],
        markersize=3,
        label=f"{LABELS[case.method]}, N = {case.level.precision}",
    )
