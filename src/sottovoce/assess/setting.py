"""What a ranking depends on besides the posts, the space and the catalogue: k, m, mode, bucket.

Buckets are calendar time, always in UTC. ``1d``: midnight to midnight. ``1w``: Monday to Sunday,
the weeks of ISO 8601. ``1mo``: a calendar month. ``Nd``, ``Nw`` and ``Nmo`` join N of them, counted
from the one that holds 1970-01-01 UTC (for weeks: from Monday 1969-12-29), so that a bucket's
borders do not depend on the posts.
"""

import re
from dataclasses import dataclass
from datetime import date
from numbers import Integral, Real

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError, ParameterError, check_choice
from sottovoce.topics.space import Mode

MODES = ("corrected", "paper")


@dataclass(frozen=True)
class Setting:
    """How strengths become risks.

    Attributes:
        k: the share of a domain's topics a broad interest covers (Definition 7).
        m: how many time buckets a lasting interest covers (Definition 8).
        mode: ``paper`` computes what the paper prints; ``corrected`` what it must have meant.

    >>> Setting(k=0.5).m
    3
    """

    k: float = 0.3
    m: int = 3
    mode: Mode = "corrected"

    def __post_init__(self) -> None:
        # Written so that a NaN is refused too.
        if not isinstance(self.k, Real) or not 0 < self.k <= 1:
            raise ParameterError(f"k must be > 0 and <= 1, got {self.k}.")
        if not isinstance(self.m, Integral):
            raise ParameterError(f"m must be a whole number, got {self.m}.")
        if self.m < 1:
            raise ParameterError(f"m must be >= 1, got {self.m}.")
        check_choice("mode", self.mode, MODES)


_WRITTEN = re.compile(r"([1-9]\d{0,3})(d|w|mo)", re.ASCII)
_DAYS_OF_A_WEEK = 7
# 1970-01-01 was a Thursday.
_DAYS_FROM_MONDAY = 3
_MICROSECONDS_OF_A_DAY = 86_400_000_000


@dataclass(frozen=True)
class Bucket:
    """A length of time by which posts are grouped.

    >>> Bucket.parse("2w")
    Bucket(count=2, unit='w')
    """

    count: int
    unit: str

    @classmethod
    def parse(cls, written: str) -> "Bucket":
        """Read ``1w``, ``10d`` or ``3mo``."""
        found = _WRITTEN.fullmatch(written)
        if found is None:
            raise ParameterError(
                f"bucket must be a number of days, weeks or months like 1d, 2w or 1mo, "
                f"got {written!r}."
            )
        return cls(int(found[1]), found[2])

    def __str__(self) -> str:
        return f"{self.count}{self.unit}"

    def numbers(self, times: pa.Array) -> NDArray[np.int32]:
        """The number of the bucket that holds each time, a timestamp of any unit and zone."""
        days = microseconds(times) // _MICROSECONDS_OF_A_DAY
        return self._of_days(days).astype(np.int32)

    def first_day(self, number: int) -> date:
        """The day on which bucket ``number`` begins."""
        if self.unit == "mo":
            years, month = divmod(number * self.count, 12)
            return date(1970 + years, 1 + month, 1)
        days = number * self.count
        if self.unit == "w":
            days = days * _DAYS_OF_A_WEEK - _DAYS_FROM_MONDAY
        # A bucket may begin before the first day there is.
        return date.fromordinal(max(1, date(1970, 1, 1).toordinal() + days))

    def _of_days(self, days: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.unit == "mo":
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            return months // self.count
        if self.unit == "w":
            return (days + _DAYS_FROM_MONDAY) // (_DAYS_OF_A_WEEK * self.count)
        return days // self.count


def microseconds(times: pa.Array) -> NDArray[np.int64]:
    """Since 1970 in UTC; a time without a zone is in UTC, and one that is missing is refused."""
    if not pa.types.is_timestamp(times.type):
        raise InputError(f"the times of posts must be timestamps, got {times.type}.")
    if times.null_count:
        raise InputError(f"every post must have a time, got {times.null_count} without one.")
    wanted = POSTS.field("time").type
    if times.type.unit == "ns":
        # Down, also before 1970, so that no post leaves its bucket.
        in_utc = times.cast(pa.timestamp("ns", "UTC"))
        times = pc.floor_temporal(in_utc, unit="microsecond").cast(wanted)
    try:
        found: NDArray[np.int64] = times.cast(wanted).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        raise InputError("the times of posts must be within the years that there are.") from None
    return found
