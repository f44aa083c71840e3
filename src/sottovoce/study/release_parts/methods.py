"""One private release of a corpus, by any method, at one true rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from sottovoce.errors import ParameterError
from sottovoce.release.compression import (
    COMPRESSIONS,
    Compression,
    NoCompression,
    WordVectors,
    chosen_compression,
)
from sottovoce.release.compression.prior import PAID_PRIORS, Noise
from sottovoce.release.counts import Counts, Floats, checked_counts

ROWS_AT_ONCE = 512  # noise fills every cell of an uncompressed block


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to release: what all runs of a study have in common.

    Args:
        noise: (counts, rate) to counts with two-sided geometric noise.
        columns: K.
        vocabulary: the words, for the embedding methods.
        embedding: a public vector space, for the embedding methods.
        prior: "central" (the paper's histogram: noise once) or "local".
        prior_share: part of the rate that pays for the frequencies, in (0, 1).
    """

    noise: Noise
    columns: int
    vocabulary: Sequence[str] = ()
    embedding: WordVectors | None = None
    prior: str = "central"
    prior_share: Fraction = Fraction(1, 10)

    def __post_init__(self) -> None:
        """Refuse a prior that is unknown or leaves nothing for the release."""
        if self.prior not in PAID_PRIORS:
            raise ParameterError("prior must be 'central' or 'local' in these studies.")
        if not 0 < self.prior_share < 1:
            raise ParameterError(f"prior_share must be in (0, 1), got {self.prior_share}.")


def release(recipe: Recipe, method: str, counts: Counts, rate: Fraction, seed: int) -> Counts:
    """Decompressed private counts whose total rate, frequencies included, is ``rate``."""
    if method == "none":
        return _released_uncompressed(recipe.noise, counts, rate)
    prior = PAID_PRIORS[recipe.prior](rate * recipe.prior_share)
    frequencies = prior.frequencies(counts, recipe.noise)
    compression = _compression(recipe, method, frequencies, seed).fit(counts)
    noisy = recipe.noise(compression.transform(counts), rate - prior.rate)
    return checked_counts(compression.inverse_transform(noisy))


def _released_uncompressed(noise: Noise, counts: Counts, rate: Fraction) -> Counts:
    kept = NoCompression().fit(counts[:1])
    starts = range(0, counts.shape[0], ROWS_AT_ONCE)
    blocks = [
        kept.inverse_transform(noise(counts[start : start + ROWS_AT_ONCE], rate))
        for start in starts
    ]
    return checked_counts(sparse.csr_array(sparse.vstack(blocks, format="csr", dtype=np.int64)))


def _compression(recipe: Recipe, method: str, frequencies: Floats, seed: int) -> Compression:
    return chosen_compression(
        method,
        recipe.columns,
        frequencies,
        seed,
        embedding=recipe.embedding,
        vocabulary=recipe.vocabulary,
    )


def methods_for(recipe: Recipe) -> tuple[str, ...]:
    """All methods, less those that need an embedding when there is none."""
    return tuple(
        name for name in COMPRESSIONS if recipe.embedding or not name.startswith("embedding")
    )
