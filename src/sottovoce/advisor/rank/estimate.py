"""From a published histogram to a person's own rank, where she is: nothing is sent.

Everybody in a bucket counts as tied. With A_k people in bucket k or higher and hers being b, her
position lies between A_(b+1) + 1 and A_b, and she is in the top p% when A_b is at most p% of all
who reported (the rule of `assess`: a tie that reaches beyond a band is not in it).
"""

import math
from dataclasses import dataclass
from itertools import pairwise

from sottovoce.advisor.rank.description import COVERAGE, Description
from sottovoce.advisor.rank.histogram import Histogram

BANDS = (1, 5, 10, 25, 50)
"""Top 1%, 5%, 10%, 25% and 50%."""
REST = "rest"


@dataclass(frozen=True)
class RankEstimate:
    """Where a person stands among those who reported in one period.

    Attributes:
        low: her position is this or a later one, and
        high: this or an earlier one, with at least the chance ``coverage``; from 1.
        share: the estimated share of people in her bucket or a higher one.
        band: the narrowest band that holds her bucket, or ``rest``; None where the interval
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
                f"You are in the top {self.within}%; whether in a narrower band, the noise hides."
            )
        if self.beyond is not None:
            return (
                f"Your score range reaches beyond the top {self.beyond}%; more cannot be told "
                "under this noise."
            )
        return "In which band you are cannot be told under this noise."


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
    """The narrowest band of somebody when ``at_least`` people are as exposed as she or more."""
    found = next((band for band in BANDS if at_least * 100 <= band * everybody), None)
    return REST if found is None else f"top {found}%"


def _band(within: int | None, beyond: int | None) -> str | None:
    steps = dict(pairwise((None, *BANDS)))
    if beyond == BANDS[-1]:
        return REST
    return f"top {within}%" if within is not None and steps[beyond] == within else None
