"""How two servers open a noised sum of shares, and nothing else: their messages, without I/O.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.prime_field import (
    Residues,
    centred,
    packed,
    plus,
    residues,
    total,
    unpacked,
)
from sottovoce.advisor.rank.shares import Sketch, accepted, coefficients
from sottovoce.errors import ProtocolError
from sottovoce.release.mechanism import GeometricMechanism

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
