"""A bucket in two shares, the check that they hold one bucket, and how a noised sum is opened.

A report is x = e_b, a random a and c = a^2, all modulo p, as two shares that add up to them. Each
share alone is uniform: a server learns nothing from it, whatever it computes. The modulus is the
Mersenne prime p = 2^61 - 1: a prime, so that a random linear check of a bad report fails but with
chance 2/p; this one, since a product is reduced by shifts and every step fits 64 bits.

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

The opening: the two servers' messages, without I/O.

1. The first server sends which reports it holds, with its masked parts of the check.
2. The second answers for those that it holds as well, with its own parts and verdicts.
3. The first knows now which reports are one bucket each, draws its noise, and names them, with its
   verdicts. The second checks that for itself, draws its noise, and sends its noised sum.
4. The first adds both: the sum over exactly the reports that both hold, with both servers' noise.

Who learns what. The first server learns S plus the second's noise, the second (from what is
published) S plus the first's, everybody else S plus both. Each noise alone is two-sided geometric
at the rate epsilon/2, and moving one person changes S by 2 in L1, so against either server, and
everybody else, the sum is epsilon-private for each period. Both learn which tokens reported and
which reports were refused. A server that keeps to the protocol learns no more, a pair that colludes
learns everything. The second opens one sum for a topic and period, ever, and none of fewer reports
than the minimum, so the first cannot ask for one person's.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank._description import Description
from sottovoce.errors import ParameterError, ProtocolError
from sottovoce.learn._sums._fixed import expanded, uniform
from sottovoce.privacy._mechanism import GeometricMechanism

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


SQUARE = 2
"""How many numbers follow the buckets in a share: those of a and of a^2."""
_SPARE_BITS = np.uint64(3)


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
    return reduced(found >> _SPARE_BITS)


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


Message = dict[str, Any]


@dataclass(frozen=True)
class Pool:
    """The shares that one server holds of one topic and period, a row for each token."""

    description: Description
    topic: str
    period: int
    tokens: tuple[str, ...]
    shares: Residues

    @property
    def buckets(self) -> int:
        """How many buckets the topic has."""
        return self.description.topic(self.topic).buckets.number

    def of(self, tokens: Sequence[str]) -> "Pool":
        """The pool of just these tokens, in this order."""
        place = {token: row for row, token in enumerate(self.tokens)}
        if any(token not in place for token in tokens) or len(set(tokens)) < len(tokens):
            raise ProtocolError("the other server names reports that are not here, or twice.")
        rows = [place[token] for token in tokens]
        return Pool(self.description, self.topic, self.period, tuple(tokens), self.shares[rows])

    def common(self, tokens: Sequence[str]) -> list[str]:
        """Which of ``tokens`` are here, in their order."""
        own = set(self.tokens)
        return [token for token in tokens if token in own]

    def sketch(self, key: bytes, *, first: bool) -> Sketch:
        """This server's side of the check of all reports in the pool."""
        where = f"{self.description.version}\n{self.topic}\n{self.period}"
        r = coefficients(key, where, self.tokens, self.buckets)
        return Sketch(self.shares, r, first=first)

    def noised_sum(self) -> str:
        """The sum of the shares of the buckets, with noise of this server's own: drawn anew."""
        rate = self.description.noise(self.topic).guarantee.rate
        noise = residues(GeometricMechanism(rate).noise(self.buckets))
        summed = total(self.shares[:, : self.buckets], axis=0)
        return packed(plus(summed, noise))


def ask(pool: Pool, key: bytes) -> Message:
    """Step 1, by the first server."""
    opened = pool.sketch(key, first=True).opened
    return _about(pool) | {
        "tokens": list(pool.tokens),
        "masked": packed(opened.masked),
    }


def answer(pool: Pool, key: bytes, asked: Mapping[str, Any]) -> Message:
    """Step 2, by the second server, about the reports that both hold."""
    tokens = pool.common(asked["tokens"])
    theirs = dict(zip(asked["tokens"], unpacked(asked["masked"]).tolist(), strict=True))
    sketch = pool.of(tokens).sketch(key, first=False)
    verdicts = sketch.verdicts(residues([theirs[token] for token in tokens]))
    return {
        "tokens": tokens,
        "masked": packed(sketch.opened.masked),
        "sums": packed(sketch.opened.sums),
        "verdicts": packed(verdicts),
    }


def demand(pool: Pool, key: bytes, answered: Mapping[str, Any]) -> Message:
    """Step 3, by the first server: the sum over all good reports, or over none if they are few."""
    common = pool.of(answered["tokens"])
    sketch = common.sketch(key, first=True)
    verdicts = sketch.verdicts(unpacked(answered["masked"]))
    good = accepted(
        (sketch.opened.sums, unpacked(answered["sums"])),
        (verdicts, unpacked(answered["verdicts"])),
    )
    if np.count_nonzero(good) < pool.description.minimum:
        good[:] = False
    chosen = np.flatnonzero(good)
    return _about(pool) | {
        "tokens": [common.tokens[row] for row in chosen],
        "masked": packed(sketch.opened.masked[chosen]),
        "sums": packed(sketch.opened.sums[chosen]),
        "verdicts": packed(verdicts[chosen]),
    }


def yielded(pool: Pool, key: bytes, demanded: Mapping[str, Any]) -> str:
    """The second server's noised sum over the demanded reports, which it checks for itself."""
    tokens = demanded["tokens"]
    if len(tokens) < pool.description.minimum:
        raise ProtocolError(
            f"a sum of fewer than {pool.description.minimum} reports is not opened."
        )
    own = pool.of(tokens)
    sketch = own.sketch(key, first=False)
    verdicts = sketch.verdicts(unpacked(demanded["masked"]))
    good = accepted(
        (unpacked(demanded["sums"]), sketch.opened.sums),
        (unpacked(demanded["verdicts"]), verdicts),
    )
    if not good.all():
        raise ProtocolError("the other server asks for reports that are not one bucket each.")
    return own.noised_sum()


def joined(first: str, second: str) -> list[int]:
    """Step 4: the noised counts."""
    return centred(plus(unpacked(first), unpacked(second)))


def fingerprint(demanded: Mapping[str, Any]) -> str:
    """What tells one demanded set of reports from another."""
    return hashlib.sha256("\n".join(sorted(demanded["tokens"])).encode()).hexdigest()


def _about(pool: Pool) -> Message:
    return {"topic": pool.topic, "period": pool.period, "description": pool.description.version}
