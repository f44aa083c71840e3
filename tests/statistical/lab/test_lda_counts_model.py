"""LDA counts have the expectation that their own model gives them."""

import numpy as np
from numpy.typing import NDArray
from sottovoce_lab._data import LdaCounts, lda_counts

MEAN_LENGTH = 80.0


def worst_z(drawn: LdaCounts, topic_words: NDArray[np.float64]) -> float:
    """Largest deviation of a word's total from its Poisson expectation, in standard errors."""
    expected = MEAN_LENGTH * (drawn.document_topics @ topic_words).sum(axis=0)
    total = np.asarray(drawn.counts.sum(axis=0)).ravel()
    return float(np.max(np.abs(total - expected) / np.sqrt(expected)))


def test_word_totals_match_the_true_model_and_not_a_permuted_one() -> None:
    drawn = lda_counts(4000, mean_length=MEAN_LENGTH, seed=5)
    assert worst_z(drawn, drawn.topic_words) < 4.5
    assert worst_z(drawn, np.roll(drawn.topic_words, 1, axis=1)) > 20


def test_words_of_one_document_follow_its_own_topics() -> None:
    drawn = lda_counts(2000, mean_length=MEAN_LENGTH, seed=6)
    counts = drawn.counts.toarray()
    shares = np.log(drawn.document_topics @ drawn.topic_words + 1e-12)
    own = np.sum(counts * shares)
    assert own > np.sum(counts * np.roll(shares, 1, axis=0)) + 1000


def test_lengths_are_poisson() -> None:
    lengths = lda_counts(4000, mean_length=MEAN_LENGTH, seed=7).counts.sum(axis=1)
    assert abs(lengths.mean() - MEAN_LENGTH) < 4 * np.sqrt(MEAN_LENGTH / 4000)
    assert 0.9 < lengths.var() / MEAN_LENGTH < 1.1
