"""A published histogram, how far it may be off, and a person's own rank in it.

A histogram says how many people are in each bucket, debiased, and monotone once added up. It is
published once for a topic and a period and never changed. Everything in it is computed from the
noised sum, so it is free post-processing.

A margin t of "at least k" says: the true number of people in bucket k or higher lies below the
estimate + t, and likewise above the estimate - t, each with probability (1 + coverage)/2. Only the
noise's known law enters; nothing is estimated from the data. It holds if nobody reports falsely:
what false reports can do is in `noise`.

The rank is worked out where the person is: nothing is sent. Everybody in a bucket counts as tied.
With A_k people in bucket k or higher and theirs being b, their position lies between A_(b+1) + 1
and A_b, and they are in the top p% when A_b is at most p% of all who reported (the rule of
`assess`: a tie that reaches beyond a band is not in it).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from sottovoce.advisor.rank.description import (
    BUCKETS,
    COVERAGE,
    Buckets,
    Description,
    RankedTopic,
    score_range,
)
from sottovoce.advisor.rank.noise import check_number, noise_margins
from sottovoce.arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import whole_file
from sottovoce.parsing import parse_json
from sottovoce.privacy.exact import whole_number


def share_margins(rate: float, buckets: int, coverage: float) -> Floats:
    """Margins of an opened sum with two servers' noise in every bucket, for "at least k".

    The fewer of the buckets above and below are added, m of them, with 2m terms of noise; the law
    of their sum is computed, as the normal one is too light in its tails for few terms.
    """
    above = buckets - np.arange(buckets + 1)
    fewer = np.minimum(above, buckets - above)
    known = {int(m): _quantile(rate, 2 * int(m), (1 + coverage) / 2) for m in np.unique(fewer)}
    return np.array([known[int(m)] for m in fewer], dtype=np.float64)


@lru_cache(maxsize=1024)
def _quantile(rate: float, terms: int, chance: float) -> int:
    """The least t with P(sum of ``terms`` two-sided geometric draws <= t) >= ``chance``.

    By the characteristic function (1 - a)^2 / (1 - 2 a cos(w) + a^2) of one draw, a = exp(-rate).
    """
    if not terms:
        return 0
    alpha = math.exp(-rate)
    deviation = math.sqrt(2 * alpha * terms) / (1 - alpha)
    size = 1 << math.ceil(math.log2(80 * deviation + 80))
    angle = 2 * np.pi * np.arange(size) / size
    one = (1 - alpha) ** 2 / (1 - 2 * alpha * np.cos(angle) + alpha**2)
    law = np.maximum(np.fft.ifft(one**terms).real, 0)
    ordered = np.concatenate([law[size // 2 :], law[: size // 2]])
    return int(np.searchsorted(np.cumsum(ordered), chance) - size // 2)


MOST_PEOPLE = 1e15
"""Beyond it a float no longer tells one person more or less; noise of few people is far below."""


@dataclass(frozen=True)
class Histogram:
    """The noisy counts of one topic in one period, or None where there were too few reports."""

    topic: str
    period: int
    version: str
    """Of the description."""
    reports: int
    counts: tuple[float, ...] | None

    @classmethod
    def of_noised(
        cls,
        description: Description,
        topic: str,
        period: int,
        reports: int,
        total: NDArray[np.int64],
    ) -> "Histogram":
        """From the sum of noised reports: debiased, and moved to sum to their number."""
        if reports < description.minimum:
            return cls.withheld(description, topic, period)
        unbiased = description.noise(topic).estimate_counts(total, reports)
        adding_up = unbiased + (reports - unbiased.sum()) / unbiased.size
        return cls(topic, period, description.version, reports, tuple(adding_up.tolist()))

    @classmethod
    def of_opened(
        cls, description: Description, topic: str, period: int, reports: int, total: list[int]
    ) -> "Histogram":
        """From the opened sum of shares, which has both servers' noise on it and no bias."""
        return cls(topic, period, description.version, reports, tuple(map(float, total)))

    @classmethod
    def withheld(cls, description: Description, topic: str, period: int) -> "Histogram":
        """What is published where reports are too few: not even how many."""
        return cls(topic, period, description.version, 0, None)

    def cumulative(self) -> Floats:
        """Unbiased numbers of people in bucket k or higher, k = 0 to B, not yet monotone.

        The fewer of the buckets above and below k are added; all together are the reports.
        """
        counts = np.array(self._known_counts())
        above = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
        below = self.reports - np.append(0.0, np.cumsum(counts))
        most = counts.size - np.arange(counts.size + 1)
        return np.where(2 * most <= counts.size, above, below)

    def at_least(self) -> Floats:
        """The same, monotone and within 0 and the number of reports: the nearest such numbers."""
        monotone = isotonic_regression(self.cumulative(), increasing=False).x
        bounded = np.clip(monotone, 0, self.reports)
        bounded[0], bounded[-1] = self.reports, 0
        return bounded

    def margins(self, description: Description, coverage: float = COVERAGE) -> Floats:
        """How far each number of `cumulative` may be off, see `margins`."""
        return _known_margins(description, self.topic, self.reports, coverage)

    def record(self) -> dict[str, Any]:
        """The histogram as JSON."""
        return {
            "topic": self.topic,
            "period": self.period,
            "description": self.version,
            "reports": self.reports,
            "counts": None if self.counts is None else list(self.counts),
            "at_least": None if self.counts is None else self.at_least().tolist(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], description: Description) -> "Histogram":
        """A histogram a server sent, checked against the server's description."""
        try:
            counts = record["counts"]
            found = cls(
                str(record["topic"]),
                whole_number(record["period"], "period"),
                str(record["description"]),
                whole_number(record["reports"], "reports"),
                None if counts is None else tuple(map(float, counts)),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("the rank server sent a histogram of the wrong form.") from None
        if found.version != description.version:
            raise InputError("the histogram belongs to another description of the rank server.")
        found._check(description)
        return found

    def _check(self, description: Description) -> None:
        if self.counts is None:
            return
        wanted = description.topic(self.topic).buckets.number
        # What is no number, or more people than there can be, is not within these bounds.
        if len(self.counts) != wanted or not (np.abs(self.counts) <= MOST_PEOPLE).all():
            raise InputError(f"the rank server's histogram must have {wanted} finite counts.")
        if self.reports > MOST_PEOPLE:
            raise InputError("the rank server's histogram has more reports than there are people.")
        if self.reports < description.minimum:
            raise InputError("the rank server's histogram has fewer reports than it promised.")

    def _known_counts(self) -> tuple[float, ...]:
        if self.counts is None:
            raise InputError("the server withheld this histogram: too few people reported.")
        return self.counts


@lru_cache(maxsize=64)
def _known_margins(description: Description, topic: str, reports: int, coverage: float) -> Floats:
    noise = description.noise(topic)
    if description.mode == "noise":
        found = noise_margins(noise, reports, coverage)
    else:
        found = share_margins(float(noise.guarantee.rate), noise.buckets, coverage)
    found.setflags(write=False)
    return found


BANDS = (1, 5, 10, 25, 50)
"""Top 1%, 5%, 10%, 25% and 50%."""
REST = "rest"


@dataclass(frozen=True)
class RankEstimate:
    """Where a person stands among those who reported in one period.

    Attributes:
        low: the person's position is this or a later one, and
        high: this or an earlier one, with at least the chance ``coverage``; from 1.
        share: the estimated share of people in their bucket or a higher one.
        band: the narrowest band that holds their bucket, or ``rest``; None where the interval
            allows several.
        within: the narrowest band that surely holds it, in percent; None where none does.
        beyond: the widest band that surely does not, in percent; None where none does.
        reports: how many people reported.
    """

    low: int
    high: int
    share: float
    band: str | None
    within: int | None
    beyond: int | None
    reports: int
    period: int
    coverage: float

    @property
    def width(self) -> float:
        """The interval's width as a share of all who reported."""
        return (self.high - self.low + 1) / self.reports

    def in_words(self) -> str:
        """A sentence for the person."""
        shares = (
            f"{100 * (self.low - 1) / self.reports:.1f}% to {100 * self.high / self.reports:.1f}%"
        )
        told = (
            f"Of the {self.reports:,} people who reported, {shares} are more exposed than you, "
            "or as exposed"
        )
        chance = f"(right in at least {100 * self.coverage:g} of 100 such cases)"
        return f"{told} {chance}. {self._band_in_words()}"

    def _band_in_words(self) -> str:
        # Within a bucket nobody is told apart, so only the bucket as a whole can lie beyond a band.
        if self.band == REST:
            return f"Your score range reaches beyond the top {BANDS[-1]}%."
        if self.band is not None:
            return f"You are in the {self.band}."
        if self.within is not None:
            return (
                f"You are in the top {self.within}%; the noise hides whether you are in a "
                "narrower band."
            )
        if self.beyond is not None:
            return f"Your score range reaches beyond the top {self.beyond}%; the noise hides more."
        return "The noise hides which band you are in."


def estimate_rank(
    histogram: Histogram, description: Description, bucket: int, *, coverage: float = COVERAGE
) -> RankEstimate:
    """Where somebody in ``bucket`` stands; interval and band each hold with the ``coverage``."""
    estimates, margins = histogram.cumulative(), histogram.margins(description, coverage)
    everybody = histogram.reports
    above_low = max(0.0, estimates[bucket + 1] - margins[bucket + 1])
    own_low = max(0.0, estimates[bucket] - margins[bucket])
    own_high = min(float(everybody), estimates[bucket] + margins[bucket])
    # Whole numbers of people: the bounds move inwards to the nearest that they allow.
    low = min(everybody, math.ceil(above_low) + 1)
    high = max(low, math.floor(own_high), 1)
    share = min(max(histogram.at_least()[bucket], low), high) / everybody
    within = next((band for band in BANDS if high * 100 <= band * everybody), None)
    beyond = next((band for band in BANDS[::-1] if own_low * 100 > band * everybody), None)
    return RankEstimate(
        low, high, float(share), _band(within, beyond), within, beyond,
        everybody, histogram.period, coverage,
    )  # fmt: skip


def band_of(at_least: int, everybody: int) -> str:
    """The narrowest band of somebody when ``at_least`` people are as exposed as they or more."""
    found = next((band for band in BANDS if at_least * 100 <= band * everybody), None)
    return REST if found is None else f"top {found}%"


def _band(within: int | None, beyond: int | None) -> str | None:
    steps = dict(pairwise((None, *BANDS)))
    if beyond == BANDS[-1]:
        return REST
    return f"top {within}%" if within is not None and steps[beyond] == within else None


FORMAT = "sottovoce-rank-edges"
_LARGEST_FILE = 1 << 22
# Edges around a limit, in steps of its uncertainty, the most needed first. One inside a limit is
# worth more: whoever is above it is told the band. Chosen by trying others in the study.
_STEPS = (-1, -3, 1)
_PART_OF_BUCKET = 16


def fitted_buckets(
    histogram: Histogram, description: Description, number: int = BUCKETS
) -> Buckets:
    """At most ``number`` buckets with edges close to the limits of the bands.

    Near the limit q (a share of people) edges lie at the scores that q - 3s, q - s and q + s of all
    people reach, read off the histogram by straight lines. The step s is the deviation of a share
    among as many people, and half the margin of its noise, but at least 1/16 of the bucket that q
    cuts: within a wide bucket a straight line can be far off. So repeat it, period after period,
    until the edges hardly move. What is left of ``number`` halves the widest gaps.
    """
    check_number(number)
    topic = description.topic(histogram.topic)
    shares = histogram.at_least() / histogram.reports
    margins = histogram.margins(description) / histogram.reports
    limits = np.array(BANDS) / 100
    cut = np.array([np.flatnonzero(shares >= limit)[-1] for limit in limits])
    spread = np.sqrt(limits * (1 - limits) / histogram.reports) + margins[cut] / 2
    step = np.maximum(spread, (shares[cut] - shares[cut + 1]) / _PART_OF_BUCKET)
    wanted = np.concatenate([limits + each * step for each in _STEPS])
    levels = wanted[(wanted > 0) & (wanted < 1)][: number - 1]
    return Buckets(tuple(_scores_at(_fill_levels(np.unique(levels), number - 1), shares, topic)))


def save_edges(path: Path, topics: Mapping[str, RankedTopic]) -> None:
    """Write the edges of ``topics`` for `load_edges`."""
    rows = [topic.record() for topic in topics.values()]
    with whole_file(path) as part:
        part.write_text(json.dumps({"format": FORMAT, "topics": rows}) + "\n", encoding="utf-8")


def load_edges(path: Path) -> dict[str, RankedTopic]:
    """What `save_edges` wrote, by topic."""
    try:
        with path.open("rb") as file:
            topics = _topics(parse_json(file.read(_LARGEST_FILE)))
    except OSError as error:
        raise InputError(f"cannot read the edges {path}: {error.strerror}.") from None
    except (KeyError, TypeError, ValueError, RecursionError, ParameterError):
        raise InputError(
            f"{path} is not a file of edges; write one with sottovoce rank-edges."
        ) from None
    return {topic.name: topic for topic in topics}


def _topics(record: Any) -> list[RankedTopic]:  # noqa: ANN401 - JSON
    if record["format"] != FORMAT:
        raise ValueError(FORMAT)
    return [RankedTopic.from_record(row) for row in record["topics"]]


def _fill_levels(levels: Floats, number: int) -> Floats:
    """More levels, up to ``number``, each in the middle of the widest gap."""
    while levels.size < number:
        ends = np.array([0.0, *levels, 1.0])
        widest = int(np.argmax(np.diff(ends)))
        levels = np.insert(levels, widest, ends[widest : widest + 2].mean())
    return levels


def _scores_at(levels: Floats, shares: Floats, topic: RankedTopic) -> list[float]:
    """The scores that these shares of people reach or exceed, increasing."""
    edges = np.array(topic.buckets.edges)
    low, high = _ends(topic)
    known = np.array([min(low, edges[0]), *edges, max(high, edges[-1])])
    scores: list[float] = np.unique(np.interp(levels, shares[::-1], known[::-1])).tolist()
    return scores


def _ends(topic: RankedTopic) -> tuple[float, float]:
    """Between which bounds all scores lie; a guess for measures without any."""
    try:
        return score_range(topic.measure)
    except ParameterError:
        first, last = topic.buckets.edges[0], topic.buckets.edges[-1]
        wide = max(last - first, abs(first), abs(last))
        return first - wide, last + wide
