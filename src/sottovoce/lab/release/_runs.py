"""The release studies as one command each: sizes, data, exact noise.

Full sizes keep a run within about eight minutes on one core; every row records them.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce._arrays import Floats
from sottovoce.corpus.simulate import lda_counts
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.lab._data import (
    MOST_WORDS,
    SIMULATED,
    CountedCorpus,
    DataAbsentError,
    data_file,
    load_corpus,
)
from sottovoce.lab._options import StudyOptions
from sottovoce.lab.release import figure_1, figure_2, synthetic, table_1
from sottovoce.lab.release._cases import MIDDLE, STRONG, WEAK, Level, ReleaseRecipe
from sottovoce.privacy._exact import Exact
from sottovoce.privacy._mechanism import geometric_noise
from sottovoce.release._baselines import LaplaceBaseline
from sottovoce.release._counts import Counts, checked_counts
from sottovoce.release.compression import WordVectors, read_embedding
from sottovoce.release.compression._embedding import LEAST_COVERAGE
from sottovoce.release.evaluation._counts import FOLDS
from sottovoce.report._result import StudyResult
from sottovoce.topics.w2v._files import EmbeddingError

PAPER_COLUMNS = 100
SYNTHETIC_COLUMNS = 10
EMBEDDING_FILE = "glove-twitter-25d.txt"
NO_EMBEDDING = (
    f"No public word vectors fit these words ({EMBEDDING_FILE} or --embedding FILE), so the "
    "embedding methods are left out."
)


@dataclass(frozen=True)
class ReleaseStudySizes:
    """How much work a study does."""

    documents: int = 1_500
    words: int = MOST_WORDS
    topics: int = 25
    iterations: int = 100
    most_tokens: int = 500_000
    seeds: int = 5
    dimensions: int = 50
    levels: tuple[Level, ...] = (WEAK, MIDDLE, STRONG)


QUICK = ReleaseStudySizes(
    documents=120,
    words=250,
    topics=10,
    iterations=5,
    most_tokens=5_000,
    seeds=2,
    dimensions=5,
    levels=(WEAK, STRONG),
)


def run_figure_1(options: StudyOptions) -> StudyResult:
    """Figure 1 on the complaints, or on other documents."""
    if options.seeds is not None:
        raise ParameterError("release-figure-1 shows one draw; leave --seeds out.")
    sizes = _sizes(options, full=ReleaseStudySizes(documents=100))
    corpus, recipe, notes = _prepared(options, sizes)
    result = figure_1.run(
        figure_1.ReleaseFigure1Settings(recipe, _laplace, corpus, documents=sizes.documents)
    )
    return replace(result, notes=result.notes + notes)


def run_synthetic(options: StudyOptions) -> StudyResult:
    """The in-text Jaccards, on documents made for the purpose."""
    if options.data not in {None, SIMULATED} or options.embedding is not None:
        raise ParameterError("release-synthetic makes its own data; leave --data out.")
    sizes = _sizes(options, full=ReleaseStudySizes(documents=1_000))
    grid = synthetic.GRID[::3] if options.quick else synthetic.GRID

    def simulate(seed: int) -> Counts:
        return checked_counts(lda_counts(sizes.documents, seed=seed).counts)

    settings = synthetic.SyntheticReleaseSettings(
        ReleaseRecipe(geometric_noise, SYNTHETIC_COLUMNS),
        simulate,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
        grid=grid,
    )
    return synthetic.run(settings)


def run_figure_2(options: StudyOptions) -> StudyResult:
    """Figure 2 on the complaints, or on other labelled documents."""
    sizes = _sizes(options, full=ReleaseStudySizes())
    corpus, recipe, notes = _prepared(options, sizes)
    _require_classes(corpus)
    settings = figure_2.ReleaseFigure2Settings(
        recipe,
        corpus,
        topics=sizes.topics,
        levels=sizes.levels,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
        dimensions=min(sizes.dimensions, *(side // 2 for side in corpus.counts.shape)),
    )
    result = figure_2.run(settings)
    return replace(result, notes=result.notes + notes)


def run_table_1(options: StudyOptions) -> StudyResult:
    """Table 1 on the complaints, or on other documents."""
    sizes = _sizes(options, full=ReleaseStudySizes())
    corpus, recipe, notes = _prepared(options, sizes)
    settings = table_1.ReleaseTable1Settings(
        recipe,
        corpus,
        topics=sizes.topics,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
    )
    result = table_1.run(settings)
    return replace(result, notes=result.notes + notes)


def _sizes(options: StudyOptions, full: ReleaseStudySizes) -> ReleaseStudySizes:
    if any((options.posts, options.truth, options.topics, options.models)):
        raise ParameterError("the release studies take documents: give --data, no posts or models.")
    base = QUICK if options.quick else full
    return replace(
        base,
        documents=options.documents or base.documents,
        seeds=options.seeds or base.seeds,
    )


def _prepared(
    options: StudyOptions, sizes: ReleaseStudySizes
) -> tuple[CountedCorpus, ReleaseRecipe, tuple[str, ...]]:
    corpus = load_corpus(
        options.data or "complaints",
        documents=sizes.documents,
        most_words=sizes.words,
        read=options.read,
    )
    embedding = _embedding(options.embedding, corpus)
    # As many words to a column as in the paper, or at least ten when words are few.
    columns = max(1, min(PAPER_COLUMNS, len(corpus.vocabulary) // 10))
    recipe = ReleaseRecipe(geometric_noise, columns, corpus.vocabulary, embedding)
    return corpus, recipe, (corpus.note, *(() if embedding else (NO_EMBEDDING,)))


def _embedding(given: Path | None, corpus: CountedCorpus) -> WordVectors | None:
    """The user's vectors; else those beside the data sets, if they know half of the words."""
    if given is not None:
        return read_embedding(given, words=corpus.vocabulary)
    try:
        vectors = read_embedding(data_file(EMBEDDING_FILE), words=corpus.vocabulary)
    except (DataAbsentError, EmbeddingError):
        return None
    _, known = vectors.lookup(corpus.vocabulary)
    return vectors if known.mean() >= LEAST_COVERAGE else None


def _require_classes(corpus: CountedCorpus) -> None:
    """Before hours are spent: classification needs classes."""
    sizes = Counter(corpus.labels)
    if len(sizes) == 1 or min(sizes.values()) < FOLDS:
        raise CorpusError(
            f"release-figure-2 classifies: it needs 2 classes or more, of at least {FOLDS} "
            f"documents each, got {len(sizes)}, the smallest of {min(sizes.values())}. Map the "
            "class (--fields label=NAME), drop rare ones, or take more --documents."
        )


def _laplace(counts: Counts, rate: Exact) -> Floats:
    return LaplaceBaseline(float(rate)).release(counts.toarray())
