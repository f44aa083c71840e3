r"""A bucket in two shares, and the check that they hold one bucket: what Prio3 took the place of.

Kept for comparison alone; no server speaks it any more.

A report is x = e_b of B entries, a random s, c = s^2 and y = 2 s x, all modulo p, as two shares
that add up to them. Each share alone is uniform. The modulus is the Mersenne prime p = 2^61 - 1: a
prime, so that a random check of a bad report fails but with chance 2/p; this one, since a product
is reduced by shifts and every step fits 64 bits.

The check. The servers know a vector r, uniform, one for each report, that the client cannot
foresee. Of its own share each server computes, and sends once,

    masked = s + <r, x>,      squared = c + <r, y> + <r^2, x>,      sums = <1, x>

which are linear, so that the two servers' parts add up to those of the report itself. It is one
bucket if masked^2 = squared and sums = 1. (The random linear test is that of Boneh et al.,
Lightweight techniques for private heavy hitters, 2021, section 4; that the client brings the
products, so that servers need no multiplication of their own, is Prio's, Corrigan-Gibbs and Boneh,
2017.)

Sound against any client, with the same chance 2/p: masked^2 - squared is

    sum_j (x_j^2 - x_j) r_j^2 + sum_{i<j} 2 x_i x_j r_i r_j + sum_j (2 s x_j - y_j) r_j + s^2 - c

a polynomial in r of degree 2. It is the zero polynomial only if every x_j is 0 or 1, no two are 1,
y = 2 s x and c = s^2; with sums = 1, only if x is one bucket. Any other is 0 for at most 2/p of r.

Private against a server that does whatever it likes. A server that follows the protocol sends one
message about a report, a function of its own share and of r, and of nothing that the other server
sends. What the other knows of the report then is its own share, r and, the message added to what
its own share gives, (u, u^2, 1) with u = s + r_b. Its share is uniform and independent of (b, s),
and s is uniform, so u is uniform whatever b is: for every bucket b' the mask s' = s + r_b - r_b'
gives the very same view. Whether the honest server accepts is a function of that view and of what
the dishonest server sent itself, so there is no guess of a bucket that it could test.

That rests on one r for each report, ever: messages under r and r' differ by r_b - r'_b. It is a
function of the servers' key, the rules, the topic, the period and the report's token.

The former check opened z - a first, z = <r, x>, and from the sum of those parts each server then
computed its part of a verdict. A server that added d to its part of z - a turned the verdict of an
honest report from 0 into 2 d z + d^2, and read z = r_b, so the bucket, off the other's answer.
Comparing verdicts for equality only would still have told whether the bucket is a guessed one.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError, ProtocolError
from sottovoce.learn._sums._fixed import expanded, uniform

PRIME = (1 << 61) - 1
DIGITS = 16
"""Hexadecimal ones of a packed residue."""
Residues: TypeAlias = NDArray[np.uint64]

_BITS = np.uint64(61)
_PRIME = np.uint64(PRIME)
_HALF = np.uint64(31)
_HALF_MASK = np.uint64((1 << 31) - 1)
_REST = np.uint64(30)
_REST_MASK = np.uint64((1 << 30) - 1)
_WORD = np.uint64(32)
_WORD_MASK = np.uint64((1 << 32) - 1)


def reduced(numbers: Residues) -> Residues:
    """``numbers`` below 2^64 modulo p."""
    folded = (numbers & _PRIME) + (numbers >> _BITS)
    return np.where(folded >= _PRIME, folded - _PRIME, folded)


def plus(left: Residues, right: Residues) -> Residues:
    """The sums."""
    return reduced(left + right)


def minus(left: Residues, right: Residues) -> Residues:
    """The differences."""
    return reduced(left + (_PRIME - right))


def times(left: Residues, right: Residues) -> Residues:
    """The products, by halves of 31 bits: 2^62 is 2, and every sum stays below 2^64."""
    left_high, left_low = left >> _HALF, left & _HALF_MASK
    right_high, right_low = right >> _HALF, right & _HALF_MASK
    middle = left_low * right_high + left_high * right_low
    carried = (middle >> _REST) + ((middle & _REST_MASK) << _HALF)
    # Reduced in between, so that the three parts cannot exceed 64 bits together.
    return reduced(reduced(np.uint64(2) * left_high * right_high + carried) + left_low * right_low)


def total(numbers: Residues, axis: int) -> Residues:
    """The sums along ``axis``, of up to 2^32 numbers."""
    low = reduced((numbers & _WORD_MASK).sum(axis=axis, dtype=np.uint64))
    high = reduced((numbers >> _WORD).sum(axis=axis, dtype=np.uint64))
    return plus(low, times(high, np.full_like(high, 1 << 32)))


def drawn(shape: tuple[int, ...]) -> Residues:
    """Uniform residues from the operating system: 61 bits each, drawn again where they are p."""
    numbers = uniform(int(np.prod(shape))) >> np.uint64(3)
    while (again := np.flatnonzero(numbers == _PRIME)).size:
        numbers[again] = uniform(again.size) >> np.uint64(3)
    return numbers.reshape(shape)


def residues(numbers: Sequence[int] | NDArray[np.integer]) -> Residues:
    """Whole numbers, negative ones too, modulo p."""
    return np.array([int(number) % PRIME for number in numbers], dtype=np.uint64)


def centred(numbers: Residues) -> list[int]:
    """The whole numbers nearest to zero with these residues."""
    return [value if value <= PRIME // 2 else value - PRIME for value in map(int, numbers)]


def packed(numbers: Residues) -> str:
    """Residues as text: 16 hexadecimal digits each, the lowest byte first.

    JSON's numbers are exact up to 2^53 only with many of its readers.
    """
    return numbers.astype("<u8").tobytes().hex()


def unpacked(text: str) -> Residues:
    """The residues in a text, any 64 bits standing for one."""
    try:
        return reduced(np.frombuffer(bytes.fromhex(text), dtype="<u8").astype(np.uint64))
    except ValueError:
        raise ProtocolError("shares must be 16 hexadecimal digits each.") from None


_SPARE_BITS = np.uint64(3)


def width(buckets: int) -> int:
    """How many numbers a share has: those of x, s, s^2 and y = 2 s x."""
    return 2 * buckets + 2


def split(buckets: Sequence[int] | NDArray[np.int64], number: int) -> tuple[Residues, Residues]:
    """Two shares of the report of each of ``buckets`` out of ``number``, a row each."""
    chosen = np.asarray(buckets, dtype=np.int64)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < number:
        raise ParameterError(f"a bucket must be 0 to {number - 1}.")
    rows, mask = np.arange(chosen.size), drawn((chosen.size,))
    secret = np.zeros((chosen.size, width(number)), dtype=np.uint64)
    secret[rows, chosen] = 1
    secret[:, number] = mask
    secret[:, number + 1] = times(mask, mask)
    secret[rows, number + 2 + chosen] = plus(mask, mask)
    first = drawn(secret.shape)
    return first, minus(secret, first)


def coefficients(key: bytes, where: str, ids: Sequence[str], number: int) -> Residues:
    """The vector r of each report, from the servers' common key: nobody else can foresee it."""
    found = np.empty((len(ids), number), dtype=np.uint64)
    for row, token in enumerate(ids):
        seed = hmac.digest(key, f"{where}\n{token}".encode(), hashlib.sha256)
        found[row] = expanded(seed, number)
    return reduced(found >> _SPARE_BITS)


@dataclass(frozen=True)
class CheckParts:
    """One server's parts of the check, or the sums of both, a number for each report."""

    masked: Residues
    """Of s + <r, x>: uniform."""
    squared: Residues
    """Of c + <r, y> + <r^2, x>: the square of that."""
    sums: Residues
    """Of the sum of the entries: 1."""

    @classmethod
    def of(cls, shares: Residues, r: Residues) -> "CheckParts":
        """The parts of whoever holds ``shares``, a row for each report and its row of ``r``."""
        number = r.shape[1]
        x, y = shares[:, :number], shares[:, number + 2 :]
        squares = total(times(times(r, r), x), axis=1)
        return cls(
            masked=plus(shares[:, number], total(times(r, x), axis=1)),
            squared=plus(shares[:, number + 1], plus(total(times(r, y), axis=1), squares)),
            sums=total(x, axis=1),
        )

    def rows(self, rows: Sequence[int]) -> "CheckParts":
        """The parts of some reports, in this order."""
        chosen = np.asarray(rows, dtype=np.int64)
        return CheckParts(self.masked[chosen], self.squared[chosen], self.sums[chosen])


def accepted(first: CheckParts, second: CheckParts) -> NDArray[np.bool_]:
    """Which reports are one bucket each."""
    masked, squared = plus(first.masked, second.masked), plus(first.squared, second.squared)
    one = plus(first.sums, second.sums) == 1
    right: NDArray[np.bool_] = (times(masked, masked) == squared) & one
    return right
