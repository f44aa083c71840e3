"""What a release is still good for: topics, a classifier, and how often topics are spoken of.

Each is read as the law of the noise allows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import CorpusError
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.reading import counted_classifier, counted_topics
from sottovoce.loop._reading import Reading
from sottovoce.loop.documents import UserDocuments
from sottovoce.release.classify.logistic import chosen_classifier
from sottovoce.release.counts import Counts
from sottovoce.release.plan import Released
from sottovoce.release.topics.evaluation import (
    chance_jaccard,
    fit_topics,
    match_topics,
    topic_coherence,
)
from sottovoce.topics.catalogue import Catalogue

HOLDERS = 4
OTHER, ASKED, APART = "another domain", "the domain asked for", "kept apart"
"""Public names of what a document is to the classifier."""
_HELD_OUT = 4
"""A user in so many is kept for judging the classifier."""
_LEAST_DOCUMENTS = 40


@dataclass(frozen=True)
class Effort:
    """How long topic models are trained.

    >>> Effort(iterations=20).topics
    40
    """

    topics: int = 40
    iterations: int = 50
    most_tokens: int = 150_000


class Task:
    """Tasks on the true counts, to be done again on what was released.

    The topics: how many top words of LDA's topics of the true counts those of the release keep. The
    classifier: does a document speak mostly of one domain of the catalogue, the one nearest to half
    of all documents; the labels are of the true counts, and known to the learners. It is judged on
    people whom it has not seen, by their true documents and by their released ones. The totals: how
    often each topic's words were used in all.
    """

    def __init__(
        self, documents: UserDocuments, catalogue: Catalogue, effort: Effort, seed: int
    ) -> None:
        self._documents, self._effort, self._seed = documents, effort, seed
        self.domain, self._rows, self._labels = _question(documents, catalogue)
        self._of_topics = _membership(documents.words, catalogue)

    def reading(self, drawn: Released, rate: float | None) -> Reading:
        """The release as friends and adversaries alike read it."""
        sizes = self._effort.topics, self._effort.iterations
        return Reading(drawn.counts, drawn.maps[0], drawn.frequencies, rate, *sizes, self._seed)

    def usefulness(self, reading: Reading) -> dict[str, float]:
        """Scores of all tasks on a release, as the law of its noise allows."""
        totals = np.asarray(reading.cells.sum(axis=0) @ reading.spread)
        return {
            "jaccard": match_topics(reading.topics, self._true).mean,
            "coherence": topic_coherence(reading.topics, self._documents.counts),
            **self._accuracies(reading),
            "totals_error": self._totals_error(totals),
        }

    def counted_usefulness(
        self, pairs: TogetherCounts, words: TogetherCounts, texts: Sequence[str]
    ) -> dict[str, float]:
        """Scores of the tasks on opened sums, of pairs and of words by `label_names`.

        There are no released documents to classify, so that the classifier is judged by true ones.
        """
        phi = counted_topics(pairs, self._effort.topics, seed=self._seed).components
        held = self._rows[self._is_held]
        said = counted_classifier(_of_labels(words, (ASKED, OTHER))).predict(
            [texts[row] for row in held]
        )
        right = np.where(self._labels[self._is_held] == 1, ASKED, OTHER)
        totals = words.word_totals.sum(axis=0).astype(np.float64)
        return {
            "jaccard": match_topics(phi, self._true).mean,
            "coherence": topic_coherence(phi, self._documents.counts),
            "accuracy_true": float(np.mean(said == right)),
            "totals_error": self._totals_error(totals),
        }

    @property
    def label_names(self) -> NDArray[np.str_]:
        """Of every document: its label, or that it is kept apart, for judging or unanswered."""
        names = np.full(self._documents.rows, APART, dtype=f"<U{len(ASKED)}")
        learnt = ~self._is_held
        names[self._rows[learnt]] = np.where(self._labels[learnt] == 1, ASKED, OTHER)
        return names

    @cached_property
    def levels(self) -> Mapping[str, float]:
        """What is reached without looking: random topics, and always the same label."""
        held = self._labels[self._is_held]
        most = max(np.mean(held == 1), np.mean(held == -1))
        width = self._documents.counts.shape[1]
        return {
            "jaccard_chance": chance_jaccard(width, self._effort.topics, draws=50),
            "accuracy_majority": float(most),
        }

    def _topics(self, counts: Counts, seed: int) -> Floats:
        effort = self._effort
        return fit_topics(
            counts,
            effort.topics,
            seed,
            iterations=effort.iterations,
            most_tokens=effort.most_tokens,
        )

    @cached_property
    def _true(self) -> Floats:
        return self._topics(self._documents.counts, self._seed)

    def _accuracies(self, reading: Reading) -> dict[str, float]:
        """Of a classifier that knows the noise, on released and on true documents."""
        learnt, held = ~self._is_held, self._is_held
        cells, true = reading.cells[self._rows], reading.word_map.compress(self._own)
        trained = chosen_classifier(
            cells[learnt], self._labels[learnt], reading.law.rate, seed=self._seed
        )
        return {
            "accuracy": float(np.mean(trained.predict_released(cells[held]) == self._labels[held])),
            "accuracy_true": float(np.mean(trained.predict(true[held]) == self._labels[held])),
        }

    def _totals_error(self, totals: Floats) -> float:
        """How far the topics' totals are off, all together, as a share of what they are."""
        true = np.asarray(self._documents.counts.sum(axis=0), np.float64) @ self._of_topics
        return float(np.abs(totals @ self._of_topics - true).sum() / true.sum())

    @property
    def _own(self) -> Counts:
        return self._documents.counts[self._rows]

    @property
    def _writers(self) -> NDArray[np.int64]:
        return self._documents.owners[self._rows]

    @cached_property
    def _is_held(self) -> NDArray[np.bool_]:
        """By user, so that nobody's words are both learnt from and judged by."""
        held: NDArray[np.bool_] = self._writers % _HELD_OUT == 0
        return held


def _of_labels(counted: TogetherCounts, labels: tuple[str, ...]) -> TogetherCounts:
    """The rows of these labels, of a sum that has others, too."""
    own = tuple(label for label in counted.labels if label in labels)
    rows = counted.totals.reshape(len(counted.labels), -1)
    kept = rows[[counted.labels.index(label) for label in own]].ravel()
    return replace(counted, labels=own, totals=kept)


def _question(
    documents: UserDocuments, catalogue: Catalogue
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """The domain asked for, the documents that have an answer, and the answers, 1 or -1."""
    domains = sorted({topic.domain for topic in catalogue})
    of_topics = _membership(documents.words, catalogue)
    indicator = np.zeros((len(documents.words), len(domains)))
    for place, topic in enumerate(catalogue):
        indicator[of_topics[:, place] > 0, domains.index(topic.domain)] = 1
    spoken = np.asarray(documents.counts @ indicator)
    rows = np.flatnonzero(spoken.max(axis=1) > 0)
    mostly = spoken[rows].argmax(axis=1)
    shares = np.bincount(mostly, minlength=len(domains)) / max(1, rows.size)
    asked = int(np.abs(shares - 0.5).argmin())
    labels = np.where(mostly == asked, 1, -1)
    if rows.size < _LEAST_DOCUMENTS or np.ptp(labels) == 0:
        raise CorpusError(
            f"the loop needs at least {_LEAST_DOCUMENTS} documents with words of two domains of "
            f"the catalogue, got {rows.size}; give more posts or a wider catalogue."
        )
    return domains[asked], rows, labels


def _membership(words: Sequence[str], catalogue: Catalogue) -> Floats:
    """Words x topics: 1 where the word is one of the topic's."""
    return np.stack([np.isin(words, topic.words) for topic in catalogue], axis=1).astype(np.float64)
