"""Shares of noise, one thread: ours, exact, and numpy's floating-point negative binomial.

A share is the difference of two negative binomial draws of shape 1/h in every cell. numpy draws
these as Poisson counts of gamma means, in floating point and from a generator that is not secure:
nothing that could be used, but the fastest that is at hand. Every figure is millions of cells per
second, the best of several rounds in which each takes its turn, output and key set-up included.
Nothing is compared unless both have the law of a share.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import CheckFailedError
from sottovoce.privacy.audit.sums import law_of_noise
from sottovoce.privacy.noise_share import NoiseShare, SharesLaw
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times

RATES = (Fraction(1, 4), Fraction(1, 10), Fraction(1, 50))
AMONG = (1, 2, 4, 8)
NUMPY_NAME = "numpy negative_binomial differences"
_UNIT = "million cells/s"
_LEAST_CHECKED = 100_000


def bench_shares(cells: int) -> list[BenchRow]:
    """Every rate epsilon/S and every number of parties, on ``cells``."""
    return shares_rows(cells)


def shares_rows(
    cells: int,
    rates: Sequence[Fraction] = RATES,
    among: Sequence[int] = AMONG,
    *,
    seconds: float = SECONDS / 4,
) -> list[BenchRow]:
    """A row for each rate and number of parties that are counted on."""
    return [_compare(rate, h, cells, seconds) for rate in rates for h in among]


def _compare(rate: Fraction, among: int, cells: int, seconds: float) -> BenchRow:
    share = NoiseShare(epsilon=rate, norm=1, among=among)
    generator = np.random.default_rng(0)

    def ours(number: int = cells) -> NDArray[np.int64]:
        return share.draw(number)

    def theirs(number: int = cells) -> NDArray[np.int64]:
        return numpy_shares(generator, rate, among, number)

    law = SharesLaw(rate, shares=1, among=among)
    number = max(cells, _LEAST_CHECKED)
    for name, drawn in (("ours", ours(number)), (NUMPY_NAME, theirs(number))):
        if not law_of_noise(drawn, law).holds:
            raise CheckFailedError(f"{name}: not the law of a share, so nothing to compare.")
    works: dict[str, Work] = {"ours": ours, NUMPY_NAME: theirs}
    best = best_times(works, seconds=seconds)
    case = f"epsilon/S {rate}, among {among}, {cells:,} cells, 1 thread"
    ours_speed, numpy_speed = (cells / best[name] / 1e6 for name in works)
    return bench_row("shares", case, _UNIT, ours_speed, NUMPY_NAME, numpy_speed)


def numpy_shares(
    generator: np.random.Generator, rate: Fraction, among: int, number: int
) -> NDArray[np.int64]:
    """Differences of numpy's negative binomial draws of shape 1/h."""
    success = -np.expm1(-float(rate))
    first = generator.negative_binomial(1 / among, success, number)
    return np.asarray(first - generator.negative_binomial(1 / among, success, number))
