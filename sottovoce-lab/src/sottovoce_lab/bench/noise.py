"""Two-sided geometric noise, one thread: ours, OpenDP's exact one and numpy's inexact one.

OpenDP's vector `make_laplace`, when it is installed, is as exact and as secure as ours; numpy's
difference of two geometric draws is neither. Every figure is millions of samples per second, the
best of several rounds in which each takes its turn, output array and key set-up included. OpenDP is
timed on a part, since its cost per sample does not depend on how many there are.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times, optional_module

RATES = (Fraction(5), Fraction(1), Fraction(1, 2), Fraction(1, 20))
SIZES = (10**6, 10**7, 10**8)
OPENDP_SAMPLES = 20_000
OPENDP_NAME = "OpenDP make_laplace, vector of i32"
NUMPY_NAME = "numpy geometric differences"
_UNIT = "million samples/s"


def bench_noise(largest: int) -> list[BenchRow]:
    """All comparisons at `SIZES` up to ``largest`` samples, or at ``largest`` alone."""
    return noise_rows([size for size in SIZES if size <= largest] or [largest])


def noise_rows(
    sizes: Sequence[int],
    rates: Sequence[Fraction] = RATES,
    *,
    opendp_samples: int = OPENDP_SAMPLES,
    seconds: float = SECONDS,
) -> list[BenchRow]:
    """Every rate at every size, smallest first; without OpenDP its figures are None."""
    return [
        row
        for rate in rates
        for size in sizes
        for row in _compare(rate, size, min(size, opendp_samples), seconds)
    ]


def _compare(rate: Fraction, size: int, opendp_samples: int, seconds: float) -> list[BenchRow]:
    works = {"ours": _our_draws(rate, size), NUMPY_NAME: _numpy_draws(rate, size)}
    samples = {"ours": size, NUMPY_NAME: size, OPENDP_NAME: opendp_samples}
    measurement = laplace_on_vectors(rate)
    if measurement is not None:
        zeros = np.zeros(opendp_samples, dtype=np.int32)
        works[OPENDP_NAME] = lambda: measurement(zeros)
    best = best_times(works, seconds=seconds)
    speeds = {name: samples[name] / best[name] / 1e6 for name in works}
    case = f"rate {float(rate):g}, {size:.0e} samples, 1 thread"
    shown = OPENDP_NAME
    if measurement is not None and opendp_samples < size:
        shown += f", timed on {opendp_samples:,} samples"
    return [
        bench_row("noise", case, _UNIT, speeds["ours"], shown, speeds.get(OPENDP_NAME)),
        bench_row("noise", case, _UNIT, speeds["ours"], NUMPY_NAME, speeds[NUMPY_NAME]),
    ]


def _our_draws(rate: Fraction, size: int) -> Work:
    mechanism = GeometricMechanism(rate)
    mechanism.noise(1000, threads=1)
    return lambda: mechanism.noise(size, threads=1)


def _numpy_draws(rate: Fraction, size: int) -> Work:
    generator = np.random.default_rng(0)
    success = -np.expm1(-float(rate))
    return lambda: generator.geometric(success, size) - generator.geometric(success, size)


def laplace_on_vectors(rate: Fraction) -> Callable[[NDArray[np.int32]], list[int]] | None:
    """Noise on a vector of counts at ``rate`` nats per unit of L1, or None without OpenDP."""
    opendp = optional_module("opendp.prelude")
    if opendp is None:
        return None
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i32")), opendp.l1_distance(T="i32")
    measurement: Callable[[NDArray[np.int32]], list[int]] = opendp.m.make_laplace(
        *space, scale=1 / float(rate)
    )
    return measurement
