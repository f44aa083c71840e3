"""A published histogram: how many people are in each bucket, debiased, and monotone once added up.

Published once for a topic and a period and never changed. Everything in it is computed from the
noised sum, so it is free post-processing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from sottovoce.advisor.rank.description import COVERAGE, Description
from sottovoce.advisor.rank.margins import Floats, noise_margins, share_margins
from sottovoce.errors import InputError

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
        unbiased = description.noise(topic).unbiased(total, reports)
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
        noise = description.noise(self.topic)
        if description.mode == "noise":
            return noise_margins(noise, self.reports, coverage)
        return share_margins(float(noise.guarantee.rate), noise.buckets, coverage)

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
                int(record["period"]),
                str(record["description"]),
                int(record["reports"]),
                None if counts is None else tuple(map(float, counts)),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("the rank server's histogram is not as it should be.") from None
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
            raise InputError("this histogram was withheld: too few people reported.")
        return self.counts
