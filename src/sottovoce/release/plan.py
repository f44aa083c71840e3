"""A release worked out before anything is drawn: its noise, its true guarantee, its cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.parsing import check_choice
from sottovoce.privacy.exact import positive_integer, text_up
from sottovoce.privacy.guarantee import NO_PROTECTION, LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism, constant_work_noise, geometric_noise
from sottovoce.privacy.noise_law import expected_nonzeros, noise_deviation
from sottovoce.privacy.sampler import check_rate
from sottovoce.release.compression.embedding import (
    EmbeddingClusterCompression,
    EmbeddingDisperseCompression,
    WordVectors,
)
from sottovoce.release.compression.frequency import PAID_PRIORS, FrequencyCompression
from sottovoce.release.compression.maps import (
    Compression,
    GroupedCompression,
    NoCompression,
    RandomCompression,
)
from sottovoce.release.compression.word_map import MOST_NUMBERS, WordMap
from sottovoce.release.counts import Counts, checked_counts, checked_prior, checked_width

Accounting: TypeAlias = Literal["tight", "paper"]


def account(
    stated: LimitedPrecision, accounting: Accounting, *, words: int, columns: int
) -> LimitedPrecision:
    """The truth about ``stated`` when ``words`` words are compressed to ``columns`` columns.

    Limited-Precision Release, Theorem 1, and what is true of it instead.
    Tight: A maps M words to K columns, one 1 per row, so ||(y - y')A||_1 <= ||y - y'||_1, and noise
    at r = epsilon / N on the columns is (N, epsilon)-limited-precision private.
    Paper (section 4): each column gets the budget epsilon' = M epsilon / K, stated as epsilon. The
    true guarantee is (N, M epsilon / K): 10 times weaker than stated on the paper's synthetic data,
    68 times on its complaints. Only for reproduction.
    """
    if not 1 <= columns <= words:
        raise ParameterError(f"columns must lie between 1 and the {words} words, got {columns}.")
    if accounting == "tight":
        return stated
    if accounting != "paper":
        raise ParameterError("accounting must be 'tight' or 'paper'.")
    epsilon = stated.epsilon * Fraction(words, columns)
    return LimitedPrecision(stated.n, epsilon, stated.unit)


PriorKind: TypeAlias = Literal["public", "local", "central"]

_MOST = 1 << 30
PRIORS = ("public", "local", "central")
ACCOUNTINGS = ("tight", "paper")


@dataclass(frozen=True, eq=False)
class ReleaseSettings:
    """How word counts are to be released.

    Args:
        guarantee: what is stated of the whole release, frequencies included.
        compression: none, random, frequency, embedding-cluster or embedding-disperse.
        columns: K, how many columns to release; not for compression "none".
        accounting: "tight", or "paper" to reproduce the paper's, whose truth is weaker.
        prior: where word frequencies come from: "public" (free), "local" or "central" (paid).
        prior_share: part of the rate that pays for local or central frequencies, in (0, 1).
        frequencies: public frequencies, one per word; None: all words equally frequent.
        embedding: a public vector space, for the embedding compressions.
        maps: how many maps to use; document i takes map i mod ``maps``.
        threshold: keep only outputs of at least this (free post-processing).
        constant_work: work that does not depend on the private counts, at a higher cost.
        seed: of the public map; None: a fresh one.
    """

    guarantee: LimitedPrecision
    compression: str = "none"
    columns: int | None = None
    accounting: Accounting = "tight"
    prior: PriorKind = "public"
    prior_share: Fraction = Fraction(1, 10)
    frequencies: Floats | None = None
    embedding: WordVectors | None = None
    maps: int = 1
    threshold: int | None = None
    constant_work: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        check_choice("compression", self.compression, tuple(COMPRESSIONS))
        check_choice("accounting", self.accounting, ACCOUNTINGS)
        check_choice("prior", self.prior, PRIORS)
        if not 0 < self.prior_share < 1:
            raise ParameterError(f"prior_share must be in (0, 1), got {self.prior_share}.")
        if self.columns is None and self.compression != "none":
            raise ParameterError(f"compression {self.compression!r} needs columns, got none.")
        if self.columns is not None and self.compression == "none":
            raise ParameterError("columns must not be given without a compression.")
        if self.compression.startswith("embedding") and self.embedding is None:
            raise ParameterError(f"compression {self.compression!r} needs an embedding.")
        if self.columns is not None and type(self.columns) is not int:
            raise ParameterError("columns must be a whole number.")
        self._check_frequencies()
        for name in ("maps", "threshold"):
            if (
                getattr(self, name) is not None
                and positive_integer(getattr(self, name), name) > _MOST
            ):
                raise ParameterError(f"{name} must be at most {_MOST}.")
        if self.maps > 1 and (self.compression in {"none", "frequency"} or self.columns == 1):
            raise ParameterError(
                "several maps need a compression that is random ('random' or an embedding one) "
                "and more than 1 column."
            )

    def _check_frequencies(self) -> None:
        if self._lacks_frequencies():
            raise ParameterError(
                "compression 'frequency' needs frequencies: public ones, or prior 'local' or "
                "'central', which are paid for."
            )
        if self.reads_frequencies and self.compression == "none":
            raise ParameterError(
                "a paid prior is for a compression, and this release has none; leave the prior "
                "public."
            )
        if self.frequencies is not None and self.reads_frequencies:
            raise ParameterError("frequencies are either public or paid for; give one of the two.")

    def _lacks_frequencies(self) -> bool:
        return (
            self.compression == "frequency" and self.prior == "public" and self.frequencies is None
        )

    @property
    def reads_frequencies(self) -> bool:
        """Whether frequencies are bought from the private documents."""
        return self.prior != "public"

    @property
    def prior_rate(self) -> Fraction:
        """What the frequencies cost, in nats per word."""
        return self.guarantee.rate * self.prior_share if self.reads_frequencies else Fraction(0)


# Rows at once in the constant-work mode, where every cell is in memory.
_DENSE_CELLS = 1 << 22


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
        self, compressed: Counts, *, mechanism: GeometricMechanism | None = None
    ) -> Counts:
        """``compressed`` with fresh noise on every cell, or with that of a ``mechanism``."""
        mechanism = mechanism or GeometricMechanism(self.rate)
        if not self.constant_work:
            return mechanism.sparse(compressed, threshold=self.threshold)
        height = max(1, _DENSE_CELLS // compressed.shape[1])
        firsts = range(0, compressed.shape[0], height)
        parts = (compressed[first : first + height].toarray() for first in firsts)
        blocks = (mechanism.dense(part, threshold=self.threshold) for part in parts)
        noisy = [sparse.csr_array(block) for block in blocks]
        return sparse.csr_array(sparse.vstack(noisy, dtype=np.int64))


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
        how = self.settings.accounting
        return account(for_counts, how, words=self.words, columns=self.columns).rate

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
        fitted = self.fit_maps(frequencies)
        noise = self.noise
        return Released(noise.added_to(fitted.transform(counts)), maps_of(fitted), frequencies)

    def buy_frequencies(self, counts: Counts) -> Floats:
        """Public frequencies, or some that are drawn again and paid for."""
        settings = self.settings
        if not settings.reads_frequencies:
            public = np.ones(self.words) if settings.frequencies is None else settings.frequencies
            return checked_prior(public, counts.shape[1])
        noise = constant_work_noise if settings.constant_work else geometric_noise
        return PAID_PRIORS[settings.prior](settings.prior_rate).frequencies(counts, noise)

    def fit_maps(self, frequencies: Floats) -> Compression | GroupedCompression:
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


COMPRESSIONS: dict[str, type[Compression]] = {
    "none": NoCompression,
    "random": RandomCompression,
    "frequency": FrequencyCompression,
    "embedding-cluster": EmbeddingClusterCompression,
    "embedding-disperse": EmbeddingDisperseCompression,
}


def chosen_compression(
    name: str,
    columns: int,
    frequencies: Floats,
    seed: int | None,
    *,
    embedding: WordVectors | None = None,
    vocabulary: Sequence[str] | None = None,
) -> Compression:
    """The compression ``name`` to so many columns, yet to be fitted.

    All share words' frequencies out again by ``frequencies``; those by embedding need vectors of
    the words of ``vocabulary`` too.
    """
    if name == "none":
        return NoCompression()
    parts: dict[str, Any] = {"prior": frequencies, "random_state": seed}
    if name == "frequency":
        parts["frequencies"] = frequencies
    if name.startswith("embedding"):
        parts |= {"embedding": embedding, "vocabulary": vocabulary}
    return COMPRESSIONS[name](columns, **parts)
