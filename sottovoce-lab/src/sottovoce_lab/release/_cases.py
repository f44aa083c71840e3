"""One case of a release study: a method at a privacy level, released at its true rate.

A level is as the paper states it, and as it truly is: its accounting uses M/K times the rate that
it states. A case is a method at a level in one accounting. Beside them stand what every study does
with a case (release by any method at one true rate, train a topic model) and how it says in a
sentence which methods are better at which rates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.release.compression.embedding import WordVectors
from sottovoce.release.compression.frequency import PAID_PRIORS, Noise
from sottovoce.release.compression.grouped import COMPRESSIONS, chosen_compression
from sottovoce.release.compression.maps import Compression, NoCompression
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.topics.evaluation import fit_topics
from sottovoce.report.result import Row, number

Accounting: TypeAlias = Literal["tight", "paper"]

NOTES = (
    (
        "The paper's per-entry budget M epsilon / K gives no (N, epsilon) but (N, M epsilon / K): "
        "10 times weaker than stated on its synthetic data, 68 times on its complaints."
    ),
    (
        "Cases of equal rate have equal true epsilon at every N: compare those only. In the text's "
        "synthetic figures both sides of the first comparison (epsilon 5) truly have rate 5; in "
        "the second (1/2) the compressed side has rate 5 and the uncompressed one 0.05."
    ),
    (
        'The text says that compressed methods "spend a tenth of the total privacy budget": that '
        "is K/M of the synthetic data. For the complaints, of which it speaks, K/M is 1/68."
    ),
    (
        "The text sets compressed N = 10 against uncompressed N = 1 at epsilon 5, and the other "
        "way round at epsilon 1/2; Table 1 has N = 1 at epsilon 5 and N = 10 at 1/2 throughout."
    ),
    (
        "As rates, (N = 10, epsilon = 5) and (N = 1, epsilon = 1/2) are one and the same release, "
        "yet the text prints two Jaccards for it (random 0.281 and 0.201)."
    ),
)


@dataclass(frozen=True)
class Level:
    """A stated (N, epsilon): limited-precision privacy of documents at L1 distance N."""

    epsilon: Fraction
    precision: int

    def rate(self, accounting: Accounting, words: int, columns: int) -> Fraction:
        """Nats per unit of L1: epsilon / N, times M / K when counted as the paper does."""
        weaker = Fraction(words, columns) if accounting == "paper" else Fraction(1)
        return weaker * self.epsilon / self.precision


WEAK, STRONG = Level(Fraction(5), 1), Level(Fraction(1, 2), 10)
MIDDLE = Level(Fraction(1, 2), 1)
ACCOUNTINGS: tuple[Accounting, ...] = ("tight", "paper")
TRUE_TEXT: Row = {
    "method": "true text",
    "accounting": None,
    "stated_epsilon": None,
    "precision": None,
    "true_epsilon": None,
    "rate": None,
}


@dataclass(frozen=True)
class ReleaseCase:
    """A method, what is said of its privacy, and who says it."""

    method: str
    level: Level
    accounting: Accounting

    def rate(self, words: int, columns: int) -> Fraction:
        """The true total rate, the same for every method of one level and accounting."""
        return self.level.rate(self.accounting, words, columns)

    def labels(self, rate: Fraction) -> Row:
        """The stated privacy beside the true one; without compression nothing is misstated."""
        true_epsilon = rate * self.level.precision
        stated = true_epsilon if self.method == "none" else self.level.epsilon
        return {
            "method": self.method,
            "accounting": self.accounting,
            "stated_epsilon": float(stated),
            "precision": self.level.precision,
            "true_epsilon": float(true_epsilon),
            "rate": float(rate),
        }


ROWS_AT_ONCE = 512  # noise fills every cell of an uncompressed block


@dataclass(frozen=True, eq=False)
class ReleaseRecipe:
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


def release(
    recipe: ReleaseRecipe, method: str, counts: Counts, rate: Fraction, seed: int
) -> Counts:
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


def _compression(recipe: ReleaseRecipe, method: str, frequencies: Floats, seed: int) -> Compression:
    return chosen_compression(
        method,
        recipe.columns,
        frequencies,
        seed,
        embedding=recipe.embedding,
        vocabulary=recipe.vocabulary,
    )


def methods_for(recipe: ReleaseRecipe) -> tuple[str, ...]:
    """All methods, less those that need an embedding when there is none."""
    return tuple(
        name for name in COMPRESSIONS if recipe.embedding or not name.startswith("embedding")
    )


class TopicSettings(Protocol):
    """What the studies' settings have in common."""

    @property
    def topics(self) -> int:
        """How many topics."""

    @property
    def seeds(self) -> int:
        """How many repetitions."""

    @property
    def iterations(self) -> int:
        """Rounds of the sampler."""

    @property
    def most_tokens(self) -> int:
        """Longer corpora are thinned to this."""


def study_topics(settings: TopicSettings, counts: Counts, seed: int) -> Floats:
    """The topics of ``counts`` at the study's sizes."""
    return fit_topics(
        counts,
        settings.topics,
        seed + 1,
        iterations=settings.iterations,
        most_tokens=settings.most_tokens,
    )


def other_seed(settings: TopicSettings, seed: int) -> int:
    """A seed that no reference model has: with one in common, little noise would look like none."""
    return seed + settings.seeds


def compared_with_none(rows: Sequence[Row], score: str) -> str:
    """At which true rates compression beats no compression, and the reverse.

    By whether the 95% intervals of the best compressed method and of none overlap, rate by rate.
    """
    if number(rows[0], "seeds") == 1:
        return "one seed gives no interval, so that nothing can be compared"
    better, worse, neither = _sorted_rates(rows, score)
    parts = [
        f"compression is better at {_list_rates(better)}" if better else "",
        f"no compression is better at {_list_rates(worse)}" if worse else "",
        f"their intervals overlap at {_list_rates(neither)}" if neither else "",
    ]
    return f"{'; '.join(part for part in parts if part)} (95% intervals, each by itself)"


def rates_where(rows: Sequence[Row], holds: Callable[[Row], bool]) -> str:
    """The true rates at which ``holds`` is true of some method, in words."""
    found = sorted({number(row, "rate") for row in rows if holds(row)}, reverse=True)
    return _list_rates(found) if found else "no rate"


def _sorted_rates(rows: Sequence[Row], score: str) -> tuple[list[float], list[float], list[float]]:
    better, worse, neither = [], [], []
    for rate in sorted({number(row, "rate") for row in rows}, reverse=True):
        there = [row for row in rows if row["rate"] == rate]
        plain = [row for row in there if row["method"] == "none"]
        packed = [row for row in there if row["method"] != "none"]
        if not plain or not packed:
            continue
        best = max(packed, key=lambda row: number(row, score))
        if number(best, f"{score}_low") > number(plain[0], f"{score}_high"):
            better.append(rate)
        elif number(best, f"{score}_high") < number(plain[0], f"{score}_low"):
            worse.append(rate)
        else:
            neither.append(rate)
    return better, worse, neither


def _list_rates(rates: Sequence[float]) -> str:
    return ("rate " if len(rates) == 1 else "rates ") + ", ".join(f"{rate:.3g}" for rate in rates)
