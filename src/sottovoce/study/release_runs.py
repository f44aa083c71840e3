"""The release studies as one command each: sizes, data, exact noise.

Full sizes keep a run within about eight minutes on one core; every row records them.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.corpus.simulate import lda_counts
from sottovoce.data import DataAbsentError, data_file
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.baselines.laplace import LaplaceBaseline
from sottovoce.release.compression import WordVectors, read_embedding
from sottovoce.release.compression.embedded import LEAST_COVERAGE
from sottovoce.release.counts import Counts, Floats, checked_counts
from sottovoce.release.evaluation.semantics import FOLDS
from sottovoce.release.exact import Exact
from sottovoce.release.mechanism import geometric_noise
from sottovoce.study import release_figure_1, release_figure_2, release_synthetic, release_table_1
from sottovoce.study.corpora import MOST_WORDS, SIMULATED, CountedCorpus, load_corpus
from sottovoce.study.options import Options
from sottovoce.study.release_parts.levels import MIDDLE, STRONG, WEAK, Level
from sottovoce.study.release_parts.methods import Recipe
from sottovoce.study.result import StudyResult
from sottovoce.topics.w2v.files.limits import EmbeddingError

PAPER_COLUMNS = 100
SYNTHETIC_COLUMNS = 10
EMBEDDING_FILE = "glove-twitter-25d.txt"
NO_EMBEDDING = (
    f"No public word vectors fit these words ({EMBEDDING_FILE} or --embedding FILE), so the "
    "embedding methods are left out."
)


@dataclass(frozen=True)
class Sizes:
    """How much work a study does."""

    documents: int = 1_500
    words: int = MOST_WORDS
    topics: int = 25
    iterations: int = 100
    most_tokens: int = 500_000
    seeds: int = 5
    dimensions: int = 50
    levels: tuple[Level, ...] = (WEAK, MIDDLE, STRONG)


QUICK = Sizes(
    documents=120,
    words=250,
    topics=10,
    iterations=5,
    most_tokens=5_000,
    seeds=2,
    dimensions=5,
    levels=(WEAK, STRONG),
)


def run_figure_1(options: Options) -> StudyResult:
    """Figure 1 on the complaints, or on other documents."""
    if options.seeds is not None:
        raise ParameterError("release-figure-1 shows one draw; leave --seeds out.")
    sizes = _sizes(options, full=Sizes(documents=100))
    corpus, recipe, notes = _prepared(options, sizes)
    result = release_figure_1.run(
        release_figure_1.Settings(recipe, _laplace, corpus, documents=sizes.documents)
    )
    return replace(result, notes=result.notes + notes)


def run_synthetic(options: Options) -> StudyResult:
    """The in-text Jaccards, on documents made for the purpose."""
    if options.data not in {None, SIMULATED} or options.embedding is not None:
        raise ParameterError("release-synthetic makes its own data; leave --data out.")
    sizes = _sizes(options, full=Sizes(documents=1_000))
    grid = release_synthetic.GRID[::3] if options.quick else release_synthetic.GRID

    def simulate(seed: int) -> Counts:
        return checked_counts(lda_counts(sizes.documents, seed=seed).counts)

    settings = release_synthetic.Settings(
        Recipe(geometric_noise, SYNTHETIC_COLUMNS),
        simulate,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
        grid=grid,
    )
    return release_synthetic.run(settings)


def run_figure_2(options: Options) -> StudyResult:
    """Figure 2 on the complaints, or on other labelled documents."""
    sizes = _sizes(options, full=Sizes())
    corpus, recipe, notes = _prepared(options, sizes)
    _require_classes(corpus)
    settings = release_figure_2.Settings(
        recipe,
        corpus,
        topics=sizes.topics,
        levels=sizes.levels,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
        dimensions=min(sizes.dimensions, *(side // 2 for side in corpus.counts.shape)),
    )
    result = release_figure_2.run(settings)
    return replace(result, notes=result.notes + notes)


def run_table_1(options: Options) -> StudyResult:
    """Table 1 on the complaints, or on other documents."""
    sizes = _sizes(options, full=Sizes())
    corpus, recipe, notes = _prepared(options, sizes)
    settings = release_table_1.Settings(
        recipe,
        corpus,
        topics=sizes.topics,
        seeds=sizes.seeds,
        iterations=sizes.iterations,
        most_tokens=sizes.most_tokens,
    )
    result = release_table_1.run(settings)
    return replace(result, notes=result.notes + notes)


def _sizes(options: Options, full: Sizes) -> Sizes:
    if any((options.posts, options.truth, options.topics, options.models)):
        raise ParameterError("the release studies take documents: give --data, no posts or models.")
    base = QUICK if options.quick else full
    return replace(
        base,
        documents=options.documents or base.documents,
        seeds=options.seeds or base.seeds,
    )


def _prepared(options: Options, sizes: Sizes) -> tuple[CountedCorpus, Recipe, tuple[str, ...]]:
    corpus = load_corpus(
        options.data or "complaints",
        documents=sizes.documents,
        most_words=sizes.words,
        read=options.read,
    )
    embedding = _embedding(options.embedding, corpus)
    # As many words to a column as in the paper, or at least ten when words are few.
    columns = max(1, min(PAPER_COLUMNS, len(corpus.vocabulary) // 10))
    recipe = Recipe(geometric_noise, columns, corpus.vocabulary, embedding)
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
