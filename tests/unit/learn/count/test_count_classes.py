"""A classifier from word votes by label, shrunk by the known noise."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.reading import counted_classifier
from sottovoce.learn.count.recipe import CountRecipe

WORDS = ("cheap", "lunch", "pills")
PEERS = ("a", "b", "c")


def _counted(
    epsilon: int | Fraction = 1,
    rows: tuple[tuple[int, ...], ...] = ((-3, 90, 2, 100), (70, 5, 60, 80)),
) -> TogetherCounts:
    recipe = CountRecipe("words", 4, Fraction(epsilon))
    labels = ("ham", "spam")[: len(rows)] if len(rows) > 1 else ()
    return TogetherCounts(WORDS, labels, np.array(rows).ravel(), recipe, PEERS, PEERS)


def test_texts_get_the_label_whose_words_they_have() -> None:
    found = counted_classifier(_counted())
    assert found.predict(["Cheap PILLS!", "lunch", ""]).tolist() == ["spam", "ham", "ham"]
    assert found.score(["cheap", "lunch"], ["spam", "spam"]) == 0.5
    assert found.predict([]).tolist() == []


def test_a_word_counts_once_however_often_a_text_has_it() -> None:
    found = counted_classifier(_counted())
    np.testing.assert_array_equal(found.scores(["cheap cheap cheap"]), found.scores(["cheap"]))


def test_shares_are_those_of_the_formula() -> None:
    counted = _counted()
    deviation = counted.variance**0.5
    votes = np.array([[0, 90, 2], [70, 5, 60]]) + deviation
    expected = np.log(votes / votes.sum(axis=1, keepdims=True))
    found = counted_classifier(counted)
    np.testing.assert_allclose(found.log_shares, expected)
    np.testing.assert_allclose(np.exp(found.log_priors), np.array([100, 80]) / 180)


def test_more_noise_draws_labels_together() -> None:
    apart = [
        np.ptp(counted_classifier(_counted(epsilon)).log_shares, axis=0).max()
        for epsilon in (Fraction(1, 4), 1, 8)
    ]
    assert apart[0] < apart[1] < apart[2]


def test_no_label_is_lost_where_noise_took_all_of_its_documents() -> None:
    found = counted_classifier(_counted(rows=((5, 5, 5, 40), (1, 1, 1, -30))))
    assert np.isfinite(found.log_priors).all()
    assert np.exp(found.log_priors).sum() == pytest.approx(1)


def test_words_without_labels_are_refused() -> None:
    with pytest.raises(ParameterError, match="2 labels"):
        counted_classifier(_counted(rows=((1, 2, 3, 4),)))


def test_what_is_shown_has_no_text() -> None:
    found = counted_classifier(_counted())
    assert repr(found) == "CountedClassifier(labels=2, words=3)"
    assert "ham, spam" in found._repr_html_()
