"""What a band is worth: a lift from a test, or a share for a rate that the user names."""

import re

import pyarrow as pa
import pytest

from sottovoce.assess.alerts import CHANGES, Alerts
from sottovoce.assess.measures.catalogue import BANDS as MEASURED_BANDS
from sottovoce.assess.measures.catalogue import (
    LIFTS,
    MEASURES,
    RECOMMENDED,
    VOLUME,
    banded_lifts,
    lift_in_words,
    lift_rows,
    lift_title,
    share_concerned,
)
from sottovoce.assess.ranking import BANDS
from sottovoce.cli._options import parse_share
from sottovoce.errors import ParameterError

SHARE = re.compile(r"%|\bof 100\b|\bin 100\b")


def test_every_recommended_measure_was_measured_and_so_was_volume() -> None:
    assert {*RECOMMENDED, *VOLUME} <= LIFTS.keys() <= {*MEASURES, *VOLUME}
    assert MEASURED_BANDS == BANDS
    assert all(len(bands) == len(BANDS) for bands in LIFTS.values())


def test_no_share_is_said_where_none_is_named() -> None:
    rows = lift_rows(["voice-t", "bow-t", "theirs"])
    said = " ".join(
        [lift_title(), *lift_in_words("bow-t"), *(str([*row.values()]) for row in rows)]
    )
    bare = re.sub(r"top 1%, 5% and 10%|top 5%|95% intervals", "", said)
    assert not SHARE.search(bare)
    figures = banded_lifts(["voice-t"])["voice-t"]["top 5%"]
    assert figures.keys() == {"lift", "low", "high"}


def test_volume_stands_beside_every_measure() -> None:
    for measure in RECOMMENDED:
        [sentence] = lift_in_words(measure)
        assert all(words in sentence for words in VOLUME.values())
        assert banded_lifts([measure]).keys() == {measure, *VOLUME}


def test_a_named_share_turns_lifts_into_people_of_a_hundred() -> None:
    assert share_concerned(1.0, 0.3) == pytest.approx(0.3)
    assert share_concerned(3.0, 0.5) == pytest.approx(0.75)
    row = banded_lifts(["bow-t"], 0.02)["bow-t"]["top 5%"]
    assert row["of_100"] == pytest.approx(100 * share_concerned(row["lift"], 0.02))
    assert row["of_100_low"] < row["of_100"] < row["of_100_high"]
    assert "If a topic concerns 2 in 100 here" in lift_title(0.02)
    shown = lift_rows(["bow-t"], 0.02)[0]["top 5%"]
    assert shown.startswith(f"{row['of_100']:.0f} (")
    few, many = (banded_lifts(["bow-t"], rate)["bow-t"]["top 5%"] for rate in (0.001, 0.1))
    assert few["of_100"] < 1
    assert 25 < many["of_100"] < 50


def test_the_more_intervals_stand_together_the_wider_each_is() -> None:
    one, two = banded_lifts(["bow-t"]), banded_lifts(["bow-t", "voice-t"])
    assert two["bow-t"]["top 5%"]["high"] > one["bow-t"]["top 5%"]["high"]
    assert two["bow-t"]["top 5%"]["lift"] == one["bow-t"]["top 5%"]["lift"]


def test_nothing_is_said_of_what_was_not_measured() -> None:
    assert lift_in_words("theirs") == []
    assert lift_rows(["theirs"]) == []
    assert banded_lifts(["theirs"]) == {}


def test_alerts_and_rankings_say_the_same() -> None:
    row = {"measure": "voice-t", "topic": "debt", "percent": 5, "user": "ada", "entered": True}
    found = Alerts(pa.Table.from_pylist([row], CHANGES))
    assert found.lifts(0.02) == banded_lifts(["voice-t"], 0.02)
    assert "expected precision" not in found.summary[0]


@pytest.mark.parametrize(("written", "share"), [("2%", 0.02), ("0.02", 0.02), (" 0.5 % ", 0.005)])
def test_a_share_is_written_as_a_percentage_or_a_fraction(written: str, share: float) -> None:
    assert parse_share(written) == pytest.approx(share)


@pytest.mark.parametrize("written", ["2", "0", "11%", "few", "nan", "-1%", "%"])
def test_what_is_no_share_or_too_large_a_one_is_refused(written: str) -> None:
    with pytest.raises(ParameterError, match=r"concerned must (be a share > 0|look like 2%)"):
        parse_share(written)
