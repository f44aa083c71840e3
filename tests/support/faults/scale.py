"""Less noise than was paid for: everywhere, or where a cell's count or its document says so."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sottovoce.privacy import _sparse_noise
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.compression import frequency
from sottovoce.release.plan import ColumnNoise, ReleasePlan
from support.faults.bending import Cells, Noised, bend_counts, bent, planted


def _scale_rate(patch: pytest.MonkeyPatch, times: Fraction) -> None:
    begin = GeometricMechanism.__init__

    def scaled(self: GeometricMechanism, rate: Any) -> None:  # noqa: ANN401 - as it takes
        begin(self, Fraction(rate) * times)

    patch.setattr(GeometricMechanism, "__init__", scaled)


@planted("scale", "moderate", "visiting", "few ones", "about 5,000 cells")
def five_percent_less(patch: pytest.MonkeyPatch) -> None:
    """The mechanism draws at a rate of 1.05 times the stated one."""
    _scale_rate(patch, Fraction(21, 20))


@planted("scale", "slight", "visiting", "more than a block", "30,000 cells")
def two_percent_less(patch: pytest.MonkeyPatch) -> None:
    """The mechanism draws at a rate of 1.02 times the stated one."""
    _scale_rate(patch, Fraction(51, 50))


@planted("scale", "serious", "odd rate", "few ones", "no rate in tenths")
def rate_rounded_to_a_tenth(patch: pytest.MonkeyPatch) -> None:
    """The rate is rounded up to one decimal: sound at 0.5 and 3, weaker at 1/3 or 9/10 of 1/2."""
    begin = GeometricMechanism.__init__

    def rounded(self: GeometricMechanism, rate: Any) -> None:  # noqa: ANN401 - as it takes
        begin(self, Fraction(-(-Fraction(rate) * 10 // 1), 10))

    patch.setattr(GeometricMechanism, "__init__", rounded)


@planted("scale", "serious", "summed", "few ones", "more words than columns")
def rate_of_the_mean_word(patch: pytest.MonkeyPatch) -> None:
    """A compressed release gets the rate times words per column: the paper's error."""
    noise = ReleasePlan.noise.fget  # type: ignore[attr-defined] # a property has one

    def scaled(self: ReleasePlan) -> ColumnNoise:
        found: ColumnNoise = noise(self)
        rate = found.rate * Fraction(self.words, self.columns)
        return ColumnNoise(rate, found.threshold, found.constant_work)

    patch.setattr(ReleasePlan, "noise", property(scaled))


@planted(
    "scale", "moderate", "local prior", "few ones", "a prior of a tenth of the rate, 2,000 cells"
)
def counts_get_the_whole_rate(patch: pytest.MonkeyPatch) -> None:
    """Frequencies were bought, and the counts are noised at the whole rate all the same."""

    def whole(self: ReleasePlan) -> ColumnNoise:
        settings = self.settings
        return ColumnNoise(settings.guarantee.rate, settings.threshold, settings.constant_work)

    patch.setattr(ReleasePlan, "noise", property(whole))


@planted("scale", "serious", "local prior", "few ones", "a paid prior, any documents")
def prior_gets_the_whole_rate(patch: pytest.MonkeyPatch) -> None:
    """What frequencies are bought from is noised at ten times the rate that was paid for it."""
    noised = frequency._add_noise

    def whole(counts: Any, noise: Any, rate: Fraction) -> Any:  # noqa: ANN401 - as it takes
        return noised(counts, noise, rate * 10)

    patch.setattr(frequency, "_add_noise", whole)


@bent("scale", "serious", "visiting", "few ones", "one cell of count 1")
def ones_have_no_noise(cells: Noised) -> Cells:
    """Cells whose count is 1 are published as they are."""
    return np.where(cells.truth == 1, 0, cells.noise)


@bent("scale", "serious", "sharded", "few ones", "200 cells of 1")
def ones_have_half_the_noise(cells: Noised) -> Cells:
    """Cells whose count is 1 are noised at twice the rate."""
    return np.where(cells.truth == 1, cells.again(2), cells.noise)


@bent("scale", "serious", "constant-work", "large and odd", "one count above 5")
def large_counts_have_no_noise(cells: Noised) -> Cells:
    """Counts above 5 are published as they are: what is frequent is taken for harmless."""
    return np.where(cells.truth > 5, 0, cells.noise)


@bent("scale", "serious", "visiting", "few ones", "one document")
def zeros_have_no_noise(cells: Noised) -> Cells:
    """Only the stored cells of a sparse matrix are noised."""
    return np.where(cells.truth == 0, 0, cells.noise)


@planted("scale", "serious", "leaping", "few ones", "a rate above 2.7")
def zeros_never_come_out(patch: pytest.MonkeyPatch) -> None:
    """The walk over zero cells lands nowhere; blocks that are visited cell by cell are sound."""
    patch.setattr(_sparse_noise, "surviving_zeros", lambda *_: np.empty(0, np.int64))


@planted("scale", "serious", "thresholded", "few ones", "a threshold, 1,000 zero cells")
def zeros_come_out_too_seldom(patch: pytest.MonkeyPatch) -> None:
    """The walk leaps as for a threshold of one more: off by one."""
    gaps: Any = vars(_sparse_noise)["gap_sampler"]

    def higher(rate: Fraction, threshold: int | None) -> object:
        return gaps(rate, 2 if threshold is None else threshold + 1)

    patch.setattr(_sparse_noise, "gap_sampler", higher)


@bent("scale", "serious", "summed", "zero to three", "200 cells")
def best_of_two_draws(cells: Noised) -> Cells:
    """A draw and another: the smaller one is kept."""
    other = cells.again()
    return np.where(abs(other) < abs(cells.noise), other, cells.noise)


@bent("scale", "serious", "constant-work", "half ones", "200 cells")
def mean_of_two_draws(cells: Noised) -> Cells:
    """The noise is the mean of two draws, rounded towards 0."""
    return np.fix((cells.noise + cells.again()) / 2).astype(np.int64)


@bent("scale", "serious", "visiting", "few ones", "500 cells")
def unlucky_draws_are_drawn_again(cells: Noised) -> Cells:
    """A draw beyond two means is thrown away once: it would hurt the accuracy."""
    unlucky = abs(cells.noise) > 2 / float(cells.mechanism.rate)
    return np.where(unlucky, cells.again(), cells.noise)


@planted("scale", "serious", "thresholded", "zero to three", "counts of 2 and 3")
def counts_below_the_threshold_are_dropped_first(patch: pytest.MonkeyPatch) -> None:
    """Counts below 3 become 0 before the noise: one word more may then move a count by 3."""
    bend_counts(patch, lambda counts: counts * (counts >= 3))
