"""Two-sided geometric noise, one thread: ours, OpenDP's exact one and numpy's inexact one.

OpenDP's vector `make_laplace` is as exact and as secure as ours; numpy's difference of two
geometric draws is neither. Every figure is millions of samples per second, the best of up to
five runs in the same process, output array and key set-up included. OpenDP is timed on a part,
since its cost per sample does not depend on how many there are.
"""

import importlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from time import perf_counter
from typing import Any, TypedDict

import numpy as np

from sottovoce.release.mechanism import GeometricMechanism

RATES = (Fraction(5), Fraction(1), Fraction(1, 2), Fraction(1, 20))
SIZES = (10**6, 10**7, 10**8)
OPENDP_SAMPLES = 200_000
_UNIT = "million samples/s"
_PATIENCE_S = 2


class BenchRow(TypedDict):
    """One comparison; a ratio above 1 means that ours is better."""

    bench: str
    case: str
    unit: str
    ours: float
    peer: str
    theirs: float | None
    ratio: float | None


def noise_rows(
    sizes: Sequence[int] = SIZES,
    rates: Sequence[Fraction] = RATES,
    *,
    opendp_samples: int = OPENDP_SAMPLES,
) -> list[BenchRow]:
    """All comparisons, smallest first; without OpenDP its figures are None and its row says so."""
    rows: list[BenchRow] = []
    for rate in rates:
        opendp_speed = _opendp_speed(rate, opendp_samples)
        for size in sizes:
            ours = _speed(_our_draws(rate, size), size)
            case = f"rate {float(rate):g}, {size:.0e} samples, 1 thread"
            rows.append(_row(case, ours, _opendp_name(opendp_speed), opendp_speed))
            rows.append(_row(case, ours, "numpy geometric differences", _numpy_speed(rate, size)))
    return rows


def _row(case: str, ours: float, peer: str, theirs: float | None) -> BenchRow:
    return BenchRow(
        bench="noise",
        case=case,
        unit=_UNIT,
        ours=ours,
        peer=peer,
        theirs=theirs,
        ratio=None if theirs is None else ours / theirs,
    )


def _our_draws(rate: Fraction, size: int) -> Callable[[], object]:
    mechanism = GeometricMechanism(rate)
    mechanism.noise(1000, threads=1)
    return lambda: mechanism.noise(size, threads=1)


def _numpy_speed(rate: Fraction, size: int) -> float:
    generator = np.random.default_rng(0)
    success = -np.expm1(-float(rate))
    return _speed(
        lambda: generator.geometric(success, size) - generator.geometric(success, size), size
    )


def _opendp_speed(rate: Fraction, samples: int) -> float | None:
    opendp = _opendp()
    if opendp is None:
        return None
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i32")), opendp.l1_distance(T="i32")
    measurement = opendp.m.make_laplace(*space, scale=1 / float(rate))
    zeros = np.zeros(samples, dtype=np.int32)
    return _speed(lambda: measurement(zeros), samples)


def _opendp_name(speed: float | None) -> str:
    if speed is None:
        return "OpenDP make_laplace (not installed; run: make peers)"
    return "OpenDP make_laplace, vector of i32"


def _opendp() -> Any:  # noqa: ANN401 - it ships no types
    try:
        return importlib.import_module("opendp.prelude")
    except ImportError:
        return None


def _speed(work: Callable[[], object], samples: int) -> float:
    """Millions of samples per second: the best of five, or of as many as two seconds hold."""
    best = spent = _seconds(work)
    for _ in range(4):
        if spent < _PATIENCE_S:
            seconds = _seconds(work)
            best, spent = min(best, seconds), spent + seconds
    return samples / best / 1e6


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
