"""Buckets have the calendar's borders, in UTC."""

from datetime import UTC, date, datetime, timedelta, timezone

import pyarrow as pa
import pytest

from sottovoce.assess.setting import Bucket
from sottovoce.errors import ParameterError


def numbers(written: str, *times: datetime) -> list[int]:
    found: list[int] = (
        Bucket.parse(written).numbers(pa.array(times, pa.timestamp("us", "UTC"))).tolist()
    )
    return found


def test_a_week_runs_from_monday_midnight_to_sunday_midnight_in_utc() -> None:
    monday = datetime(2024, 5, 6, tzinfo=UTC)
    last = monday + timedelta(days=7) - timedelta(microseconds=1)
    before, first, end, after = numbers(
        "1w", monday - timedelta(microseconds=1), monday, last, last + timedelta(microseconds=1)
    )
    assert first == end == before + 1 == after - 1
    assert Bucket.parse("1w").first_day(first) == date(2024, 5, 6)


def test_the_zone_of_a_time_does_not_matter() -> None:
    rome = timezone(timedelta(hours=2))
    assert numbers("1d", datetime(2024, 5, 6, 1, tzinfo=rome)) == numbers(
        "1d", datetime(2024, 5, 5, 23, tzinfo=UTC)
    )


@pytest.mark.parametrize("written", ["1d", "3d", "1w", "2w", "1mo", "5mo"])
def test_a_bucket_begins_on_its_first_day(written: str) -> None:
    bucket = Bucket.parse(written)
    for days in range(-900, 900, 7):
        day = date(1970, 1, 1) + timedelta(days=days)
        (number,) = numbers(written, datetime(day.year, day.month, day.day, 12, tzinfo=UTC))
        first, following = bucket.first_day(number), bucket.first_day(number + 1)
        assert first <= day < following


def test_months_are_calendar_months() -> None:
    january, leap, march = numbers(
        "1mo",
        datetime(2024, 1, 31, 23, tzinfo=UTC),
        datetime(2024, 2, 29, tzinfo=UTC),
        datetime(2024, 3, 1, tzinfo=UTC),
    )
    assert [leap - january, march - leap] == [1, 1]


def test_the_first_and_last_days_there_are_have_buckets() -> None:
    for written in ("1d", "1w", "3mo"):
        first, last = numbers(
            written, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)
        )
        assert Bucket.parse(written).first_day(first).year == 1
        assert Bucket.parse(written).first_day(last).year == 9999


@pytest.mark.parametrize("written", ["", "w", "0w", "1h", "-1d", "1.5w", "1w ", "99999d", "²d"])
def test_what_is_no_bucket_is_refused(written: str) -> None:
    with pytest.raises(ParameterError, match="bucket must be a number of days, weeks or months"):
        Bucket.parse(written)
