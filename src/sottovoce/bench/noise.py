"""Two-sided geometric noise, one thread: ours, OpenDP's exact one and numpy's inexact one.

OpenDP's vector `make_laplace` is as exact and as secure as ours; numpy's difference of two
geometric draws is neither. Every figure is millions of samples per second, the best of three
rounds in which each takes its turn, output array and key set-up included. OpenDP is timed on a
part, since its cost per sample does not depend on how many there are.
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
OPENDP_SAMPLES = 100_000
_UNIT = "million samples/s"
_ROUNDS = 3


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
    return [
        row
        for rate in rates
        for size in sizes
        for row in _compare(rate, size, min(size, opendp_samples))
    ]


def _compare(rate: Fraction, size: int, opendp_samples: int) -> list[BenchRow]:
    """Ours, numpy's and OpenDP's draws, in turn, so that what else runs slows all of them."""
    works = {"ours": _our_draws(rate, size), "numpy": _numpy_draws(rate, size)}
    opendp = _opendp_draws(rate, opendp_samples)
    if opendp is not None:
        works["opendp"] = opendp
    best = {name: min(times) for name, times in _timed(works).items()}
    ours = size / best["ours"] / 1e6
    numpy_speed = size / best["numpy"] / 1e6
    opendp_speed = opendp_samples / best["opendp"] / 1e6 if opendp is not None else None
    case = f"rate {float(rate):g}, {size:.0e} samples, 1 thread"
    return [
        _row(case, ours, _opendp_name(opendp_speed), opendp_speed),
        _row(case, ours, "numpy geometric differences", numpy_speed),
    ]


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


def _numpy_draws(rate: Fraction, size: int) -> Callable[[], object]:
    generator = np.random.default_rng(0)
    success = -np.expm1(-float(rate))
    return lambda: generator.geometric(success, size) - generator.geometric(success, size)


def _opendp_draws(rate: Fraction, samples: int) -> Callable[[], object] | None:
    opendp = _opendp()
    if opendp is None:
        return None
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i32")), opendp.l1_distance(T="i32")
    measurement = opendp.m.make_laplace(*space, scale=1 / float(rate))
    zeros = np.zeros(samples, dtype=np.int32)
    return lambda: measurement(zeros)


def _opendp_name(speed: float | None) -> str:
    if speed is None:
        return "OpenDP make_laplace (not installed; run: make peers)"
    return "OpenDP make_laplace, vector of i32"


def _opendp() -> Any:  # noqa: ANN401 - it ships no types
    try:
        return importlib.import_module("opendp.prelude")
    except ImportError:
        return None


def _timed(works: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Seconds of every work, round after round."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(_ROUNDS):
        for name, work in works.items():
            times[name].append(_seconds(work))
    return times


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
