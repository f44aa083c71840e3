"""Topic Jaccard: how many top words the topics of a release share with those of the true text.

A bare Jaccard says little: random topics reach 0.185 with 100 words, 10 topics and 20 top words.
So it is always shown beside its chance level and its unigram level.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

from sottovoce.errors import ParameterError
from sottovoce.release.counts import Floats, Integers
from sottovoce.release.evaluation.topics import TOP, top_words

__all__ = ["TopicMatch", "chance_jaccard", "match_topics", "top_words", "unigram_jaccard"]


@dataclass(frozen=True, eq=False)
class TopicMatch:
    """Each private topic beside its true one, best pairs first."""

    private: Integers
    true: Integers
    jaccards: Floats

    @property
    def mean(self) -> float:
        """The topic Jaccard: the mean over pairs."""
        return float(self.jaccards.mean())


def match_topics(private: Floats, true: Floats, top: int = TOP) -> TopicMatch:
    """Pair topics one to one so that the sum of the pairs' Jaccards is largest (Hungarian)."""
    if private.shape[1] != true.shape[1]:
        raise ParameterError(
            f"both models must have the same words, got {private.shape[1]} and {true.shape[1]}."
        )
    overlap = _jaccards(top_words(private, top), top_words(true, top), true.shape[1])
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    best_first = np.argsort(-overlap[rows, columns], kind="stable")
    rows, columns = rows[best_first], columns[best_first]
    return TopicMatch(rows, columns, overlap[rows, columns])


@cache
def chance_jaccard(words: int, topics: int, top: int = TOP, *, draws: int = 200) -> float:
    """The matched Jaccard of topics whose top words are drawn at random: mean of ``draws``."""
    generator = np.random.default_rng(0)
    shape = (topics, words)
    levels = [
        match_topics(generator.random(shape), generator.random(shape), top).mean
        for _ in range(draws)
    ]
    return float(np.mean(levels))


def unigram_jaccard(true: Floats, frequencies: Floats, top: int = TOP) -> float:
    """The Jaccard of a model whose every topic is the corpus's most frequent words."""
    same = np.tile(np.asarray(frequencies, dtype=np.float64), (len(true), 1))
    return match_topics(same, true, top).mean


def _jaccards(one: Integers, other: Integers, words: int) -> Floats:
    """|A and B| / |A or B| for every pair of rows."""
    shared = _indicators(one, words) @ _indicators(other, words).T
    jaccards: Floats = shared / (one.shape[1] + other.shape[1] - shared)
    return jaccards


def _indicators(members: Integers, words: int) -> Floats:
    indicators = np.zeros((len(members), words))
    np.put_along_axis(indicators, members, 1.0, axis=1)
    return indicators
