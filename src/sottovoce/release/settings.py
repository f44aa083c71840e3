"""What a release is asked to be, checked before anything private is read, and what that promises.

What noise a stated guarantee gets, and what that noise truly promises: Limited-Precision Release,
Theorem 1, and what is true of it instead.
Tight: A maps M words to K columns, one 1 per row, so ||(y - y')A||_1 <= ||y - y'||_1, and noise at
r = epsilon / N on the columns is (N, epsilon)-limited-precision private.
Paper (section 4): each column gets the budget epsilon' = M epsilon / K, stated as epsilon. The true
guarantee is (N, M epsilon / K): 10 times weaker than stated on the paper's synthetic data, 68 times
on its complaints. Only for reproduction; ledgers and cards take `true`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError, check_choice
from sottovoce.privacy.exact import positive_integer
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.compression import COMPRESSIONS, Prior, PublicPrior, WordVectors
from sottovoce.release.compression.frequency import PAID_PRIORS

Accounting: TypeAlias = Literal["tight", "paper"]


@dataclass(frozen=True)
class Accounted:
    """A stated guarantee and the true one; they are equal but in paper accounting."""

    stated: LimitedPrecision
    true: LimitedPrecision

    @property
    def noise_rate(self) -> Fraction:
        """The rate of the noise on every column."""
        return self.true.rate


def account(
    stated: LimitedPrecision, accounting: Accounting, *, words: int, columns: int
) -> Accounted:
    """The truth about ``stated`` when ``words`` words are compressed to ``columns`` columns."""
    if not 1 <= columns <= words:
        raise ParameterError(f"columns must lie between 1 and the {words} words, got {columns}.")
    if accounting == "tight":
        return Accounted(stated, stated)
    if accounting != "paper":
        raise ParameterError("accounting must be 'tight' or 'paper'.")
    epsilon = stated.epsilon * Fraction(words, columns)
    return Accounted(stated, LimitedPrecision(stated.n, epsilon, stated.unit))


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
                "frequencies are bought for a compression, and this release has none; leave the "
                "prior public."
            )
        if self.frequencies is not None and self.reads_frequencies:
            raise ParameterError("frequencies are either public or bought; give one of the two.")

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

    def make_prior(self, words: int) -> Prior:
        """The source of frequencies for ``words`` words."""
        if self.reads_frequencies:
            return PAID_PRIORS[self.prior](self.prior_rate)
        return PublicPrior(np.ones(words) if self.frequencies is None else self.frequencies)
