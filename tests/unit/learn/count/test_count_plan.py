"""What a count will show, said before anybody spends."""

from typing import Any

import pytest

from sottovoce.errors import ParameterError
from sottovoce.learn.count import CountForecast, forecast_count


def _planned(**changes: Any) -> CountForecast:  # noqa: ANN401 - any of its arguments
    given: dict[str, Any] = {"documents": 100_000, "words": 300, "epsilon": 1, "votes": 30}
    return forecast_count(**{**given, "parties": 4, **changes})


def test_more_of_what_helps_shows_more() -> None:
    usual = _planned()
    for better in (
        _planned(documents=200_000),
        _planned(epsilon=2),
        _planned(words=150),
        _planned(collude=0),
    ):
        assert better.dimensions > usual.dimensions
        assert better.gain_kept > usual.gain_kept
    assert _planned(drop=1, parties=7).dimensions < _planned(parties=7).dimensions


def test_few_documents_are_said_to_be_too_few() -> None:
    few = _planned(documents=3_573)
    assert few.too_few_for_topics
    assert "3,573 documents are too few for topics" in few.in_words()
    needed = few.documents_for(5)
    assert needed is not None
    assert not few.at(needed).too_few_for_topics
    assert few.at(needed // 2).too_few_for_topics
    assert not _planned().too_few_for_topics
    assert "topics will be recognised" in str(_planned())


def test_no_number_of_documents_shows_more_topics_than_there_are() -> None:
    assert _planned().documents_for(26) is None


def test_the_error_is_that_of_the_shares() -> None:
    alpha = 2.718281828459045 ** (-1 / 30)
    assert _planned().error ** 2 == pytest.approx(4 / 3 * 2 * alpha / (1 - alpha) ** 2)
    assert _planned().relative_error == pytest.approx(_planned().error * 300 / 29e5)


def test_accuracy_lies_between_guessing_and_no_noise() -> None:
    known = {"true_accuracy": 0.97, "largest_label": 0.87}
    told = [_planned(documents=size, **known).accuracy for size in (10, 1_000, 10**6)]
    assert told[0] is not None
    assert told[0] == pytest.approx(0.87, abs=0.01)
    assert told == sorted(told)  # type: ignore[type-var] # none is None
    assert told[2] == pytest.approx(0.97, abs=0.001)
    assert _planned().accuracy is None


def test_a_label_of_few_documents_is_known_less_well() -> None:
    even, uneven = (
        _planned(documents=5_000, true_accuracy=0.97, largest_label=share) for share in (0.5, 0.87)
    )
    assert even.gain_kept == _planned(documents=5_000).gain_kept
    assert uneven.gain_kept == pytest.approx(
        _planned(documents=round(5_000 * 0.26)).gain_kept, abs=1e-6
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"documents": 0}, "documents"),
        ({"words": -1}, "words"),
        ({"epsilon": 0}, "epsilon"),
        ({"votes": 1}, "votes"),
        ({"parties": 3, "drop": 1}, "peers"),
        ({"collude": 4}, "collude"),
        ({"true_accuracy": 0.9}, "together"),
        ({"true_accuracy": 0.9, "largest_label": 1.0}, "largest_label"),
    ],
)
def test_what_cannot_be_planned_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        _planned(**changes)


def test_figures_have_names() -> None:
    facts = _planned().facts()
    assert facts["topics_seen"] == _planned().topics_seen
    assert "gain_kept" in _planned()._repr_html_()
    assert "topics_seen=13 of 25" in repr(_planned())
