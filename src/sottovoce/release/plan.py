"""A release worked out before anything is drawn: its noise, its true guarantee, its cost."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import text_up
from sottovoce.privacy.expected import expected_nonzeros, noise_deviation
from sottovoce.privacy.guarantee import NO_PROTECTION, LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism, constant_work_noise, geometric_noise
from sottovoce.privacy.sampler import check_rate
from sottovoce.release.compression import (
    Compression,
    GroupedCompression,
    WordMap,
    chosen_compression,
)
from sottovoce.release.compression.decompress import checked_prior
from sottovoce.release.compression.word_map import MOST_NUMBERS
from sottovoce.release.counts import Counts, checked_counts, checked_width
from sottovoce.release.settings import ReleaseSettings, account

# Rows at once in the constant-work mode, where every cell is in memory.
_DENSE_CELLS = 1 << 22
# From here on one word more or less can be as good as certain to a reader.


class Sized(Protocol):
    """Counts, or what is known of them."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def nnz(self) -> int: ...


class Released(NamedTuple):
    """What was drawn: noisy columns, the public maps, and the frequencies for decompression."""

    counts: Counts
    maps: tuple[WordMap, ...]
    frequencies: Floats


@dataclass(frozen=True)
class ColumnNoise:
    """The noise of a release, row by row: any rows may be drawn anywhere."""

    rate: Fraction
    threshold: int | None = None
    constant_work: bool = False

    def added_to(
        self,
        compressed: Counts,
        *,
        threads: int | None = None,
        mechanism: GeometricMechanism | None = None,
    ) -> Counts:
        """``compressed`` with fresh noise on every cell, or with that of a ``mechanism``."""
        mechanism = mechanism or GeometricMechanism(self.rate)
        if not self.constant_work:
            return mechanism.sparse(compressed, threshold=self.threshold, threads=threads)
        height = max(1, _DENSE_CELLS // compressed.shape[1])
        blocks = [
            sparse.csr_array(
                mechanism.dense(
                    compressed[first : first + height].toarray(),
                    threshold=self.threshold,
                    threads=threads,
                )
            )
            for first in range(0, compressed.shape[0], height)
        ]
        return sparse.csr_array(sparse.vstack(blocks, dtype=np.int64))


def maps_of(fitted: Compression | GroupedCompression) -> tuple[WordMap, ...]:
    """The public maps of a fitted compression, one for each group of documents."""
    grouped = isinstance(fitted, GroupedCompression)
    return tuple(each.map_ for each in (fitted.compressions_ if grouped else [fitted]))


@dataclass(frozen=True, eq=False)
class ReleasePlan:
    """``settings`` for a vocabulary of given words.

    With r the stated rate epsilon/N, r_h the part that pays for frequencies (0 if public) and
    A the map: noise at r - r_h on the columns (times M/K in paper accounting) is true to its rate,
    since ||(y - y')A||_1 <= ||y - y'||_1, and on the same documents the two rates add up.
    """

    settings: ReleaseSettings
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what could only fail later, when the spend is already committed."""
        refuse_pairs(self.vocabulary)
        check_rate(self.noise_rate)
        if self.settings.maps * self.words > MOST_NUMBERS:
            raise ParameterError(
                f"maps times words must be at most {MOST_NUMBERS}, got more; use fewer maps."
            )
        if self.settings.frequencies is not None:
            checked_prior(self.settings.frequencies, self.words)
        if self.settings.reads_frequencies:
            check_rate(self.settings.prior_rate)
        compression = self._compression(np.ones(self.words))
        if isinstance(compression, GroupedCompression):
            compression = compression.compression
        compression.check_words(self.words)

    @property
    def words(self) -> int:
        """M."""
        return len(self.vocabulary)

    @property
    def columns(self) -> int:
        """K, or M without compression."""
        columns = self.settings.columns
        if columns is not None and not 1 <= columns < self.words:
            raise ParameterError(
                f"columns must be >= 1 and below the number of words, {self.words}; got {columns}."
            )
        return self.words if columns is None else columns

    @property
    def noise_rate(self) -> Fraction:
        """The rate of the noise on every column."""
        stated = self.settings.guarantee
        for_counts = LimitedPrecision.at_rate(stated.rate - self.settings.prior_rate, n=stated.n)
        accounted = account(
            for_counts, self.settings.accounting, words=self.words, columns=self.columns
        )
        return accounted.noise_rate

    @property
    def guarantee(self) -> LimitedPrecision:
        """What the whole release truly promises."""
        stated = self.settings.guarantee
        rate = self.noise_rate + self.settings.prior_rate
        return LimitedPrecision.at_rate(rate, n=stated.n, unit=stated.unit)

    def true_epsilon(self) -> str:
        """A warning that the stated epsilon is not the true one."""
        stated, true = self.settings.guarantee, self.guarantee
        return (
            f"paper accounting states epsilon {text_up(stated.epsilon)}, but the noise gives "
            f"{text_up(true.epsilon)} at N={true.n}; what is recorded is the latter."
        )

    def warnings(self) -> list[str]:
        """What somebody who releases this should be told."""
        true = self.guarantee
        told = [self.true_epsilon()] if true.rate > self.settings.guarantee.rate else []
        if true.epsilon >= NO_PROTECTION:
            sure = 1 / (1 + exp(-min(float(true.epsilon), 50)))
            told.append(
                f"epsilon {text_up(true.epsilon)} at N={true.n} is next to no promise: a reader "
                f"who thought a passage as likely as not may be {sure:.2%} sure of it afterwards. "
                f"From {NO_PROTECTION} up the noise hinders a search, not a check."
            )
        return told

    @property
    def noise_deviation(self) -> float:
        """The standard deviation of the noise on a column."""
        return noise_deviation(self.noise_rate)

    def expected_nonzeros(self, counts: Sized) -> int:
        """About how many cells the release will have; for the eyes of the corpus's holder."""
        cells = counts.shape[0] * self.columns
        # Without drawing a map, all that is known of the columns is a bound: no more than words.
        stored = min(counts.nnz, cells)
        return expected_nonzeros(cells, stored, self.noise_rate, self.settings.threshold)

    def draw(self, counts: Counts) -> Released:
        """Buy the frequencies, choose the maps, compress and add noise: each call draws again."""
        counts = checked_counts(counts)
        checked_width(counts, self.words, what="word of the vocabulary")
        frequencies = self.buy_frequencies(counts)
        fitted = self.fitted(frequencies)
        noise = self.noise
        return Released(noise.added_to(fitted.transform(counts)), maps_of(fitted), frequencies)

    def buy_frequencies(self, counts: Counts) -> Floats:
        """Public frequencies, or some that are drawn again and paid for."""
        prior = self.settings.make_prior(self.words)
        noise = constant_work_noise if self.settings.constant_work else geometric_noise
        return prior.frequencies(counts, noise)

    def fitted(self, frequencies: Floats) -> Compression | GroupedCompression:
        """The compression with its public maps; a fresh choice each time, unless seeded."""
        compression = self._compression(frequencies)
        return compression.fit(sparse.csr_array((1, self.words), dtype=int))

    @property
    def noise(self) -> "ColumnNoise":
        """What is added to compressed counts."""
        settings = self.settings
        return ColumnNoise(self.noise_rate, settings.threshold, settings.constant_work)

    def _compression(self, frequencies: Floats) -> Compression | GroupedCompression:
        settings = self.settings
        chosen = chosen_compression(
            settings.compression,
            self.columns,
            frequencies,
            settings.seed,
            embedding=settings.embedding,
            vocabulary=self.vocabulary,
        )
        return chosen if settings.maps == 1 else GroupedCompression(chosen, groups=settings.maps)


def refuse_pairs(terms: tuple[str, ...]) -> None:
    """One word more changes the count of up to three pairs, which the guarantee does not cover."""
    pairs = sum(" " in term for term in terms)
    if pairs:
        raise ParameterError(
            f"a release counts single words, got {pairs} terms of two: one added word would change "
            "up to four counts, and the guarantee would be false. Leave them out."
        )
