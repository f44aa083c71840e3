"""Noise that is drawn once and used twice: among known noise, in any two lines, at any distance.

Two draws of the law agree with the chance a, so that of the n cells of two lines Binomial(n, a)
agree, negated, shifted or reversed too. At a distance (a lag, in the order of rows or of columns),
the signs of noise that is not 0 are fair coins, and so is whether |Z| lies in its upper half, ties
broken at random: of n products of two, the sum S has a chance of at most 2 exp(-S^2/2n)
(Hoeffding), for noise that is partly the same as earlier noise, too.

Noise that comes again: runs of draws under one key that were drawn before, wherever they begin.

A keystream that repeats gives the same draws a second time, though not at the same place: draws use
more or fewer bits. So every run of w draws is looked at, whatever its beginning, and known by a
rolling hash; of these every 64th is kept, chosen by the hash itself, so that equal runs are kept or
dropped together. Among n draws two equal runs are expected by chance in fewer than

    n^2/2 (sum_z P(Z = z)^2)^w  +  n w max_z P(Z = z)^w

cases, the second for runs that overlap themselves; w is chosen to make that less than 10^-12. A
keystream that comes again after b bytes is seen when more than b bytes of one key are drawn: here
more than 2^24, which is 2^20 blocks of the cipher.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import ceil, exp, log, prod

import numpy as np
from numpy.typing import NDArray
from scipy import fft, sparse
from scipy.special import xlogy

from sottovoce.arrays import Floats
from sottovoce.privacy.audit.findings import Finding, Known
from sottovoce.privacy.audit.lines import Published, agreement_chance, shared_lines
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
        nats = _excess_divergence(seen, cells, chance)
        if nats > worst or told.startswith("too"):
            how = "".join([", negated" * (sign < 0), ", reversed" * (turn < 0)])
            told = f"{first} and {second}, {shift} apart{how}, agree in {seen:.0f} of {cells} cells"
            worst = max(worst, nats)
    return Finding(
        f"noise that no two {lines} share",
        holds=worst <= most,
        detail=f"{number} {lines}: {told}, {worst:.1f} nats above chance of {most:.1f} allowed",
    )


def _excess_divergence(seen: float, number: int, chance: float) -> float:
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


# Two bytes each at least: a fifth more than 2^24 bytes of the keystream.
DRAWS = (1 << 23) + (1 << 21)
_PIECE = 1 << 20
_CHANCE = 1e-12
_NAME = "a keystream that never comes again"
_KEPT_BITS = np.uint64(58)
_BASE, _MODULUS = 0x9E3779B97F4A7C15, 1 << 64
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def audit_repeats(
    rate: Fraction, draw: Callable[[int], NDArray[np.signedinteger]], number: int = DRAWS
) -> Finding:
    """Look for any run of draws that ``draw``, under one key, gives twice."""
    return audit_runs(run_length(rate, number), draw, number)


def audit_runs(
    length: int, draw: Callable[[int], NDArray[np.signedinteger]], number: int = DRAWS
) -> Finding:
    """The same, for runs of ``length`` draws."""
    if 2 * length > number:
        return Finding(_NAME, holds=True, detail="noise is too rare to see whether it came again")
    noise = draw(number)
    kept = np.concatenate(list(_choose_runs(noise, length)))
    order = np.argsort(kept["hash"], kind="stable")
    ordered = kept[order]
    again = np.flatnonzero(ordered["hash"][1:] == ordered["hash"][:-1])
    repeated = sum(
        _same(noise, int(ordered["at"][i]), int(ordered["at"][i + 1]), length) for i in again[:100]
    )
    return Finding(
        _NAME,
        holds=repeated == 0,
        detail=f"{number} draws of one key, {2 * number >> 20} MiB of it at least: "
        f"{repeated} of {kept.size} runs of {length} draws came again",
    )


def run_length(rate: Fraction, number: int) -> int:
    """How long a run must be not to come again by chance."""
    alpha = exp(-float(rate))
    return unlikely_length(max(agreement_chance(rate), (1 - alpha) / (1 + alpha)), number)


def unlikely_length(likeliest: float, number: int) -> int:
    """The same, where no draw and no agreement of two has a chance above ``likeliest``."""
    # Noise so rare that two numbers of 64 bits cannot tell it from none.
    if likeliest == 1:
        return number
    return ceil(max(log(_CHANCE / number / number) / log(likeliest), 2))


_KEPT = np.dtype([("hash", np.uint64), ("at", np.int64)])


def _choose_runs(noise: NDArray[np.signedinteger], length: int) -> Iterator[NDArray[np.void]]:
    """The runs to look at: their hashes and where they begin."""
    size = max(_PIECE, 2 * length)
    powers = _powers(_BASE, size + 1)
    back = _powers(pow(_BASE, -1, _MODULUS), size + 1)
    for start in range(0, max(1, noise.size - length + 1), size - length):
        piece = noise[start : start + size].astype(np.uint64) + np.uint64(1 << 32)
        mixed = (piece ^ (piece >> np.uint64(31))) * _MIX
        mixed ^= mixed >> np.uint64(29)
        sums = np.zeros(mixed.size + 1, np.uint64)
        np.cumsum(mixed * powers[: mixed.size], out=sums[1:])
        hashes = (sums[length:] - sums[:-length]) * back[: max(0, sums.size - length)]
        chosen = np.flatnonzero(hashes >> _KEPT_BITS == 0)
        found = np.empty(chosen.size, _KEPT)
        found["hash"], found["at"] = hashes[chosen], chosen + start
        yield found[found["at"] < start + size - length]


def _powers(base: int, number: int) -> NDArray[np.uint64]:
    steps = np.full(number, base % _MODULUS, np.uint64)
    steps[0] = 1
    return np.multiply.accumulate(steps)


def _same(noise: NDArray[np.signedinteger], one: int, other: int, length: int) -> bool:
    return bool(np.array_equal(noise[one : one + length], noise[other : other + length]))
