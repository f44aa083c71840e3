"""Jaccard, exclusivity and coherence of topics."""

import math

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab.release.count_measures import topic_exclusivity, unigram_jaccard

from sottovoce.arrays import Floats
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.counts import Counts
from sottovoce.release.topics.evaluation import (
    chance_jaccard,
    match_topics,
    top_words,
    topic_coherence,
)

TRUE = np.array([[0.5, 0.4, 0.1, 0.0], [0.0, 0.1, 0.4, 0.5]])


def test_top_words_are_the_most_probable_and_ties_follow_word_order() -> None:
    assert top_words(TRUE, 2).tolist() == [[0, 1], [3, 2]]
    assert top_words(np.array([[0.3, 0.3, 0.3]]), 2).tolist() == [[0, 1]]


def test_topics_in_another_order_match_fully() -> None:
    match = match_topics(TRUE[::-1], TRUE, 2)
    assert match.mean == 1
    assert match.private.tolist() == [0, 1]
    assert match.true.tolist() == [1, 0]


def test_pairs_are_one_to_one_and_best_first() -> None:
    """Two private topics equal to the same true one: only one of them may have it."""
    private = np.array([[0.0, 0.6, 0.4, 0.0], [0.5, 0.4, 0.1, 0.0]])
    match = match_topics(private, TRUE, 2)
    assert match.jaccards.tolist() == [1, pytest.approx(1 / 3)]
    assert match.private.tolist() == [1, 0]


def test_matching_takes_the_best_sum_not_the_best_pair_first() -> None:
    def topics(*tops: tuple[int, ...]) -> Floats:
        phi = np.zeros((len(tops), 12))
        for row, words in enumerate(tops):
            phi[row, list(words)] = 1
        return phi

    private = topics((0, 1, 2, 8), (0, 2, 3, 7))
    true = topics((0, 1, 2, 3), (0, 1, 8, 9))
    assert match_topics(private, true, 4).mean == pytest.approx(3 / 5)
    greedy = (3 / 5 + 1 / 7) / 2
    assert greedy < 3 / 5


def test_chance_level_is_that_of_the_paper_s_synthetic_setting() -> None:
    assert chance_jaccard(100, 10) == pytest.approx(0.185, abs=0.003)
    assert chance_jaccard(4, 1, 4, draws=2) == 1


def test_unigram_level_compares_every_topic_with_the_most_frequent_words() -> None:
    assert unigram_jaccard(TRUE, np.array([9.0, 8.0, 1.0, 0.0]), 2) == pytest.approx(0.5)


def test_exclusive_topics_score_one_and_equal_topics_one_over_their_number() -> None:
    assert topic_exclusivity(np.eye(3), 1) == 1
    assert topic_exclusivity(np.full((4, 6), 1 / 6), 3) == pytest.approx(1 / 4)
    assert topic_exclusivity(TRUE, 2) == pytest.approx((1 + 0.8 + 1 + 0.8) / 4)


def documents(*rows: list[int]) -> Counts:
    return sparse.csr_array(np.array(rows))


def test_coherence_follows_mimno() -> None:
    counts = documents([1, 1, 0], [3, 0, 0], [0, 2, 0], [1, 0, 1])
    phi = np.array([[0.5, 0.3, 0.2]])
    pairs = [math.log((1 + 1) / 3), math.log((1 + 1) / 3), math.log((0 + 1) / 2)]
    assert topic_coherence(phi, counts, 3) == pytest.approx(np.mean(pairs))


def test_coherence_leaves_out_pairs_that_no_document_informs() -> None:
    counts = documents([0, 1, 1], [0, 1, 0])
    phi = np.array([[0.5, 0.3, 0.2]])
    assert topic_coherence(phi, counts, 3) == pytest.approx(math.log(2 / 2))
    with pytest.raises(CorpusError, match="none has any"):
        topic_coherence(phi, documents([0, 0, 0]), 3)


def test_words_that_occur_together_are_more_coherent() -> None:
    together = documents(*[[1, 1, 0, 0], [0, 0, 1, 1]] * 5)
    apart = np.array([[0.5, 0.0, 0.5, 0.0]])
    assert topic_coherence(TRUE, together, 2) > topic_coherence(apart, together, 2)


@pytest.mark.parametrize(
    "phi", [np.zeros((0, 3)), np.ones(3), np.array([[np.nan, 1]]), np.array([[-1.0, 2]])]
)
def test_what_is_no_topic_matrix_is_refused(phi: Floats) -> None:
    with pytest.raises(ParameterError, match="topics must"):
        top_words(phi, 1)


def test_impossible_comparisons_are_refused() -> None:
    with pytest.raises(ParameterError, match="top must be 1 to 4"):
        top_words(TRUE, 5)
    with pytest.raises(ParameterError, match="same words, got 3 and 4"):
        match_topics(TRUE[:, :3], TRUE, 2)
    with pytest.raises(CorpusError, match="must have 4 columns"):
        topic_coherence(TRUE, documents([1, 1]), 2)
