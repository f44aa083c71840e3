"""Topics and latent semantics of real text, all methods at several privacy levels.

Limited-Precision Release, Figure 2:
(a) topic Jaccard, (b) exclusivity, (c) coherence, (d) classification of LSA embeddings, and the
LSA reconstruction error; means and 95% intervals over seeds. Every level is run at the rate that
it states (tight) and at the rate that the paper's accounting really uses, M/K times that: within
one accounting all methods have one true epsilon, the uncompressed one included.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from matplotlib.figure import Figure

from sottovoce.arrays import Floats
from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts
from sottovoce.release.topics.evaluation import MOST_TOKENS
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce.steps import repetitions
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release._cases import (
    ACCOUNTINGS,
    MIDDLE,
    NOTES,
    STRONG,
    TRUE_TEXT,
    WEAK,
    Level,
    ReleaseCase,
    ReleaseRecipe,
    compared_with_none,
    methods_for,
    other_seed,
    rates_where,
    release,
    study_topics,
)
from sottovoce_lab.release._scores import (
    against_rate,
    level_scores,
    over_seeds,
    semantic_scores,
    shape_scores,
    topic_scores,
)
from sottovoce_lab.release._sizes import ReleaseStudySizes, prepare_documents, sizes_for
from sottovoce_lab.release.count_measures import FOLDS

SHOWN = (
    "method",
    "accounting",
    "true_epsilon",
    "precision",
    "jaccard",
    "accuracy",
)
WIDE = ("exclusivity", "coherence", "lsa_error", "sparsity", "mean_length")
PAPER_TRUE_TEXT: Row = {"paper_exclusivity": 0.2642, "paper_coherence": -1.9167}
NOT_PRINTED: Row = {"paper_exclusivity": None, "paper_coherence": None}
ONLY_HERE = (
    (
        "Exclusivity and coherence reward noise: topics of rare words share nothing with each "
        "other, and a word in one document scores log(1/1) = 0. Read them beside the Jaccard."
    ),
)


@dataclass(frozen=True, eq=False)
class ReleaseFigure2Settings:
    """What to run; fewer documents, seeds, levels and iterations for a quick look."""

    recipe: ReleaseRecipe
    corpus: CountedCorpus
    topics: int = 25
    levels: Sequence[Level] = (WEAK, MIDDLE, STRONG)
    seeds: int = 5
    iterations: int = 200
    most_tokens: int = MOST_TOKENS
    dimensions: int = 50
    documents: int | None = None


def run_release_figure_2(options: StudyOptions) -> StudyResult:
    """Figure 2 on the complaints, or on other labelled documents."""
    sizes = sizes_for(options, full=ReleaseStudySizes())
    corpus, recipe, notes = prepare_documents(options, sizes)
    _require_classes(corpus)
    settings = ReleaseFigure2Settings(
        recipe,
        corpus,
        topics=sizes.topics,
        levels=sizes.levels,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
        dimensions=min(sizes.dimensions, *(side // 2 for side in corpus.counts.shape)),
    )
    result = run(settings)
    return replace(result, notes=result.notes + notes)


def _require_classes(corpus: CountedCorpus) -> None:
    """Before hours are spent: classification needs classes."""
    sizes = Counter(corpus.labels)
    if len(sizes) == 1 or min(sizes.values()) < FOLDS:
        raise CorpusError(
            f"release-figure-2 classifies: it needs 2 classes or more, of at least {FOLDS} "
            f"documents each, got {len(sizes)}, the smallest of {min(sizes.values())}. Map the "
            "class (--fields label=NAME), drop rare ones, or take more --documents."
        )


def run(settings: ReleaseFigure2Settings) -> StudyResult:
    """Scores of every method, level and accounting, true text first."""
    corpus = settings.corpus.first(settings.documents)
    truths = [study_topics(settings, corpus.counts, seed) for seed in repetitions(settings.seeds)]
    rows = [TRUE_TEXT | PAPER_TRUE_TEXT | _best_row(settings, corpus, truths)]
    for case in _cases(settings):
        rate = case.rate(corpus.counts.shape[1], settings.recipe.columns)
        scores = _scores(settings, case.method, rate, corpus, truths)
        rows.append(case.labels(rate) | NOT_PRINTED | scores)
    sizes = _sizes(settings, corpus)
    notes = (_printed_beside_ours(rows[0]), *NOTES, *ONLY_HERE)
    plot = Plot(_figure(rows), _finding(rows), _description(rows))
    return StudyResult(tuple(row | sizes for row in rows), (plot,), SHOWN, notes, WIDE)


def _sizes(settings: ReleaseFigure2Settings, corpus: CountedCorpus) -> Row:
    return {
        "data": corpus.name,
        "documents": corpus.counts.shape[0],
        "words": corpus.counts.shape[1],
        "columns": settings.recipe.columns,
        "topics": settings.topics,
        "iterations": settings.iterations,
        "most_tokens": settings.most_tokens,
        "dimensions": settings.dimensions,
    }


def _printed_beside_ours(best: Row) -> str:
    return (
        f"Of the true text the paper prints an exclusivity of {best['paper_exclusivity']} and a "
        f"coherence of {best['paper_coherence']}; ours are {number(best, 'exclusivity'):.4f} and "
        f"{number(best, 'coherence'):.4f}, on another sample, vocabulary and number of topics."
    )


def _cases(settings: ReleaseFigure2Settings) -> list[ReleaseCase]:
    return [
        ReleaseCase(method, level, accounting)
        for accounting in ACCOUNTINGS
        for level in settings.levels
        for method in methods_for(settings.recipe)
    ]


def _scores(
    settings: ReleaseFigure2Settings,
    method: str,
    rate: Fraction,
    corpus: CountedCorpus,
    truths: list[Floats],
) -> Row:
    runs = []
    for seed, true in enumerate(truths):
        private = release(settings.recipe, method, corpus.counts, rate, seed)
        phi = study_topics(settings, private, other_seed(settings, seed))
        runs.append(_run_scores(settings, phi, true, private, corpus, seed))
    return over_seeds(runs)


def _best_row(settings: ReleaseFigure2Settings, corpus: CountedCorpus, truths: list[Floats]) -> Row:
    """True text again with another seed of the topic model: the best that can be hoped for."""
    runs = []
    for seed, true in enumerate(truths):
        again = study_topics(settings, corpus.counts, other_seed(settings, seed))
        runs.append(_run_scores(settings, again, true, corpus.counts, corpus, seed))
    return over_seeds(runs)


def _run_scores(  # both models and both corpora
    settings: ReleaseFigure2Settings,
    phi: Floats,
    true: Floats,
    private: Counts,
    corpus: CountedCorpus,
    seed: int,
) -> dict[str, float]:
    semantics = semantic_scores(
        private, corpus.counts, corpus.labels, dimensions=settings.dimensions, seed=seed
    )
    topics = topic_scores(phi, true, corpus.counts) | level_scores(true, corpus.counts)
    return topics | semantics | shape_scores(private)


def _finding(rows: Sequence[Row]) -> str:
    best, *private = rows
    unigram, majority = number(best, "jaccard_unigram"), number(best, "accuracy_majority")
    topics = rates_where(private, lambda row: number(row, "jaccard_low") > unigram)
    classes = rates_where(private, lambda row: number(row, "accuracy_low") > majority)
    return (
        f"Topic Jaccard at equal true epsilon: {compared_with_none(private, 'jaccard')}. "
        f"Accuracy: {compared_with_none(private, 'accuracy')}. Some method's own 95% interval is "
        f"above the most frequent words ({unigram:.3f}) at {topics}, and above guessing the "
        f"largest class ({majority:.3f}) at {classes}."
    )


def _description(rows: Sequence[Row]) -> str:
    return f"Six panels over the true rate, a line per method with error bars. {_finding(rows)}"


def _figure(rows: Sequence[Row]) -> Figure:
    return against_rate(
        rows,
        {
            "jaccard": "(a) topic Jaccard",
            "exclusivity": "(b) exclusivity",
            "coherence": "(c) coherence",
            "accuracy": "(d) LSA classification",
            "lsa_error": "LSA reconstruction error",
            "mean_length": "mean document length",
        },
        {"jaccard": ("jaccard_chance", "jaccard_unigram"), "accuracy": ("accuracy_majority",)},
    )
