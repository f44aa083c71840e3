"""The forecast: what a reader will see, from public figures alone."""

from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.errors import InputError, ParameterError
from sottovoce.release.analysis import ReleaseForecast, forecast_release

ASKED: dict[str, Any] = {
    "documents": 3573,
    "length": 72,
    "words": 1000,
    "epsilon": 2,
    "precision": 2,
}


def forecast(**changes: Any) -> ReleaseForecast:  # noqa: ANN401 - any argument
    return forecast_release(**{**ASKED, **changes})


@pytest.mark.parametrize(
    ("name", "less", "more"),
    [
        ("documents", 1000, 100_000),
        ("length", 10, 200),
        ("epsilon", "0.5", 10),
        ("precision", 10, 1),
        ("words", 5000, 300),
    ],
)
def test_more_is_seen_of_more_and_longer_documents_and_through_less_noise(
    name: str, less: object, more: object
) -> None:
    low, high = forecast(**{name: less}), forecast(**{name: more})
    assert low.dimensions < high.dimensions
    assert low.topics_seen < high.topics_seen
    assert low.gain_kept < high.gain_kept


@pytest.mark.parametrize(
    ("epsilon", "measured"), [("4", 22), ("2", 8), ("1", 3), ("0.4", 1), ("0.1", 0)]
)
def test_dimensions_are_near_those_that_were_measured_on_complaints(
    epsilon: str, measured: int
) -> None:
    found = forecast(epsilon=epsilon).dimensions
    assert max(found, 1) / max(measured, 1) <= 1.5
    assert max(measured, 1) / max(found, 1) <= 1.5


@pytest.mark.parametrize(
    ("documents", "length", "true", "largest", "rate", "measured"),
    [
        (3573, 72, 0.785, 0.458, "1/10", 0.595),
        (3573, 72, 0.785, 0.458, "1/5", 0.673),
        (3573, 72, 0.785, 0.458, "1/2", 0.735),
        (2225, 90, 0.965, 0.23, "1/10", 0.675),
        (2225, 90, 0.965, 0.23, "1/5", 0.844),
        (2225, 90, 0.965, 0.23, "1/2", 0.922),
    ],
)
def test_accuracy_is_near_what_was_measured_on_complaints_and_news(
    documents: int, length: float, true: float, largest: float, rate: str, measured: float
) -> None:
    found = forecast(
        documents=documents,
        length=length,
        epsilon=rate,
        precision=1,
        true_accuracy=true,
        largest_class=largest,
    ).accuracy
    assert found == pytest.approx(measured, abs=0.03)


def test_the_documents_that_are_needed_show_as_many_topics() -> None:
    found = forecast(epsilon=1)
    assert found.topics_seen < 10
    needed = found.documents_for(12)
    assert needed is not None
    assert found.at(needed).topics_seen >= 12
    assert found.at(needed // 2).topics_seen < 12
    assert found.documents_for(26) is None
    assert f"{found.documents_for(8):,} documents" in found.in_words()


def test_more_topics_are_recognised_in_documents_that_were_drawn_from_topics() -> None:
    written, drawn = forecast(epsilon=4), forecast(epsilon=4, repetition=3)
    assert written.dimensions == drawn.dimensions
    assert written.topics_seen <= 15
    assert drawn.topics_seen >= 20


def test_a_forecast_is_put_in_words_and_shown() -> None:
    found = forecast(true_accuracy=0.78, largest_class=0.46)
    assert str(found) == found.in_words()
    assert "an accuracy of about 0.7" in found.in_words()
    assert "of 25" in repr(found)
    assert "topics_seen" in found._repr_html_()
    assert "accuracy" not in forecast().in_words()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"documents": 0}, "documents must be > 0"),
        ({"length": 0}, "length must be > 0"),
        ({"length": float("nan")}, "length must be > 0"),
        ({"words": 0}, "words must be > 0"),
        ({"topics": 0}, "topics must be > 0"),
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"true_accuracy": 0.7}, "go together"),
        ({"true_accuracy": 1.7, "largest_class": 0.5}, "true_accuracy must lie between 0 and 1"),
    ],
)
def test_a_forecast_refuses_what_cannot_be_meant(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        forecast(**changes)


def test_an_accuracy_comes_with_the_range_that_most_labels_lie_in() -> None:
    found = forecast(true_accuracy=0.78, largest_class=0.46)
    assert found.accuracy is not None
    assert found.accuracy_range == pytest.approx((found.accuracy - 0.15, 0.78))
    assert "(0.61 to 0.78, by how the classes differ)" in found.in_words()
    low = forecast(epsilon="1/10", precision=10, true_accuracy=0.78, largest_class=0.1)
    assert low.accuracy_range == pytest.approx((0.0, (low.accuracy or 0) + 0.08))
    assert forecast().accuracy_range is None


NOTES = ["my debt and my loan at the bank"] * 12 + ["the bank is shut"] * 5


def quoted(folder: Path, **options: Any) -> sv.release.ReleaseQuote:  # noqa: ANN401 - any option
    made: sv.release.ReleaseQuote = sv.release_counts(
        NOTES,
        words=["bank", "debt", "loan"],
        epsilon=2,
        precision=2,
        ledger=folder / "my.ledger",
        dry_run=True,
        **options,
    )
    return made


def test_a_dry_run_foresees_by_the_stated_length_or_by_a_rounded_one(tmp_path: Path) -> None:
    own, stated = quoted(tmp_path), quoted(tmp_path, length=40)
    assert own.forecast is not None
    assert stated.forecast is not None
    # 41 words in 17 documents.
    assert (own.forecast.length, own.forecast_is_private) == (2.0, True)
    assert (stated.forecast.length, stated.forecast_is_private) == (40, False)
    assert (own.forecast.documents, own.forecast.columns, own.forecast.rate) == (17, 3, 1.0)
    assert "what a reader would see" in own._repr_html_()


def test_a_length_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="length must be > 0"):
        quoted(tmp_path, length=-1)


def test_of_several_classes_an_accuracy_near_a_half_is_worth_something() -> None:
    """By the normal quantile alone a half was worth nothing, and a third as much as two thirds."""
    kept = [
        ReleaseForecast(
            20_000, 70.0, 1_000, 0.5, true_accuracy=accuracy, largest_class=0.1
        ).gain_kept
        for accuracy in (0.15, 0.3, 0.45, 0.5, 0.55, 0.7, 0.9)
    ]
    assert kept == sorted(kept)
    assert kept[3] > 0.5
