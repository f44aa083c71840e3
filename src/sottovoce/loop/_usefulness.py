"""What a release is still good for: topics, and one classifier that four holders learn from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import CorpusError
from sottovoce.learn import train
from sottovoce.learn._training_terms import ALLOW_RARE
from sottovoce.loop._subject import UserDocuments
from sottovoce.release._counts import Counts
from sottovoce.release.compression import WordMap, multinomial_counts
from sottovoce.release.evaluation import chance_jaccard, fit_topics, match_topics, topic_coherence
from sottovoce.topics._catalogue import Catalogue

HOLDERS = 4
_HELD_OUT = 4
"""A user in so many is kept for judging the classifier."""
_LEAST_DOCUMENTS = 40
_ENOUGH_TO_CHOOSE = 1000
_PENALTY = 0.01


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
    """Two tasks on the true counts, to be done again on what was released.

    The topics: LDA, and how many top words its topics keep. The classifier: does a document speak
    mostly of one domain of the catalogue, the one nearest to half of all documents; the labels are
    of the true counts, and known to the holders.
    """

    def __init__(
        self, documents: UserDocuments, catalogue: Catalogue, effort: Effort, seed: int
    ) -> None:
        self._documents, self._effort, self._seed = documents, effort, seed
        self.domain, self._rows, self._labels = _question(documents, catalogue)

    def usefulness(
        self, released: Counts, word_map: WordMap, frequencies: Floats
    ) -> dict[str, float]:
        """Scores of both tasks on ``released``, whose columns ``word_map`` made."""
        generator = np.random.default_rng(self._seed)
        words = multinomial_counts(released, word_map, frequencies, generator)
        phi = self._topics(words, self._seed + 1)
        return {
            "jaccard": match_topics(phi, self._true).mean,
            "coherence": topic_coherence(phi, self._documents.counts),
            "accuracy": self._accuracy(released),
        }

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

    def _accuracy(self, released: Counts) -> float:
        rows = released[self._rows].toarray().astype(np.float64)
        rows /= max(1.0, float(np.abs(rows).max()))
        learnt, held = ~self._is_held, self._is_held
        holder = self._writers // _HELD_OUT % HOLDERS
        parts = [learnt & (holder == number) for number in range(HOLDERS)]
        peers = [(rows[part], self._labels[part]) for part in parts]
        # Few documents leave no feature in every fold, so that nothing could be cross-validated.
        penalty = None if learnt.sum() >= _ENOUGH_TO_CHOOSE else _PENALTY
        # What was released is protected already; three documents keep columns of one holder out.
        trained = train(peers, penalty=penalty, fewest_documents=3, allow_rare=ALLOW_RARE)
        return float(np.mean(trained.predict(rows[held]) == self._labels[held]))

    @property
    def _writers(self) -> NDArray[np.int64]:
        return self._documents.owners[self._rows]

    @cached_property
    def _is_held(self) -> NDArray[np.bool_]:
        """By user, so that nobody's words are both learnt from and judged by."""
        held: NDArray[np.bool_] = self._writers % _HELD_OUT == 0
        return held


def _question(
    documents: UserDocuments, catalogue: Catalogue
) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """The domain asked for, the documents that have an answer, and the answers, 1 or -1."""
    column = {word: place for place, word in enumerate(documents.words)}
    domains = sorted({topic.domain for topic in catalogue})
    indicator = np.zeros((len(documents.words), len(domains)))
    for topic in catalogue:
        places = [column[word] for word in topic.words if word in column]
        indicator[places, domains.index(topic.domain)] = 1
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
