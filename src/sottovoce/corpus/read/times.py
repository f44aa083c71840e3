"""Times of every kind as microseconds in UTC; what cannot be read becomes null.

Strings: ISO 8601 (``2024-05-01``, ``2024-05-01 13:45``, ``2024-05-01T13:45:00.5+02:00``, ``...Z``,
``20240501``) or nine and more digits, a number as below. Numbers: since 1970-01-01 UTC, in seconds
below 1e11 in size, milliseconds below 1e14, microseconds below 1e17, and nanoseconds from there.
``in_iso_order`` turns dates as people write them, day or month first, into these beforehand.
A time without a zone is local to the zone given. In an overlap (clocks set back) it is the earlier
of the two; in a gap (clocks set forward) it is the first instant after it. Years 1 to 9999.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read.bytes import as_bytes, is_string_like, piecewise, strict
from sottovoce.corpus.read.tally import DateOrder

INSTANT = pa.timestamp("us", tz="UTC")
LOCAL = pa.timestamp("us")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
_PER_UNIT = {"day": 86_400_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_SECONDS_BELOW, _MILLISECONDS_BELOW, _MICROSECONDS_BELOW = 1e11, 1e14, 1e17
_SHORTEST_NUMBER = 9
_NUMBER = re.compile(r"[+-]?\d{9,20}(\.\d{0,9})?", re.ASCII)
_BEGINS_A_TIME = r"^\s*[+-]?\d{4}"
_HAS_ZONE = r":\d\d([.,]\d+)?(Z|z|[+-]\d\d(:?\d\d)?)$"
_BEYOND_MICROSECONDS = r"(\.\d{6})\d+"
_WRITTEN_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})"
    r"(?:(?:,?\s+|T)(\d{1,2}):(\d{2})(?::(\d{2}))?(?:[.,]\d+)?(?:\s?([AaPp])\.?[Mm]\.?)?)?",
    re.ASCII,
)
_NOON = 12
_DAYS, _MONTHS = 31, 12
_CENTURY = 2000


def in_iso_order(column: pa.Array, order: DateOrder) -> pa.Array:
    """A raw column of times with dates such as 31/12/2024 13:45 rewritten; others as they are."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if order == "iso" or not is_string_like(kind):
        return column
    values = strict(as_bytes(column)).to_pylist()
    return pa.array([None if each is None else iso_date(each, order) for each in values])


def iso_date(written: str, order: DateOrder) -> str:
    """As ISO 8601 writes it, or as it was where it is no such date.

    A year of two digits is one of this century.
    """
    found = _WRITTEN_DATE.fullmatch(written.strip())
    if found is None:
        return written
    first, _, second, year, hour, minute, seconds, half = found.groups()
    day, month = (first, second) if order == "day-first" else (second, first)
    date = f"{int(year) + (_CENTURY if len(year) == len('24') else 0):04}-{month:>02}-{day:>02}"
    if hour is None:
        return date
    return f"{date} {_hour(int(hour), half):02}:{minute}:{seconds or '00'}"


def _hour(written: int, half: str | None) -> int:
    """Of the day; 12 am is midnight and 12 pm is noon."""
    if half is None:
        return written
    return written % _NOON + (_NOON if half in "pP" else 0)


def date_orders(written: list[str]) -> set[DateOrder]:
    """In which orders all of these can be read that are such dates; none where none is one."""
    found = [match for each in written if (match := _WRITTEN_DATE.fullmatch(each.strip()))]
    if not found:
        return set()
    orders: set[DateOrder] = set()
    if all(int(match[1]) <= _DAYS and int(match[3]) <= _MONTHS for match in found):
        orders.add("day-first")
    if all(int(match[3]) <= _DAYS and int(match[1]) <= _MONTHS for match in found):
        orders.add("month-first")
    return orders


def is_time_like(kind: pa.DataType) -> bool:
    """Whether a column of this type can be read as times at all."""
    return (
        pa.types.is_timestamp(kind)
        or pa.types.is_date(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_null(kind)
        or is_string_like(kind)
    )


def to_instants(array: pa.Array, zone: str) -> pa.Array:
    """The times of ``array`` as ``timestamp[us, UTC]``, null where unreadable."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return to_instants(array.dictionary_decode(), zone)
    if pa.types.is_timestamp(kind):
        return _from_timestamps(array, zone)
    if pa.types.is_date(kind):
        return _localise(_calendar(_counts(array.cast(pa.date32())), array, "day"), zone)
    if pa.types.is_null(kind):
        return pa.nulls(len(array), INSTANT)
    if is_string_like(kind):
        return _within_calendar(_from_strings(strict(as_bytes(array)), zone))
    return _from_numbers(array)


def _from_timestamps(array: pa.Array, zone: str) -> pa.Array:
    times = _calendar(_counts(array), array, array.type.unit)
    return _localise(times, zone) if array.type.tz is None else times.cast(INSTANT)


def _counts(array: pa.Array) -> npt.NDArray[np.int64]:
    whole = array.cast(pa.int32() if pa.types.is_date32(array.type) else pa.int64())
    return _values(whole.cast(pa.int64()))


def _values(array: pa.Array) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = array.fill_null(0).to_numpy(zero_copy_only=False)
    return values


def _calendar(counts: npt.NDArray[np.int64], source: pa.Array, unit: str) -> pa.Array:
    return _drop_outside(_microseconds(counts, unit), source)


def _microseconds(counts: npt.NDArray[np.int64], unit: str) -> npt.NDArray[np.int64]:
    """Whole microseconds, rounded down; what would overflow lands just outside the calendar."""
    if unit == "ns":
        return counts // 1000
    per_unit = _PER_UNIT[unit]
    clipped = np.clip(counts, _FIRST // per_unit - 1, _LAST // per_unit + 1)
    return (clipped * per_unit).astype(np.int64)


def _drop_outside(microseconds: npt.NDArray[np.int64], source: pa.Array) -> pa.Array:
    """As local timestamps; null outside the calendar and where ``source`` is null."""
    outside = (microseconds < _FIRST) | (microseconds > _LAST)
    missing = source.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    return pa.array(np.where(outside, 0, microseconds), mask=outside | missing).cast(LOCAL)


def _within_calendar(instants: pa.Array) -> pa.Array:
    return _drop_outside(_values(instants.cast(pa.int64())), instants).cast(INSTANT)


def _localise(local: pa.Array, zone: str) -> pa.Array:
    if zone == "UTC":
        return local.cast(INSTANT)
    instants = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
    return _within_calendar(instants.cast(INSTANT))


def _from_numbers(array: pa.Array) -> pa.Array:
    if pa.types.is_floating(array.type):
        return _drop_outside(_from_floats(_values(array.cast(pa.float64()))), array).cast(INSTANT)
    if array.type == pa.uint64():
        array = pc.if_else(
            pc.less(array, pa.scalar(2**63, array.type)), array, pa.scalar(None, array.type)
        )
    return _drop_outside(_from_integers(_values(array.cast(pa.int64()))), array).cast(INSTANT)


def _from_integers(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    size = np.abs(counts)
    return np.select(
        [size < _SECONDS_BELOW, size < _MILLISECONDS_BELOW, size < _MICROSECONDS_BELOW],
        [_microseconds(counts, "s"), _microseconds(counts, "ms"), counts],
        counts // 1000,
    ).astype(np.int64)


def _from_floats(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    counts = np.nan_to_num(counts, nan=0.0)
    size = np.abs(counts)
    scale = np.select(
        [size < _SECONDS_BELOW, size < _MILLISECONDS_BELOW, size < _MICROSECONDS_BELOW],
        [1e6, 1e3, 1.0],
        1e-3,
    )
    floored = np.floor(counts * scale)
    bounded: npt.NDArray[np.float64] = np.clip(floored, _FIRST - 2.0**40, _LAST + 2.0**40)
    return bounded.astype(np.int64)


def _from_strings(strings: pa.Array, zone: str) -> pa.Array:
    likely = pc.match_substring_regex(strings, _BEGINS_A_TIME).fill_null(True)
    if not pc.all(likely, min_count=0).as_py():
        # What is surely no time is not tried: Arrow is slow to say no to each.
        times = _from_strings(strings.filter(likely), zone)
        return pc.replace_with_mask(pa.nulls(len(strings), INSTANT), likely, times)
    for parse in (partial(_parse_local, zone=zone), _parse_zoned, _parse_numbers):
        try:
            return parse(strings)
        except pa.ArrowInvalid:
            continue
    return _from_mixed(strings, zone)


def _parse_local(strings: pa.Array, zone: str) -> pa.Array:
    return _localise(_within_calendar(strings.cast(LOCAL)).cast(LOCAL), zone)


def _parse_zoned(strings: pa.Array) -> pa.Array:
    return strings.cast(INSTANT)


def _parse_numbers(strings: pa.Array) -> pa.Array:
    shortest = pc.min(pc.utf8_length(strings)).as_py()
    if shortest is None or shortest < _SHORTEST_NUMBER:
        raise pa.ArrowInvalid
    return _from_numbers(strings.cast(pa.int64()))


def _from_mixed(strings: pa.Array, zone: str) -> pa.Array:
    """Each different one once: those that no parser of Arrow's takes are read one by one."""
    known = strings.dictionary_encode()
    return _of_values(known.dictionary, zone).take(known.indices)


def _of_values(strings: pa.Array, zone: str) -> pa.Array:
    tidy = pc.replace_substring_regex(
        pc.ascii_trim_whitespace(strings), pattern=_BEYOND_MICROSECONDS, replacement=r"\1"
    )
    zoned = pc.match_substring_regex(tidy, _HAS_ZONE).fill_null(False)
    slow = partial(_one_by_one, zone=zone)
    with_zone = piecewise(tidy.filter(zoned), _parse_zoned, slow)
    without = piecewise(tidy.filter(pc.invert(zoned)), partial(_parse_local, zone=zone), slow)
    instants = pc.replace_with_mask(pa.nulls(len(strings), INSTANT), zoned, with_zone)
    return pc.replace_with_mask(instants, pc.invert(zoned), without)


def _one_by_one(strings: pa.Array, zone: str) -> pa.Array:
    times = [_read(value) for value in strings.to_pylist()]
    local = pa.array([time if time and not time.tzinfo else None for time in times], LOCAL)
    zoned = pa.array([time if time and time.tzinfo else None for time in times], INSTANT)
    return pc.coalesce(zoned, _localise(local, zone))


def _read(value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        if _NUMBER.fullmatch(value):
            return from_number(float(value) if "." in value else int(value))
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None


def from_number(number: float) -> datetime | None:
    """The instant a number stands for, by its size; None outside the calendar."""
    try:
        array = pa.array([number])
    except (OverflowError, pa.ArrowInvalid):
        return None
    time: datetime | None = _from_numbers(array)[0].as_py()
    return time
