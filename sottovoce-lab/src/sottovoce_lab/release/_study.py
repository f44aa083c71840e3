"""How a release study works: documents, a case of a method at a privacy level, and its topics.

A level is as the paper states it, and as it truly is: its accounting uses M/K times the rate that
it states. A case is a method at a level in one accounting; all cases are released at their true
rates. Full sizes keep a run within about eight minutes on one core; every row records them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.privacy.mechanism import geometric_noise
from sottovoce.release.compression.embedding import LEAST_COVERAGE, WordVectors, read_embedding
from sottovoce.release.compression.frequency import PAID_PRIORS, Noise
from sottovoce.release.compression.maps import NoCompression
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.plan import COMPRESSIONS, chosen_compression
from sottovoce.release.topics.evaluation import fit_topics
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce_lab import _data
from sottovoce_lab._data import CountedCorpus, DataAbsentError
from sottovoce_lab.options import StudyOptions, study_notes

Accounting: TypeAlias = Literal["tight", "paper"]

NOTES = study_notes("release")


@dataclass(frozen=True)
class Level:
    """A stated (N, epsilon): limited-precision privacy of documents at L1 distance N."""

    epsilon: Fraction
    precision: int


WEAK, STRONG = Level(Fraction(5), 1), Level(Fraction(1, 2), 10)
MIDDLE = Level(Fraction(1, 2), 1)
ACCOUNTINGS: tuple[Accounting, ...] = ("tight", "paper")
_LABELS = ("method", "accounting", "stated_epsilon", "precision", "true_epsilon", "rate")
TRUE_TEXT: Row = dict.fromkeys(_LABELS, None) | {"method": "true text"}


@dataclass(frozen=True)
class ReleaseCase:
    """A method, what is said of its privacy, and who says it."""

    method: str
    level: Level
    accounting: Accounting

    def rate(self, words: int, columns: int) -> Fraction:
        """Nats per unit of L1, the same for every method of one level and accounting.

        That is epsilon / N, times M / K when counted as the paper does.
        """
        weaker = Fraction(words, columns) if self.accounting == "paper" else Fraction(1)
        return weaker * self.level.epsilon / self.level.precision

    def labels(self, rate: Fraction) -> Row:
        """The stated privacy beside the true one; without compression nothing is misstated."""
        true_epsilon = rate * self.level.precision
        stated = true_epsilon if self.method == "none" else self.level.epsilon
        known = (float(stated), self.level.precision, float(true_epsilon), float(rate))
        return dict(zip(_LABELS, (self.method, self.accounting, *known), strict=True))


ROWS_AT_ONCE = 512  # noise fills every cell of an uncompressed block
PRIOR_SHARE = Fraction(1, 10)
"""Of the rate, what pays for the frequencies: the paper's histogram, with noise once."""


@dataclass(frozen=True, eq=False)
class ReleaseRecipe:
    """How to release: (counts, rate) to counts with two-sided geometric noise, and K columns.

    The embedding methods need the words and a public vector space.
    """

    noise: Noise
    columns: int
    vocabulary: tuple[str, ...] = ()
    embedding: WordVectors | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods, less those that need an embedding when there is none."""
        return tuple(
            name for name in COMPRESSIONS if self.embedding or not name.startswith("embedding")
        )

    def release(self, method: str, counts: Counts, rate: Fraction, seed: int) -> Counts:
        """Decompressed private counts whose total rate, frequencies included, is ``rate``."""
        if method == "none":
            return self._release_uncompressed(counts, rate)
        prior = PAID_PRIORS["central"](rate * PRIOR_SHARE)
        chosen = chosen_compression(
            method,
            self.columns,
            prior.frequencies(counts, self.noise),
            seed,
            embedding=self.embedding,
            vocabulary=self.vocabulary,
        )
        compression = chosen.fit(counts)
        noisy = self.noise(compression.transform(counts), rate - prior.rate)
        return checked_counts(compression.inverse_transform(noisy))

    def _release_uncompressed(self, counts: Counts, rate: Fraction) -> Counts:
        kept = NoCompression().fit(counts[:1])
        blocks = [
            kept.inverse_transform(self.noise(counts[start : start + ROWS_AT_ONCE], rate))
            for start in range(0, counts.shape[0], ROWS_AT_ONCE)
        ]
        return checked_counts(sparse.csr_array(sparse.vstack(blocks, format="csr", dtype=np.int64)))


@dataclass(frozen=True)
class ReleaseStudySizes:
    """How much work a study does; corpora of more tokens than ``most_tokens`` are thinned."""

    documents: int = 1_500
    words: int = _data.MOST_WORDS
    topics: int = 25
    iterations: int = 100
    most_tokens: int = 500_000
    seeds: int = 5
    dimensions: int = 50
    levels: tuple[Level, ...] = (WEAK, MIDDLE, STRONG)


QUICK = ReleaseStudySizes(120, 250, 10, 5, 5_000, 2, 5, (WEAK, STRONG))


def sizes_for(options: StudyOptions, full: ReleaseStudySizes) -> ReleaseStudySizes:
    """The sizes that were asked for; the release studies take documents only."""
    if any((options.posts, options.truth, options.topics, options.models)):
        raise ParameterError("the release studies take documents: give --data, no posts or models.")
    base = QUICK if options.quick else full
    return replace(
        base, documents=options.documents or base.documents, seeds=options.seeds or base.seeds
    )


class StudyRun(NamedTuple):
    """One seed of a case: true and private counts, and the topics of both."""

    seed: int
    corpus: CountedCorpus
    true: Floats
    private: Counts
    phi: Floats


@dataclass(frozen=True, eq=False)
class ReleaseStudy:
    """How to release, the documents of each seed, and how much to do with them."""

    recipe: ReleaseRecipe
    documents: Callable[[int], CountedCorpus]
    sizes: ReleaseStudySizes

    @cached_property
    def references(self) -> list[tuple[CountedCorpus, Floats]]:
        """The documents of each seed, and the topics of their true text."""
        found = []
        for seed in repetitions(self.sizes.seeds):
            corpus = self.documents(seed)
            found.append((corpus, self._fit_topics(corpus.counts, seed)))
        return found

    @property
    def corpus(self) -> CountedCorpus:
        """The documents of the first seed."""
        return self.references[0][0]

    def rate(self, case: ReleaseCase) -> Fraction:
        """The true rate of a case on these documents."""
        return case.rate(self.corpus.counts.shape[1], self.recipe.columns)

    def runs(self, method: str | None, rate: Fraction = Fraction(0)) -> Iterator[StudyRun]:
        """Every seed's documents, released and read; without a method the true text, read again.

        That is the best that can be hoped for.
        """
        for seed, (corpus, true) in enumerate(self.references):
            private = corpus.counts
            if method is not None:
                private = self.recipe.release(method, private, rate, seed)
            # A seed of no reference: with one in common, little noise would look like none.
            phi = self._fit_topics(private, seed + self.sizes.seeds)
            yield StudyRun(seed, corpus, true, private, phi)

    @property
    def columns(self) -> Row:
        """How large it was, for every row."""
        documents, words = self.corpus.counts.shape
        return {
            "data": self.corpus.name,
            "documents": documents,
            "words": words,
            "columns": self.recipe.columns,
            "topics": self.sizes.topics,
            "iterations": self.sizes.iterations,
            "most_tokens": self.sizes.most_tokens,
        }

    def _fit_topics(self, counts: Counts, seed: int) -> Floats:
        size = self.sizes
        return fit_topics(
            counts, size.topics, seed + 1, iterations=size.iterations, most_tokens=size.most_tokens
        )


PAPER_COLUMNS = 100
EMBEDDING_FILE = "glove-twitter-25d.txt"
NO_EMBEDDING = (
    f"No public word vectors fit these words ({EMBEDDING_FILE} or --embedding FILE), so the "
    "embedding methods are left out."
)


def prepare_documents(
    options: StudyOptions, sizes: ReleaseStudySizes
) -> tuple[CountedCorpus, ReleaseRecipe, tuple[str, ...]]:
    """The documents, how to release them with exact noise, and what to note of both."""
    corpus = _data.load_corpus(
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
        vectors = read_embedding(_data.data_file(EMBEDDING_FILE), words=corpus.vocabulary)
    except (DataAbsentError, ModelFileError):
        return None
    _, known = vectors.lookup(corpus.vocabulary)
    return vectors if known.mean() >= LEAST_COVERAGE else None
