"""Salient words are the likeliest, or the most telling, of each dimension."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.topics.salient import salient_columns, salient_words

PHI = np.array([[0.5, 0.3, 0.2, 0.0], [0.6, 0.0, 0.1, 0.3]])
TERMS = ("the", "debt", "pay", "baby")


def test_by_probability_the_likeliest_come_first() -> None:
    assert salient_words(PHI, TERMS, 2) == [("the", "debt"), ("the", "baby")]


def test_by_lift_a_word_that_is_common_everywhere_comes_last_and_an_absent_one_never() -> None:
    assert salient_words(PHI, TERMS, 3, relevance=0.0) == [
        ("debt", "pay", "the"),
        ("baby", "the", "pay"),
    ]
    assert salient_words(PHI, TERMS, 4, relevance=0.5)[0][-1] == "baby"


def test_sizes_decide_what_is_common() -> None:
    phi = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])
    first = salient_columns(phi, 1, relevance=0.0, sizes=np.array([1.0, 8.0, 1.0]))[0]
    second = salient_columns(phi, 1, relevance=0.0, sizes=np.array([1.0, 1.0, 8.0]))[0]
    assert (first[0], second[0]) == (1, 0)


def test_ties_are_in_column_order() -> None:
    assert salient_columns(np.full((1, 5), 0.2), 3).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("count", "relevance", "sizes", "says"),
    [
        (0, 1.0, None, "count must be 1 to 4"),
        (5, 1.0, None, "count must be 1 to 4"),
        (1, 1.1, None, "relevance must be"),
        (1, float("nan"), None, "relevance must be"),
        (1, 0.5, np.ones(3), "sizes must be 2"),
        (1, 0.5, np.array([1.0, 0.0]), "sizes must be 2 positive"),
    ],
)
def test_bad_parameters_are_refused(
    count: int, relevance: float, sizes: np.ndarray | None, says: str
) -> None:
    with pytest.raises(ParameterError, match=says):
        salient_words(PHI, TERMS, count, relevance=relevance, sizes=sizes)


def test_terms_must_fit_phi() -> None:
    with pytest.raises(ParameterError, match="terms must be 4"):
        salient_words(PHI, TERMS[:3])
    with pytest.raises(ParameterError, match="phi must be a matrix"):
        salient_columns(np.ones(3))
