"""Topics and latent semantics of real text, all methods at several privacy levels.

Limited-Precision Release, Figure 2:
(a) topic Jaccard, (b) exclusivity, (c) coherence, (d) classification of LSA embeddings, and the
LSA reconstruction error; means and 95% intervals over seeds. Every level is run at the rate that
it states (tight) and at the rate that the paper's accounting really uses, M/K times that: within
one accounting all methods have one true epsilon, the uncompressed one included.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from matplotlib.figure import Figure

from sottovoce.errors import CorpusError
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.options import StudyOptions, study_notes
from sottovoce_lab.release import _scores, _study
from sottovoce_lab.release._study import ReleaseCase, ReleaseStudy, ReleaseStudySizes
from sottovoce_lab.release.count_measures import FOLDS

SHOWN = ("method", "accounting", "true_epsilon", "precision", "jaccard", "accuracy")
WIDE = ("exclusivity", "coherence", "lsa_error", "sparsity", "mean_length")
PAPER_TRUE_TEXT: Row = {"paper_exclusivity": 0.2642, "paper_coherence": -1.9167}
NOT_PRINTED: Row = {"paper_exclusivity": None, "paper_coherence": None}
ONLY_HERE = study_notes("release-figure-2")


def run_release_figure_2(options: StudyOptions) -> StudyResult:
    """Topics and latent semantics of complaints under every compression.

    Figure 2 on the complaints, or on other labelled documents.
    """
    sizes = _study.sizes_for(options, full=ReleaseStudySizes())
    corpus, recipe, notes = _study.prepare_documents(options, sizes)
    _require_classes(corpus)
    dimensions = min(sizes.dimensions, *(side // 2 for side in corpus.counts.shape))
    sizes = replace(sizes, dimensions=dimensions)
    result = run(ReleaseStudy(recipe, lambda _seed: corpus, sizes))
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


def run(study: ReleaseStudy) -> StudyResult:
    """Scores of every method, level and accounting, true text first."""
    rows = [_study.TRUE_TEXT | PAPER_TRUE_TEXT | _score_runs(study, None, Fraction(0))]
    for accounting in _study.ACCOUNTINGS:
        for level in study.sizes.levels:
            for method in study.recipe.methods:
                case = ReleaseCase(method, level, accounting)
                rate = study.rate(case)
                rows.append(case.labels(rate) | NOT_PRINTED | _score_runs(study, method, rate))
    sizes = study.columns | {"dimensions": study.sizes.dimensions}
    notes = (_printed_beside_ours(rows[0]), *_study.NOTES, *ONLY_HERE)
    finding = _finding(rows)
    plot = Plot(
        _figure(rows),
        finding,
        f"Six panels over the true rate, a line per method with error bars. {finding}",
    )
    return StudyResult(tuple(row | sizes for row in rows), (plot,), SHOWN, notes, WIDE)


def _score_runs(study: ReleaseStudy, method: str | None, rate: Fraction) -> Row:
    runs = study.runs(method, rate)
    return _scores.over_seeds(_scores.run_scores(run, study.sizes.dimensions) for run in runs)


def _printed_beside_ours(best: Row) -> str:
    return (
        f"Of the true text the paper prints an exclusivity of {best['paper_exclusivity']} and a "
        f"coherence of {best['paper_coherence']}; ours are {number(best, 'exclusivity'):.4f} and "
        f"{number(best, 'coherence'):.4f}, on another sample, vocabulary and number of topics."
    )


def _finding(rows: Sequence[Row]) -> str:
    best, *private = rows
    unigram, majority = number(best, "jaccard_unigram"), number(best, "accuracy_majority")
    topics = _scores.rates_where(private, lambda row: number(row, "jaccard_low") > unigram)
    classes = _scores.rates_where(private, lambda row: number(row, "accuracy_low") > majority)
    return (
        f"Topic Jaccard at equal true epsilon: {_scores.compared_with_none(private, 'jaccard')}. "
        f"Accuracy: {_scores.compared_with_none(private, 'accuracy')}. "
        "Some method's own 95% interval is "
        f"above the most frequent words ({unigram:.3f}) at {topics}, and above guessing the "
        f"largest class ({majority:.3f}) at {classes}."
    )


def _figure(rows: Sequence[Row]) -> Figure:
    return _scores.against_rate(
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
