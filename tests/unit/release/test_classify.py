"""Classifiers of releases keep scikit-learn's conventions and say clearly what they cannot do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.sklearn_checks import check_on_counts

import sottovoce as sv
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.bayes import PrivateNaiveBayes
from sottovoce.release.classify.logistic import PrivateLogistic, chosen_classifier, fit_released

KINDS: tuple[type[Any], ...] = (PrivateNaiveBayes, PrivateLogistic)


NOT_MEANT = dict.fromkeys(
    ("check_positive_only_tag_during_fit", "check_fit_non_negative"),
    "true documents have no negative counts, but released ones do",
)


class Made:
    """Documents of three classes, released at a rate."""

    def __init__(self, rate: float, documents: int = 300, words: int = 30, seed: int = 0) -> None:
        generator = np.random.default_rng(seed)
        self.law = NoiseLaw(rate)
        self.labels = np.array(["debt", "health", "sport"])[np.arange(documents) % 3]
        means = np.full((3, words), 0.2)
        for code in range(3):
            means[code, code * 5 : code * 5 + 5] = 1.2
        self.true = generator.poisson(means[np.arange(documents) % 3])
        noise = generator.geometric(1 - self.law.alpha, (2, documents, words))
        self.cells = sparse.csr_array(self.true + noise[0] - noise[1])
        self.maps: tuple[object, ...] = (None,)

    @property
    def rows(self) -> Any:  # noqa: ANN401 - as a release has them
        return self.cells


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_accepts_every_classifier(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_on_counts(kind(rate=3.0), monkeypatch, NOT_MEANT)


@pytest.mark.parametrize("kind", KINDS)
def test_true_and_released_documents_are_told_apart(kind: type[Any]) -> None:
    made, fresh = Made(1.0), Made(1.0, seed=1)
    fitted = kind(rate=1.0).fit(made.cells, made.labels)
    assert np.mean(fitted.predict(fresh.true) == fresh.labels) > 0.85
    assert np.mean(fitted.predict_released(fresh.cells) == fresh.labels) > 0.6
    for proba in (fitted.predict_proba(fresh.true), fitted.predict_proba_released(fresh.cells)):
        assert proba.shape == (300, 3)
        assert proba.sum(axis=1) == pytest.approx(1)
    assert 0 < fitted.held_out_loss_ < np.log(3)


def test_a_release_may_stand_in_for_its_rate() -> None:
    made = Made(1.0)
    by_rate, by_release = (
        PrivateNaiveBayes(rate=rate).fit(made.cells, made.labels) for rate in (1.0, made)
    )
    assert np.array_equal(by_rate.predict_proba(made.true), by_release.predict_proba(made.true))


@pytest.mark.parametrize(
    ("rate", "told"),
    [
        (None, "rate must be given"),
        (-1.0, "rate must be > 0 and finite, got -1"),
        (0, "rate must be > 0 and finite, got 0"),
        (float("nan"), "rate must be > 0"),
        ("1", "rate must be a number or a release, got str"),
        (True, "rate must be a number or a release, got bool"),
    ],
)
def test_a_rate_that_is_none_is_refused(rate: Any, told: str) -> None:  # noqa: ANN401 - bad input
    with pytest.raises(ParameterError, match=told):
        PrivateNaiveBayes(rate=rate).fit([[1, 0], [0, 1]], ["a", "b"])


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["a", "b", "a"], "one for each of the 2 documents, got 3"),
        ([["a", "b"], ["b", "a"]], "one for each of the 2 documents, got 2 by 2"),
        (["a", "a"], "at least two classes, got 1 class"),
        (None, "requires y"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: Any, told: str) -> None:  # noqa: ANN401 - bad
    with pytest.raises(ParameterError, match=told):
        PrivateNaiveBayes(rate=1.0).fit([[1, 0], [0, 1]], labels)


def test_released_documents_are_no_true_ones() -> None:
    fitted = PrivateNaiveBayes(rate=1.0).fit([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(CorpusError, match="use predict_released"):
        fitted.predict([[1, -1]])


@pytest.mark.parametrize(
    ("classifier", "told"),
    [
        (
            PrivateNaiveBayes(1.0, features="words"),
            "features must be one of auto, bits, bursts, counts",
        ),
        (PrivateLogistic(1.0, penalties=()), "penalties must be one or more numbers > 0"),
        (PrivateLogistic(1.0, penalties=(0.0,)), "penalties must be one or more numbers > 0"),
    ],
)
def test_parameters_out_of_bounds_are_refused(classifier: Any, told: str) -> None:  # noqa: ANN401 - each kind
    with pytest.raises(ParameterError, match=told):
        classifier.fit([[1, 0], [0, 1]], ["a", "b"])


def test_the_chosen_classifier_has_the_least_loss_and_tells_those_of_all() -> None:
    made = Made(0.5)
    chosen = fit_released(made, made.labels, seed=3)
    assert set(chosen.candidates_) == {"naive Bayes", "logistic"}
    least = min(chosen.candidates_.values())
    assert chosen.chosen_ == "naive Bayes" or chosen.held_out_loss_ == least
    assert chosen.held_out_loss_ * 0.98 <= least
    assert chosen.held_out_loss_ == chosen.candidates_[chosen.chosen_]
    again = fit_released(made, made.labels, seed=3)
    assert again.candidates_ == chosen.candidates_


def test_a_candidate_with_wrong_noise_is_not_chosen() -> None:
    """Planted: a reader that believes in less noise loses more on documents held out."""
    made = Made(0.3, documents=600)
    right, wrong = (
        PrivateNaiveBayes(rate, features="bits").fit(made.cells, made.labels) for rate in (0.3, 3.0)
    )
    assert right.held_out_loss_ < wrong.held_out_loss_


def test_a_compressed_release_is_read_column_by_column(tmp_path: Path) -> None:
    made = Made(1.0, documents=60, words=30)
    words = [f"w{place:02}" for place in range(30)]
    texts = [" ".join(np.repeat(words, row)) or "none" for row in made.true]
    released = sv.release_counts(
        texts, words=words, epsilon=3, precision=1, compress="random", columns=12,
        ledger=tmp_path / "my.ledger",
    )  # fmt: skip
    fitted = PrivateNaiveBayes(rate=3.0).fit(released.counts, made.labels)
    columns = released.map.compress(sparse.csr_array(made.true))
    assert columns.shape == (60, 12)
    assert np.mean(fitted.predict(columns) == made.labels) > 0.5
    with pytest.raises(ValueError, match="features"):
        fitted.predict(made.true)


def test_fewer_documents_than_parts_and_rare_classes_are_no_obstacle() -> None:
    labels = np.array(["a", "b", "a", "a", "a", "a", "a", "a"])
    cells = np.arange(16).reshape(8, 2) % 5 - 1
    for rows in (2, 8):
        chosen = chosen_classifier(cells[:rows], labels[:rows], 1.0)
        assert np.isfinite(chosen.held_out_loss_)
        assert np.isfinite(chosen.predict_proba(np.abs(cells))).all()
