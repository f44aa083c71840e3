"""A bucket in two shares with a proof: the report of the mode of shares, by Prio3Histogram.

A report is one of the standard (`sottovoce.privacy.vdaf`): a nonce, a public share for both servers
and an input share for each. The first server is the standard's leader, the second its helper. A
client sends each server its part itself, so no server has a nonce or a public share of another
client's report by the word of the other server; `Prio3Histogram` asks for that.

The context of all hashes names the rules, the topic, the period and the sizes of the proof: a
report that was made for another server pair, topic or period is not valid here, whoever sends it.
The nonce is the report's id, drawn at random.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache

from sottovoce.advisor.rank.description import PROTOCOLS, Description
from sottovoce.privacy.vdaf import Prio3Histogram

SERVERS = ("first", "second")
PUBLIC_BYTES = 64
"""Of a public share: 32 for each server."""
SECOND_BYTES = 64
"""Of the second server's input share: a seed and a blind."""
_KNOWN = 256


def chunk_length(buckets: int) -> int:
    """How many buckets one sum of products of the proof takes: about the root makes it shortest.

    >>> chunk_length(20)
    4
    """
    return math.isqrt(buckets)


def prio3(rules: Description, topic: str, period: int) -> Prio3Histogram:
    """The standard's histogram of one topic and period under ``rules``."""
    return _prio3(rules.version, topic, period, rules.topic(topic).buckets.number)


@lru_cache(maxsize=_KNOWN)
def _prio3(version: str, topic: str, period: int, buckets: int) -> Prio3Histogram:
    chunk = chunk_length(buckets)
    facts = (f"sottovoce rank {PROTOCOLS['shares']}", version, topic, period, buckets, chunk)
    context = "\n".join(map(str, facts)).encode()
    return Prio3Histogram(buckets, chunk, context=context)


def input_share_bytes(rules: Description, topic: str, server: int) -> int:
    """The length of the input share of the first server (0) or the second (1)."""
    if server:
        return SECOND_BYTES
    return prio3(rules, topic, 0).report_size - PUBLIC_BYTES - SECOND_BYTES


@dataclass(frozen=True)
class SharedReport:
    """What a client sends: to each server the public share and that server's input share."""

    token: str
    """The nonce, in hexadecimal digits."""
    public_share: bytes = field(repr=False)
    input_shares: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def of(
        cls, rules: Description, topic: str, period: int, token: str, bucket: int
    ) -> "SharedReport":
        """A report of ``bucket``: every call draws again, so what it gives must be kept."""
        made = prio3(rules, topic, period).shard(bucket, nonce=bytes.fromhex(token))
        return cls(token, made.public_share, made.input_shares)

    def to(self, server: int) -> dict[str, str]:
        """The fields of the request to one server."""
        own = self.input_shares[server]
        return {"id": self.token, "public_share": self.public_share.hex(), "input_share": own.hex()}

    def payload(self, server: int) -> bytes:
        """What that server keeps of it, besides the id."""
        return self.public_share + self.input_shares[server]

    def text(self) -> str:
        """All of it, to be kept where it was drawn."""
        parts = (self.public_share, *self.input_shares)
        return "\n".join([self.token, *(part.hex() for part in parts)])

    @classmethod
    def from_text(cls, text: str) -> "SharedReport":
        """What `text` wrote."""
        token, public_share, *shares = text.split("\n")
        return cls(token, bytes.fromhex(public_share), tuple(map(bytes.fromhex, shares)))
