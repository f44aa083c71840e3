"""Beside every band stands how many of those in it are concerned: most are not."""

import pyarrow as pa
import pytest

from sottovoce.assess import Alerts
from sottovoce.assess._alerts import CHANGES
from sottovoce.assess._ranking import BANDS
from sottovoce.assess.measures import MEASURES, PAPER_METHODS
from sottovoce.assess.measures._catalogue import RECOMMENDED
from sottovoce.assess.measures._expected import BANDS as MEASURED_BANDS
from sottovoce.assess.measures._expected import (
    CONCERNED,
    EXPECTED_PRECISION,
    banded_precision,
    expected_precision,
    precision_in_words,
)


def test_every_recommended_measure_and_every_one_of_the_papers_was_measured() -> None:
    assert {*RECOMMENDED, *PAPER_METHODS} <= EXPECTED_PRECISION.keys() <= MEASURES.keys()
    assert MEASURED_BANDS == BANDS


@pytest.mark.parametrize("measure", RECOMMENDED)
def test_what_is_recommended_is_above_chance_and_wrong_more_often_than_right(measure: str) -> None:
    for percent in BANDS:
        found = expected_precision(measure, percent)
        assert found is not None
        assert 2 * CONCERNED < found < 0.5


def test_alerts_say_it_beside_each_band() -> None:
    rows = [
        {"measure": measure, "topic": "debt", "percent": percent, "user": "ada", "entered": True}
        for measure, percent in (("voice-t", 5), ("voice-t", 7), ("theirs", 5))
    ]
    summary = Alerts(pa.Table.from_pylist(rows, CHANGES)).summary
    expected = [EXPECTED_PRECISION["voice-t"][1], None, None]
    assert [row["expected precision"] for row in summary] == expected


def test_it_is_said_in_words_and_for_machines_and_nothing_is_said_of_what_was_not_measured() -> (
    None
):
    [sentence] = precision_in_words(["voice-t", "theirs"])
    assert sentence.startswith("Most of those in a band are there by mistake.")
    assert "voice-t 21, 14, 13 (by chance 4)" in sentence
    assert precision_in_words(["theirs"]) == []
    assert banded_precision(["theirs", "ent"]).keys() == {"ent"}
    assert banded_precision(["ent"])["ent"]["top 10%"] == EXPECTED_PRECISION["ent"][2]
