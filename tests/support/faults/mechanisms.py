"""Another law than the one that was paid for, or the right one at the wrong place."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.compression import frequency
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts
from sottovoce.release.plan import ColumnNoise, ReleasePlan
from support.faults.bending import Cells, Noised, bend_noise, bent, planted, whole


def _uniform(cells: Noised, bits: int = 32) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Uniform numbers above 0 and below 1, of so many bits."""
    return np.asarray((cells.bits(bits) + 0.5) / (1 << bits))


@bent("mechanism", "moderate", "visiting", "few ones", "200 cells")
def laplace_noise_cut_towards_zero(cells: Noised) -> Cells:
    """Floating-point Laplace noise, its fraction cut off: 0 is too likely."""
    rate = float(cells.mechanism.rate)
    drawn = (np.log(_uniform(cells)) - np.log(_uniform(cells))) / rate
    return whole(np.fix(drawn))


@bent("mechanism", "moderate", "leaping", "few ones", "rates above 2, 2,000 cells")
def laplace_noise_rounded(cells: Noised) -> Cells:
    """Floating-point Laplace noise, rounded: at high rates 0 is too seldom."""
    rate = float(cells.mechanism.rate)
    drawn = (np.log(_uniform(cells)) - np.log(_uniform(cells))) / rate
    return whole(np.rint(drawn))


@bent("mechanism", "serious", "visiting", "few ones", "5,000 cells")
def geometric_by_coarse_inverse(cells: Noised) -> Cells:
    """Two geometric draws by logarithms of uniform numbers of 8 bits: few values can come out."""
    rate = float(cells.mechanism.rate)
    first, second = (np.floor(-np.log(_uniform(cells, 8)) / rate) for _ in range(2))
    return whole(first - second)


@bent("mechanism", "serious", "visiting", "few ones", "500 cells")
def gaussian_noise_of_the_same_width(cells: Noised) -> Cells:
    """Rounded Gaussian noise of the right variance: its tails are too thin for the promise."""
    alpha = np.exp(-float(cells.mechanism.rate))
    width = np.sqrt(2 * alpha) / (1 - alpha)
    angle, length = 2 * np.pi * _uniform(cells), np.sqrt(-2 * np.log(_uniform(cells)))
    return whole(np.rint(width * length * np.cos(angle)))


@bent("mechanism", "serious", "visiting", "few ones", "100 cells")
def uniform_noise_of_the_same_width(cells: Noised) -> Cells:
    """Uniform noise of about the right variance: none lies beyond its ends."""
    alpha = np.exp(-float(cells.mechanism.rate))
    most = max(1, int(np.sqrt(6 * alpha) / (1 - alpha)))
    return whole(np.floor(_uniform(cells) * (2 * most + 1))) - most


@bent("mechanism", "serious", "visiting", "few ones", "200 cells")
def one_geometric_draw_with_a_sign(cells: Noised) -> Cells:
    """A geometric draw under a fair sign: 0 comes out twice as often as it should, nearly."""
    rate = float(cells.mechanism.rate)
    drawn = whole(np.floor(-np.log(_uniform(cells)) / rate))
    return drawn * (2 * cells.bits(1) - 1)


@bent("mechanism", "moderate", "visiting", "more than a block", "4,000 cells")
def noise_is_biased(cells: Noised) -> Cells:
    """One more in one cell of ten: the mean is a tenth, and not nothing."""
    return cells.noise + (cells.bits(16) < 6554)


@bent("mechanism", "moderate", "visiting", "few ones", "500 cells")
def noise_is_heavier_above(cells: Noised) -> Cells:
    """Positive noise is a third larger than negative noise."""
    return np.where(cells.noise > 0, -(-cells.noise * 4 // 3), cells.noise)


@bent("mechanism", "serious", "visiting", "few ones", "500 cells")
def noise_is_lighter_below(cells: Noised) -> Cells:
    """Negative noise is drawn at one and a half times the rate."""
    return np.where(cells.noise < 0, -abs(cells.again(2)), cells.noise)


@planted(
    "mechanism", "serious", "summed", "few ones", "a column that no word of a document falls into"
)
def words_are_noised_before_they_are_summed(patch: pytest.MonkeyPatch) -> None:
    """In a compressed release each word that was used gets noise, and the sums get none."""
    compress = WordMap.compress
    added, draw = ColumnNoise.added_to, ReleasePlan.draw
    rates = list[Fraction]()

    def noised(self: WordMap, counts: Counts, **how: Any) -> Counts:  # noqa: ANN401 - as it takes
        counts = csr_array(counts)
        if self.is_identity or not rates:
            return compress(self, counts, **how)
        drawn = GeometricMechanism(rates[0]).noise(counts.nnz)
        cells = counts.data + drawn, counts.indices, counts.indptr
        return compress(self, csr_array(cells, shape=counts.shape), **how)

    def not_added(self: ColumnNoise, compressed: Counts, **how: Any) -> Counts:  # noqa: ANN401 - any
        return compressed if rates else added(self, compressed, **how)

    def drawn(self: ReleasePlan, counts: Counts) -> object:
        rates[:] = [self.noise_rate] if self.columns < self.words else []
        return draw(self, counts)

    patch.setattr(WordMap, "compress", noised)
    patch.setattr(ColumnNoise, "added_to", not_added)
    patch.setattr(ReleasePlan, "draw", drawn)


@planted("mechanism", "serious", "summed", "half ones", "200 columns of two used words and more")
def sums_of_many_words_have_less(patch: pytest.MonkeyPatch) -> None:
    """Where several used words fall into one column, their noise is drawn at twice the rate."""
    compress = WordMap.compress
    merged: list[Cells] = []

    def noted(self: WordMap, counts: Counts, **how: Any) -> Counts:  # noqa: ANN401 - as it takes
        used = csr_array((counts.toarray() != 0).astype(np.int64))
        merged[:] = [compress(self, used).toarray()]
        return compress(self, counts, **how)

    def weaker(cells: Noised) -> Cells:
        if not merged or merged[0].shape != cells.truth.shape:
            return cells.noise
        return np.where(merged[0] > 1, cells.again(2), cells.noise)

    patch.setattr(WordMap, "compress", noted)
    bend_noise(patch, weaker)


@planted("mechanism", "serious", "local prior", "half ones", "a paid prior, any documents")
def frequencies_are_true(patch: pytest.MonkeyPatch) -> None:
    """The frequencies that a prior pays for are published without noise."""

    def true(self: ReleasePlan, counts: Counts) -> Any:  # noqa: ANN401 - as it gives
        prior = frequency.PAID_PRIORS[self.settings.prior](self.settings.prior_rate)
        return prior.frequencies(counts, lambda rows, _rate: rows)

    patch.setattr(ReleasePlan, "buy_frequencies", true)


@planted(
    "mechanism",
    "moderate",
    "local prior",
    "few words often",
    "a paid prior, words of different frequency",
)
def map_follows_the_truth(patch: pytest.MonkeyPatch) -> None:
    """The public map is chosen by the true frequencies, whatever was bought."""
    draw, fitted = ReleasePlan.draw, ReleasePlan.fit_maps

    def by_truth(self: ReleasePlan, counts: Counts) -> object:
        true = np.asarray(csr_array(counts).sum(axis=0), np.float64).ravel() + 1
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(ReleasePlan, "fit_maps", lambda plan, _bought: fitted(plan, true))
            return draw(self, counts)

    patch.setattr(ReleasePlan, "draw", by_truth)


@planted(
    "mechanism",
    "serious",
    "constant-work",
    "documents without words",
    "one document without a counted word",
)
def constant_work_takes_the_short_way(patch: pytest.MonkeyPatch) -> None:
    """The constant-work mode noises only documents in which anything is stored."""
    dense = GeometricMechanism.dense

    def short(self: GeometricMechanism, counts: Cells, **how: Any) -> Cells:  # noqa: ANN401 - any
        noised = dense(self, counts, **how)
        return noised * np.asarray(counts).any(axis=1, keepdims=True)

    patch.setattr(GeometricMechanism, "dense", short)
