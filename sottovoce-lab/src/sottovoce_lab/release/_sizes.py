"""What the release studies work on: how much of which documents, and how these are released.

Full sizes keep a run within about eight minutes on one core; every row records them.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.privacy.mechanism import geometric_noise
from sottovoce.release.compression.embedding import LEAST_COVERAGE, WordVectors, read_embedding
from sottovoce_lab._data import (
    MOST_WORDS,
    CountedCorpus,
    DataAbsentError,
    data_file,
    load_corpus,
)
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release._cases import MIDDLE, STRONG, WEAK, Level, ReleaseRecipe

PAPER_COLUMNS = 100
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


def sizes_for(options: StudyOptions, full: ReleaseStudySizes) -> ReleaseStudySizes:
    """The sizes that were asked for; the release studies take documents only."""
    if any((options.posts, options.truth, options.topics, options.models)):
        raise ParameterError("the release studies take documents: give --data, no posts or models.")
    base = QUICK if options.quick else full
    return replace(
        base,
        documents=options.documents or base.documents,
        seeds=options.seeds or base.seeds,
    )


def prepare_documents(
    options: StudyOptions, sizes: ReleaseStudySizes
) -> tuple[CountedCorpus, ReleaseRecipe, tuple[str, ...]]:
    """The documents, how to release them with exact noise, and what to note of both."""
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
    except (DataAbsentError, ModelFileError):
        return None
    _, known = vectors.lookup(corpus.vocabulary)
    return vectors if known.mean() >= LEAST_COVERAGE else None
