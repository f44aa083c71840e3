"""Noise that comes again: runs of draws under one key that were drawn before, wherever they begin.

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
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy.audit.findings import Finding
from sottovoce.privacy.audit.lines import agreement_chance

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
    kept = np.concatenate(list(_kept(noise, length)))
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


def _kept(noise: NDArray[np.signedinteger], length: int) -> Iterator[NDArray[np.void]]:
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
