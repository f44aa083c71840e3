"""Times of every kind become instants in UTC."""

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from sottovoce.corpus.read.times import to_instants

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
NOON_S = 1714564800


def instants(
    values: list[object], kind: pa.DataType | None = None, zone: str = "UTC"
) -> list[object]:
    array = to_instants(pa.array(values, kind), zone)
    assert array.type == pa.timestamp("us", tz="UTC")
    times: list[object] = array.to_pylist()
    return times


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01 12:00:00",
        "2024-05-01T12:00:00",
        "2024-05-01 12:00",
        "2024-05-01T12:00:00Z",
        "2024-05-01T12:00:00.000000Z",
        "2024-05-01T12:00:00.000000000Z",
        "2024-05-01T14:00:00+02:00",
        "2024-05-01T14:00:00+0200",
        "2024-05-01 07:00:00-05",
        " 2024-05-01 12:00:00 ",
        "20240501T120000Z",
        str(NOON_S),
        f"{NOON_S}.0",
        f"{NOON_S}000",
        f"{NOON_S}000000",
        f"{NOON_S}000000000",
    ],
)
def test_strings_for_noon_are_noon_alone_and_among_others(text: str) -> None:
    assert instants([text]) == [NOON]
    mixed = instants(["2024-05-01", text, "never", None, "2024-05-01T12:00Z"])
    assert mixed == [NOON.replace(hour=0), NOON, None, None, NOON]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2024-02-30",
        "2024-13-01 00:00:00",
        "2024-05-01 24:00:01",
        "2024-05-01T12:00:60Z",
        "12345",
        "99999999999999999999",
        "-99999999999999999999",
        "nan",
        "0000-01-01",
        "10000-01-01",
        "0001-01-01T00:00:00+23:00",
        "１７１４５６４８００",
        "\x00",
    ],
)
def test_what_is_no_time_is_null_and_spares_its_neighbours(text: str) -> None:
    assert instants([text]) == [None]
    assert instants(["2024-05-01T12:00Z", text, "2024-05-01 12:00"]) == [NOON, None, NOON]


def test_fractions_keep_microseconds_and_drop_the_rest() -> None:
    texts = ["2024-05-01 12:00:00.5", "2024-05-01 12:00:00.1234567Z"]
    expected = [NOON.replace(microsecond=500_000), NOON.replace(microsecond=123_456)]
    assert instants(list(texts)) == expected


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_timestamps_of_any_unit_and_zone(unit: str, zone: str | None) -> None:
    assert instants([NOON, None], pa.timestamp(unit, zone)) == [NOON, None]


def test_a_zone_in_the_data_wins_over_the_zone_given() -> None:
    kind = pa.timestamp("ms", "America/New_York")
    assert instants([NOON], kind, "Europe/Rome") == [NOON]
    assert instants(["2024-05-01T12:00Z"], zone="Europe/Rome") == [NOON]


def test_times_without_zone_are_local_to_the_zone_given() -> None:
    assert instants(["2024-05-01 14:00:00"], zone="Europe/Rome") == [NOON]
    assert instants(["2024-05-01 14:00:00", "x"], zone="Europe/Rome") == [NOON, None]
    naive = datetime(2024, 5, 1, 14)  # noqa: DTZ001 - without a zone is the point
    assert instants([naive], pa.timestamp("ms"), "Europe/Rome") == [NOON]
    evening = datetime(2024, 4, 30, 22, tzinfo=UTC)
    assert instants([date(2024, 5, 1)], zone="Europe/Rome") == [evening]


@pytest.mark.parametrize("texts", [["2024-10-27 02:30:00"], ["2024-10-27 02:30:00", "?"]])
def test_an_hour_that_happens_twice_is_its_first(texts: list[object]) -> None:
    assert instants(texts, zone="Europe/Rome")[0] == datetime(2024, 10, 27, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("texts", [["2024-03-31 02:30:00"], ["2024-03-31 02:30:00", "?"]])
def test_an_hour_that_never_happens_is_the_first_instant_after(texts: list[object]) -> None:
    assert instants(texts, zone="Europe/Rome")[0] == datetime(2024, 3, 31, 1, tzinfo=UTC)


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_dates_are_their_midnight(kind: pa.DataType) -> None:
    assert instants([date(2024, 5, 1), None], kind) == [NOON.replace(hour=0), None]


@pytest.mark.parametrize("factor", [1, 1_000, 1_000_000, 1_000_000_000])
def test_integers_are_epochs_in_the_unit_their_size_tells(factor: int) -> None:
    for kind in (pa.int64(), pa.uint64()):
        assert instants([NOON_S * factor, None], kind) == [NOON, None]


def test_numbers_beyond_the_calendar_are_null() -> None:
    assert instants([-(2**63), 10**18, 2**63 - 1], pa.int64())[0] is None
    assert instants([2**63, 2**64 - 1], pa.uint64()) == [None, None]
    assert instants([float("nan"), float("inf"), -float("inf"), 1e300]) == [None] * 4
    assert instants([10**15], pa.timestamp("s")) == [None]
    assert instants([2**31 - 1], pa.date32()) == [None]


def test_floats_are_seconds_with_a_fraction() -> None:
    assert instants([NOON_S + 0.5]) == [NOON.replace(microsecond=500_000)]
    assert instants([NOON_S + 0.5], pa.float32())[0] is not None


def test_small_numbers_are_seconds_after_1970() -> None:
    assert instants([0, -1]) == [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    ]
