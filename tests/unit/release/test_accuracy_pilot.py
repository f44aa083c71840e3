"""A pilot foretells what a classifier of a release will reach, for other documents and rates."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sottovoce._arrays import Integers
from sottovoce.errors import InputError
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts
from sottovoce.release.classify import AccuracyForecast, _pilot, forecast_accuracy

RELEASED = {"epsilon": 1, "precision": 1}


def documents(number: int, seed: int = 0) -> tuple[Integers, Integers]:
    """Counts of 12 words and two classes, one of which holds two thirds."""
    generator = np.random.default_rng(seed)
    codes = (np.arange(number) % 3 == 0).astype(np.int64)
    means = np.where(codes[:, None] == 1, [0.8, 0.2], [0.2, 0.8]).repeat(6, axis=1)
    return generator.poisson(means), codes


@pytest.mark.parametrize(("pilot", "learnt_from"), [(100, 80), (100, 800), (500, 100)])
def test_noise_of_a_pilot_is_as_large_over_its_documents_as_that_of_the_release(
    pilot: int, learnt_from: int
) -> None:
    rate = _pilot._rate_of_pilot(0.5, pilot, learnt_from)
    share = pilot * 0.8 / learnt_from
    assert NoiseLaw(float(rate)).variance == pytest.approx(share * NoiseLaw(0.5).variance, rel=1e-3)


def test_a_pilot_of_all_documents_is_tried_at_the_rate_of_the_release() -> None:
    assert _pilot._rate_of_pilot(0.5, 1000, 800) == Fraction(1, 2)


def test_no_more_documents_are_tried_than_will_be_learnt_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = np.arange(1000) % 2
    assert _pilot._tried(codes, 10, 400, 0).size == 500
    assert _pilot._tried(codes, 10, 10**6, 0).size == 1000
    monkeypatch.setattr(_pilot, "MOST_CELLS", 2000)
    assert _pilot._tried(codes, 10, 10**6, 0).size == 200


def test_a_forecast_lies_between_guessing_and_the_text_and_grows_with_documents() -> None:
    counts, codes = documents(240)
    few = forecast_accuracy(counts, codes, epsilon=1, precision=5, documents=60, draws=2)
    many = forecast_accuracy(counts, codes, epsilon=1, precision=5, documents=10**6, draws=2)
    assert few.guessing == pytest.approx(2 / 3)
    assert 0.8 < many.accuracy <= 1
    assert few.accuracy < many.accuracy
    assert many.low <= many.accuracy <= many.high
    assert "1,000,000 released documents" in str(many)
    assert "guessing" in many._repr_html_()
    assert many.facts()["pilot"] == 240


def test_documents_are_told_by_classifiers_of_four_fifths_that_do_not_know_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[set[int], set[int]]] = []

    class Told:
        def __init__(self, cells: Counts) -> None:
            self.known = set(cells.toarray()[:, 0].tolist())

        def predict(self, counts: Counts) -> Integers:
            calls.append((self.known, set(counts.toarray()[:, 0].tolist())))
            return np.zeros(counts.shape[0], np.int64)

    monkeypatch.setattr(_pilot, "chosen_classifier", lambda cells, *_, **__: Told(cells))
    counts = np.arange(1, 61)[:, None]
    said = forecast_accuracy(
        counts, np.arange(60) % 2, epsilon=60, precision=1, documents=48, draws=3
    )
    assert said.accuracy == 0.5
    assert [(len(known), len(told)) for known, told in calls] == [(48, 12)] * 6
    assert all(not known & told for known, told in calls)
    assert all(told <= set(range(1, 61)) for _, told in calls)


def test_the_range_is_that_of_one_more_release() -> None:
    values = np.array([0.6, 0.7, 0.65, 0.75, 0.7])
    # t of 4 degrees of freedom: 2.776.
    assert _pilot._half_range(values) == pytest.approx(2.776 * 0.05701 * 1.2**0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": np.zeros(60, int)}, "at least two classes"),
        ({"labels": np.arange(59) % 2}, "one for each of the 60 documents"),
        ({"counts": -np.ones((60, 2), int)}, "negative|Negative|whole"),
        ({"counts": np.array([["a text"]] * 60)}, "must be counts, got text"),
        ({"draws": 1}, "draws must be at least 2"),
        ({"documents": 0}, "documents must be > 0"),
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"counts": np.ones((49, 2), int), "labels": np.arange(49) % 2}, "at least 50 documents"),
    ],
)
def test_a_pilot_that_cannot_be_tried_is_refused(changes: dict[str, Any], message: str) -> None:
    asked = {"counts": np.ones((60, 2), int), "labels": np.arange(60) % 2, **RELEASED, **changes}
    with pytest.raises(InputError, match=message):
        forecast_accuracy(**asked)


def test_a_pilot_whose_other_classes_are_too_rare_to_be_drawn_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_pilot, "MOST_CELLS", 100)
    labels = np.r_[1, np.zeros(9_999, int)]
    with pytest.raises(InputError, match="all of one class"):
        forecast_accuracy(np.ones((10_000, 2), int), labels, **RELEASED)


def test_a_forecast_says_its_figures_in_words() -> None:
    said = AccuracyForecast(0.72, 0.69, 0.75, 0.46, documents=10_000, rate=0.2, pilot=800)
    assert said.in_words() == (
        "A classifier that learns from 10,000 released documents will tell about 72% of true ones "
        "(69% to 75%; guessing gets 46%)."
    )
