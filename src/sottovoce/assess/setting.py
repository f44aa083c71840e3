"""What ranks and states depend on besides the posts: k, m, bucket, scoring.

Buckets are calendar time, always in UTC. ``1d``: midnight to midnight. ``1w``: Monday to Sunday,
the weeks of ISO 8601. ``1mo``: a calendar month. ``Nd``, ``Nw`` and ``Nmo`` join N of them, counted
from the one that holds 1970-01-01 UTC (for weeks: from Monday 1969-12-29), so that a bucket's
borders do not depend on the posts. A `StateHeader` decides whether two states can be merged.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.clean import VERSION as CLEANING
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError, ParameterError
from sottovoce.parsing import check_choice
from sottovoce.topics.catalogue import Catalogue, Topic
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


VERSION = 1
VERSION_IN_PARTS = 2
"""Of a file that is the newest part of a state and names the earlier ones."""
M_KEPT = 12
MOST_KEPT = 10_000
"""Days of 27 years; a state sets so many slots aside."""
_MOST_WORDS = 1 << 24


@dataclass(frozen=True)
class StateHeader:
    """How posts were scored.

    Attributes:
        catalogue: the topics, in the order of the columns.
        spaces: the fingerprint of each vector space by its name.
        salient: for each topic the columns of its words among ``words``; None: words are not kept.
        words: how many salient words there are.
        counted: fingerprint of these words and of the rules by which they are counted.
        bucket: the length of time by which posts are grouped.
        kept: how many buckets are kept for each user and topic.
        mode: in which the spaces score posts.
        posts: whether the values of each post are kept, so that single posts can be deleted.
        clean: by which rules posts were cleaned before they were scored; "": they were not.
        word_buckets: whether it is kept which words were used in which time bucket.
    """

    catalogue: Catalogue
    spaces: Mapping[str, str]
    salient: Mapping[str, tuple[int, ...]] | None
    words: int
    counted: str
    bucket: Bucket
    kept: int = M_KEPT
    mode: Mode = "corrected"
    posts: bool = False
    clean: str = ""
    word_buckets: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.kept <= MOST_KEPT:
            raise ParameterError(
                f"the number of buckets kept must be from 1 to {MOST_KEPT}, got {self.kept}."
            )

    def check_same(self, other: "StateHeader") -> None:
        """Refuse a state that was made in another way, and say in which."""
        reasons = {
            "the topics of the catalogue": self.catalogue != other.catalogue,
            "the vector spaces": set(self.spaces) != set(other.spaces),
            "the models": dict(self.spaces) != dict(other.spaces),
            "the salient words kept": self.counted != other.counted,
            f"the time buckets ({self.bucket} and {other.bucket})": self.bucket != other.bucket,
            f"the buckets kept ({self.kept} and {other.kept})": self.kept != other.kept,
            f"the mode ({self.mode} and {other.mode})": self.mode != other.mode,
            "whether they keep posts": self.posts != other.posts,
            "whether posts were cleaned": self.clean != other.clean,
            "whether they keep words by time bucket": self.word_buckets != other.word_buckets,
        }
        for what, differs in reasons.items():
            if differs:
                raise InputError(f"the states do not fit together: {what} differ; score again.")

    def to_record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        salient = None if self.salient is None else {k: list(v) for k, v in self.salient.items()}
        # Left out where it says nothing, so that other states are as they were.
        more = {"word_buckets": True} if self.word_buckets else {}
        return {
            "catalogue": asdict(self.catalogue),
            "spaces": dict(self.spaces),
            "salient": salient,
            "words": self.words,
            "counted": self.counted,
            "bucket": str(self.bucket),
            "kept": self.kept,
            "mode": self.mode,
            "posts": self.posts,
            # Without it a state has the bytes that it had before there was cleaning.
            **({"clean": self.clean} if self.clean else {}),
            **more,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "StateHeader":
        """What ``to_record`` gave, after a trip through JSON; ``ValueError`` where it did not."""
        catalogue = _catalogue(record["catalogue"])
        words = _whole(record["words"], 0, _MOST_WORDS)
        if record["mode"] not in MODES:
            raise ValueError("no such mode")
        return cls(
            catalogue=catalogue,
            spaces={str(name): str(mark) for name, mark in record["spaces"].items()},
            salient=_salient(record["salient"], catalogue, words),
            words=words,
            counted=str(record["counted"]),
            bucket=Bucket.parse(record["bucket"]),
            kept=_whole(record["kept"], 1, MOST_KEPT),
            mode=record["mode"],
            posts=bool(record["posts"]),
            clean=_rules_of_cleaning(record.get("clean", "")),
            word_buckets=bool(record.get("word_buckets", False)),
        )


def _rules_of_cleaning(version: object) -> str:
    if version not in {"", CLEANING}:
        raise ValueError("no such rules of cleaning")
    return str(version)


def fingerprint_of(*parts: object) -> str:
    """SHA-256 over the parts, as JSON."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _whole(value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError("no whole number within its bounds")
    return value


def _salient(
    record: Mapping[str, Any] | None, catalogue: Catalogue, words: int
) -> dict[str, tuple[int, ...]] | None:
    """The columns of each topic's words; kernels look there, so they must exist."""
    if record is None:
        return None
    if set(record) != set(catalogue.names):
        raise ValueError("the topics with words are not those of the catalogue")
    return {
        name: tuple(_whole(place, 0, words - 1) for place in places)
        for name, places in record.items()
    }


def _catalogue(record: Mapping[str, Any]) -> Catalogue:
    topics = tuple(_topic(Topic(**entry)) for entry in record["topics"])
    return Catalogue(topics, record["model"])


def _topic(topic: Topic) -> Topic:
    """The same with tuples for the lists of JSON."""
    weights = None if topic.weights is None else tuple(topic.weights)
    return replace(
        topic, words=tuple(topic.words), weights=weights, dimensions=tuple(topic.dimensions)
    )
