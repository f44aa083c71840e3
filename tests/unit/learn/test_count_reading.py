"""What a count gives: topics of pairs, and a classifier of words by label, also by `train`."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.learn import train
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.reading import CountedClassifier, counted_classifier, counted_topics
from sottovoce.learn.count.recipe import CountRecipe, What, cells_of
from sottovoce.privacy import Ledger

WORDS = ("bank", "debt", "itch", "loan", "rash", "skin")
MONEY = (0, 1, 3)
PEERS = ("a", "b", "c", "d")


def _counted(what: What = "pairs", labels: tuple[str, ...] = ()) -> TogetherCounts:
    """Two topics of three words, each pair of a topic's words with 1,000 votes."""
    totals = np.zeros(cells_of(what, len(WORDS), len(labels)), np.int64)
    if what == "pairs":
        low, high = np.triu_indices(len(WORDS))
        together = np.isin(low, MONEY) == np.isin(high, MONEY)
        totals[together & (low != high)] = 1_000
    recipe = CountRecipe(what, 10, Fraction(1), declared=True)
    return TogetherCounts(WORDS, labels, totals, recipe, PEERS, PEERS)


def test_pairs_show_their_topics() -> None:
    found = counted_topics(_counted(), 2)
    told = sorted(" ".join(sorted(str(row["words"]).split())) for row in found.top(3))
    assert told == ["bank debt loan", "itch rash skin"]
    assert "bank" in str(found)
    assert "topics=2" in repr(found)
    assert "<table" in found._repr_html_()


def test_the_variance_of_the_noise_decides_how_many_dimensions_are_seen() -> None:
    counted = _counted()
    louder = CountRecipe("pairs", 1_000, Fraction(1))
    noisy = TogetherCounts(WORDS, (), counted.totals, louder, PEERS, PEERS)
    assert counted_topics(counted, 2).dimensions > counted_topics(noisy, 2).dimensions
    said = counted_topics(noisy, 3).warning()
    assert said is not None
    assert "3 topics were asked for" in said
    assert counted_topics(counted, 1).warning() is None


def test_words_without_pairs_are_refused() -> None:
    with pytest.raises(ParameterError, match="pairs"):
        counted_topics(_counted("words"), 2)


SPOKEN = ("cheap", "lunch", "pills")


def _by_label(
    epsilon: int | Fraction = 1,
    rows: tuple[tuple[int, ...], ...] = ((-3, 90, 2, 100), (70, 5, 60, 80)),
) -> TogetherCounts:
    recipe = CountRecipe("words", 4, Fraction(epsilon))
    labels = ("ham", "spam")[: len(rows)] if len(rows) > 1 else ()
    return TogetherCounts(SPOKEN, labels, np.array(rows).ravel(), recipe, PEERS, PEERS)


def test_texts_get_the_label_whose_words_they_have() -> None:
    found = counted_classifier(_by_label())
    assert found.predict(["Cheap PILLS!", "lunch", ""]).tolist() == ["spam", "ham", "ham"]
    assert found.score(["cheap", "lunch"], ["spam", "spam"]) == 0.5
    assert found.predict([]).tolist() == []


def test_a_word_counts_once_however_often_a_text_has_it() -> None:
    found = counted_classifier(_by_label())
    np.testing.assert_array_equal(found.scores(["cheap cheap cheap"]), found.scores(["cheap"]))


def test_shares_are_those_of_the_formula() -> None:
    counted = _by_label()
    deviation = counted.variance**0.5
    votes = np.array([[0, 90, 2], [70, 5, 60]]) + deviation
    expected = np.log(votes / votes.sum(axis=1, keepdims=True))
    found = counted_classifier(counted)
    np.testing.assert_allclose(found.log_shares, expected)
    np.testing.assert_allclose(np.exp(found.log_priors), np.array([100, 80]) / 180)


def test_more_noise_draws_labels_together() -> None:
    apart = [
        np.ptp(counted_classifier(_by_label(epsilon)).log_shares, axis=0).max()
        for epsilon in (Fraction(1, 4), 1, 8)
    ]
    assert apart[0] < apart[1] < apart[2]


def test_no_label_is_lost_where_noise_took_all_of_its_documents() -> None:
    found = counted_classifier(_by_label(rows=((5, 5, 5, 40), (1, 1, 1, -30))))
    assert np.isfinite(found.log_priors).all()
    assert np.exp(found.log_priors).sum() == pytest.approx(1)


def test_words_without_labels_are_refused() -> None:
    with pytest.raises(ParameterError, match="2 labels"):
        counted_classifier(_by_label(rows=((1, 2, 3, 4),)))


def test_what_is_shown_has_no_text() -> None:
    found = counted_classifier(_by_label())
    assert repr(found) == "CountedClassifier(labels=2, words=3)"
    assert "ham, spam" in found._repr_html_()


POST = [{"body": f"cheap pills {at}", "kind": "spam"} for at in range(4)]
POST += [{"body": f"lunch at noon {at}", "kind": "ham"} for at in range(4)]
HOLDERS = {name: [{**row, "body": f"{row['body']} {name}"} for row in POST] for name in "abc"}
# So little noise that no cell has any, but for once in a million years.
GIVEN: dict[str, Any] = {
    "epsilon": 99,
    "votes": 3,
    "words": ["cheap", "lunch", "noon", "pills"],
    "text": "body",
    "label": "kind",
    "labels": ["ham", "spam"],
}


def test_train_with_an_epsilon_counts_and_pays(tmp_path: Path) -> None:
    trained = train(HOLDERS, **GIVEN, ledger=tmp_path / "ledger")
    assert isinstance(trained, CountedClassifier)
    assert trained.predict(["pills!", "lunch, noon"]).tolist() == ["spam", "ham"]
    assert [str(account.spent) for account in Ledger(tmp_path / "ledger").accounts()] == ["198"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mode": "hidden"}, "leave out mode"),
        ({"held_out": 0.2}, "leave out held_out"),
        ({"penalty": 0.1, "keys": (1, 2)}, "leave out keys, penalty"),
        ({"labels": None}, "all labels must be named"),
        ({"labels": ["ham"]}, "labels must be at least two"),
        ({"words": None}, "words must be a public list"),
        ({"epsilon": 0}, "epsilon must be > 0"),
    ],
)
def test_what_has_no_meaning_with_an_epsilon_is_refused_before_anything_is_spent(
    changed: dict[str, Any], words: str, tmp_path: Path
) -> None:
    given = {**GIVEN, **changed}
    with pytest.raises(ParameterError, match=words):
        train(HOLDERS, **given, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
