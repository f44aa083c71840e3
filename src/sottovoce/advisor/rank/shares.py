"""A bucket in two shares, each uniform by itself, and the check that they hold one bucket.

A report is x = e_b, a random a and c = a^2, all modulo p = 2^61 - 1, as two shares that add up to
them. Each share alone is uniform: a server learns nothing from it, whatever it computes.

The check (after Boneh et al., Lightweight techniques for private heavy hitters, 2021, section 4).
The servers know a vector r that the client cannot foresee. With z = <r, x> and w = <r^2, x>, a
one-hot x has z^2 = w and entries that sum to 1. For every other x that sums to 1, z^2 - w is a
polynomial in r of degree 2 that is not constant, so it is 0 with chance 2/p at most. z^2 is
computed with the client's own a: z - a is opened, which is uniform and says nothing, and

    z^2 - w + (c - a^2) = (z - a)^2 + 2 (z - a) a + c - w

is linear in what is shared, so it is opened too: 0 for an honest client. A client who lies about c
adds a number it fixed beforehand, which makes no polynomial zero that was not.

It holds against any client, and against servers that follow the protocol and are curious. A server
that departs from it can test one guess of a bucket per report by tampering with its own share.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.prime_field import (
    Residues,
    drawn,
    minus,
    plus,
    reduced,
    times,
    total,
)
from sottovoce.errors import ParameterError
from sottovoce.learn.sums.expansion import expanded

SQUARE = 2
"""How many numbers follow the buckets in a share: those of a and of a^2."""
_WORD = np.uint64(3)


def split(buckets: Sequence[int] | NDArray[np.int64], number: int) -> tuple[Residues, Residues]:
    """Two shares of the report of each of ``buckets`` out of ``number``, a row each."""
    chosen = np.asarray(buckets, dtype=np.int64)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < number:
        raise ParameterError(f"a bucket must be 0 to {number - 1}.")
    secret = np.zeros((chosen.size, number + SQUARE), dtype=np.uint64)
    secret[np.arange(chosen.size), chosen] = 1
    secret[:, number] = drawn((chosen.size,))
    secret[:, number + 1] = times(secret[:, number], secret[:, number])
    first = drawn(secret.shape)
    return first, minus(secret, first)


def coefficients(key: bytes, where: str, ids: Sequence[str], number: int) -> Residues:
    """The vector r of each report, from the servers' common key: nobody else can foresee it."""
    found = np.empty((len(ids), number), dtype=np.uint64)
    for row, token in enumerate(ids):
        seed = hmac.digest(key, f"{where}\n{token}".encode(), hashlib.sha256)
        found[row] = expanded(seed, number)
    return reduced(found >> _WORD)


@dataclass(frozen=True)
class Opened:
    """One server's parts of what the two open about each report, a number a report."""

    masked: Residues
    """Its share of z - a."""
    sums: Residues
    """Its share of the sum of the entries."""


class Sketch:
    """One server's side of the check of some reports, a row each."""

    def __init__(self, shares: Residues, r: Residues, *, first: bool) -> None:
        number = r.shape[1]
        vectors = shares[:, :number]
        self._first = first
        self._a, self._c = shares[:, number], shares[:, number + 1]
        self._w = total(times(times(r, r), vectors), axis=1)
        masked = minus(total(times(r, vectors), axis=1), self._a)
        self.opened = Opened(masked, total(vectors, axis=1))

    def verdicts(self, other_masked: Residues) -> Residues:
        """This server's share of z^2 - w + (c - a^2), once the other's masked parts are known."""
        difference = plus(self.opened.masked, other_masked)
        twice = plus(difference, difference)
        share = minus(plus(times(twice, self._a), self._c), self._w)
        return plus(share, times(difference, difference)) if self._first else share


def accepted(
    sums: tuple[Residues, Residues], verdicts: tuple[Residues, Residues]
) -> NDArray[np.bool_]:
    """Which reports are one bucket each."""
    right: NDArray[np.bool_] = (plus(*sums) == 1) & (plus(*verdicts) == 0)
    return right
