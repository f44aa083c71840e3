"""Noise that is drawn once and used twice: among known noise, in any two lines, at any distance.

Two draws of the law agree with the chance a, so that of the n cells of two lines Binomial(n, a)
agree, negated, shifted or reversed too. At a distance (a lag, in the order of rows or of columns),
the signs of noise that is not 0 are fair coins, and so is whether |Z| lies in its upper half, ties
broken at random: of n products of two, the sum S has a chance of at most 2 exp(-S^2/2n)
(Hoeffding), for noise that is partly the same as earlier noise, too.
"""

from itertools import product
from math import log, prod

import numpy as np
from numpy.typing import NDArray
from scipy import fft, sparse
from scipy.special import xlogy

from sottovoce.arrays import Floats
from sottovoce.privacy.audit.classes import Known
from sottovoce.privacy.audit.findings import Finding
from sottovoce.privacy.audit.lines import Published, shared_lines
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.privacy.randomness import random_bytes

_MOST_LINES, _LONGEST = 640, 160
_REACH = 8
_SHIFTS = (0, 1, -1, 2, -2)
_LEAST_PAIRS = 64


def audit_reuse(known: Known, level: float) -> list[Finding]:
    """Whether any noise comes again."""
    found = [
        _lines(known.noise, float(known.rate), "rows", level),
        _lines(known.noise.T, float(known.rate), "columns", level),
        unlike_before(known, level),
    ]
    if max(known.noise.shape) > _MOST_LINES:
        published = Published(sparse.csr_array(known.noise), known.rate)
        return [*found, *shared_lines(published)]
    return found


def _lines(noise: NDArray[np.int64], rate: float, lines: str, level: float) -> Finding:
    """In how many cells any two of the first lines agree."""
    noise = noise[:_MOST_LINES, :_LONGEST]
    number, width = noise.shape
    values = np.arange(-_REACH, _REACH + 1)
    chance = float((NoiseLaw(rate).probability(values) ** 2).sum())
    worst, most = 0.0, log(2 * number**2 * (2 * len(_SHIFTS) + 2) / level)
    told = "too few to see any sharing"
    own = (noise[:, :, None] == values).astype(np.float32)
    kinds = [(shift, sign, 1) for shift, sign in product(_SHIFTS, (1, -1))]
    for shift, sign, turn in [*kinds, (0, 1, -1), (0, -1, -1)]:
        cells = width - abs(shift)
        if cells < 1 or number < 2:  # noqa: PLR2004 - a pair
            continue
        one = own[:, max(0, shift) : width + min(0, shift)]
        other = own[:, max(0, -shift) : width - max(0, shift)][:, ::turn, ::sign]
        agree = one.reshape(number, -1) @ other.reshape(number, -1).T
        np.fill_diagonal(agree, 0)
        first, second = np.unravel_index(int(agree.argmax()), agree.shape)
        seen = float(agree[first, second])
        nats = _above(seen, cells, chance)
        if nats > worst or told.startswith("too"):
            how = "".join([", negated" * (sign < 0), ", reversed" * (turn < 0)])
            told = f"{first} and {second}, {shift} apart{how}, agree in {seen:.0f} of {cells} cells"
            worst = max(worst, nats)
    return Finding(
        f"noise that no two {lines} share",
        holds=worst <= most,
        detail=f"{number} {lines}: {told}, {worst:.1f} nats above chance of {most:.1f} allowed",
    )


def _above(seen: float, number: int, chance: float) -> float:
    """Give n KL(k/n || p) where k is more than expected."""
    if seen <= number * chance:
        return 0.0
    rest = number - seen
    return float(xlogy(seen, seen / number / chance) + xlogy(rest, rest / number / (1 - chance)))


def unlike_before(known: Known, level: float) -> Finding:
    """Whether noise goes with what was drawn at any distance before."""
    coins = {"signs": np.sign(known.noise), "sizes": _upper_half(known)}
    worst, told, looked_at = 0.0, "nothing", 4 * known.noise.size
    for what, along in product(coins, ("rows", "columns")):
        lines = coins[what] if along == "rows" else coins[what].T
        series = lines.ravel().astype(np.float64)
        pairs = np.rint(_products(np.abs(series)))
        nats = _products(series) ** 2 / 2 / np.maximum(pairs, _LEAST_PAIRS)
        nats[0] = 0
        lag = int(nats.argmax())
        if nats[lag] > worst:
            worst, told = float(nats[lag]), f"{what} of noise {lag} cells apart along {along}"
    most = log(2 * looked_at / level)
    return Finding(
        "noise unlike any before it",
        holds=worst <= most,
        detail=f"{told}: {worst:.1f} nats above chance of {most:.1f} allowed",
    )


def _products(series: Floats) -> Floats:
    """For every distance, the sum of products of two terms so far apart."""
    size = fft.next_fast_len(2 * series.size, real=True)
    return np.asarray(fft.irfft(np.abs(fft.rfft(series, size)) ** 2, size)[: series.size])


def fractions(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Uniform numbers from 0 to 1, for what the law leaves open."""
    drawn = np.frombuffer(random_bytes(8 * prod(shape)), np.uint64)
    return (drawn / 2.0**64).reshape(shape)


def _upper_half(known: Known) -> NDArray[np.int64]:
    """1 where |Z| lies in the law's upper half, -1 in its lower, at random in between."""
    law, sizes = NoiseLaw(float(known.rate)), np.abs(known.noise)
    above = np.where(sizes == 0, 1.0, 2 * law.at_least(np.maximum(sizes, 1)))
    beyond = 2 * law.at_least(sizes + 1)
    return np.where(beyond + fractions(sizes.shape) * (above - beyond) < 0.5, 1, -1)  # noqa: PLR2004 - a half
