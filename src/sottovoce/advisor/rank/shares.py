"""How two servers verify reports and open their noised sum: the messages, without I/O.

Verifying, some reports at a time, as soon as they are there:

1. The first server names reports that it holds, with its verifier share of each.
2. The second computes its own verifier shares of those that it holds as well, decides by both,
   notes what it decided, and answers with its own.
3. The first decides by both, and notes it.

A server's verifier share is a function of what the client sent it, of the servers' key, and of
nothing that the other server sends; so a step that is asked for again has the same answer. A
report counts only if the proof holds and the joint randomness is that of its shares, by either
server's own reckoning.

Opening, once for a topic and period, when the period is over:

4. The first server takes no more reports, and names all that it accepted.
5. The second takes no more either. It notes for ever which sum was demanded, draws its noise, and
   answers with its noised sum over the reports that it accepted too, and with the ids of the
   others: they are dropped.
6. The first adds its own sum, over the same reports, with its own noise.

Fewer reports than the minimum are not summed by either server. A report belongs to one topic and
one period, and of these one sum is opened ever: no two openings overlap, so no difference of two
of them tells of anybody.

Who learns what. With S the sum over the reports that both accept: the first server learns S plus
the second's noise, the second (from what is published) S plus the first's, everybody else S plus
both. Each noise alone is two-sided geometric at the rate epsilon/2, and moving one person changes
S by 2 in L1, so against either server, and everybody else, the sum is epsilon-private for each
period. Of one report each server learns its own shares, which are uniform, the other's verifier
share, which could be drawn without the report (`sottovoce.privacy.vdaf`), and whether it is valid.

A server that departs from the protocol learns no more of a person than that. Whatever it sends in
steps 1 to 3, the other's verifier shares are what they are; it can make a report be refused. It
may claim to hold only some of the reports, or add reports of its own; but an honest server opens
one sum for a topic and period, of no fewer reports than the minimum. So it can have one sum over
few people and many reports that it knows: still under the honest server's noise, which is what
epsilon is about. It can keep any report out of the histogram and falsify the whole of it: Prio3
holds clients to one valid bucket, not servers. Servers that collude learn everything.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sottovoce.advisor.rank.description import PROTOCOL, Description
from sottovoce.errors import ProtocolError
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.vdaf.prio3 import Prio3Histogram, VerifyState

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
    facts = (f"sottovoce rank {PROTOCOL}", version, topic, period, buckets, chunk)
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
    def of_bucket(
        cls, rules: Description, topic: str, period: int, token: str, bucket: int
    ) -> "SharedReport":
        """A report of ``bucket``: every call draws again, so what it gives must be kept."""
        made = prio3(rules, topic, period).shard(bucket, nonce=bytes.fromhex(token))
        return cls(token, made.public_share, made.input_shares)

    def request_fields(self, server: int) -> dict[str, str]:
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


Message = dict[str, Any]
Outputs = Mapping[str, bytes]
"""Of reports, by id: the output share of an accepted one, nothing of a refused one."""
REFUSED = b""


@dataclass(frozen=True)
class BegunReport:
    """One server's verification of one report between its two steps."""

    share: bytes = field(repr=False)
    """The verifier share; empty where what the client sent is no share at all."""
    state: VerifyState | None = field(repr=False)


@dataclass(frozen=True)
class ServerSide:
    """One server (0 is the first) of one topic and period, under the servers' verify key."""

    rules: Description
    topic: str
    period: int
    key: bytes = field(repr=False)
    server: int

    @property
    def prio3(self) -> Prio3Histogram:
        """The standard's algorithm."""
        return prio3(self.rules, self.topic, self.period)

    def about(self) -> Message:
        """What every message begins with."""
        return {"topic": self.topic, "period": self.period, "description": self.rules.version}

    def begin(self, reports: Mapping[str, bytes]) -> dict[str, BegunReport]:
        """The first step of verifying reports, from what is kept of each."""
        return {token: self._begin_report(token, payload) for token, payload in reports.items()}

    def _begin_report(self, token: str, payload: bytes) -> BegunReport:
        public_share, own = payload[:PUBLIC_BYTES], payload[PUBLIC_BYTES:]
        try:
            state, share = self.prio3.verify_init(
                self.key, self.server, bytes.fromhex(token), public_share, own
            )
        except ProtocolError:
            return BegunReport(b"", None)
        return BegunReport(share, state)

    def output(self, report: BegunReport, other: bytes) -> bytes:
        """The output share that may be counted, or `REFUSED`."""
        if report.state is None:
            return REFUSED
        shares = (report.share, other) if self.server == 0 else (other, report.share)
        try:
            message = self.prio3.verifier_message(shares)
            return self.prio3.verify_next(report.state, message)
        except ProtocolError:
            return REFUSED

    def noised_sum(self, outputs: Sequence[bytes]) -> bytes:
        """The sum of output shares, with noise of this server's own: drawn again."""
        noise = self.rules.noise(self.topic)
        drawn = GeometricMechanism(noise.guarantee.rate).noise(noise.buckets)
        return self.prio3.add_noise(self.prio3.aggregate(outputs), [int(each) for each in drawn])


def ask_shares(side: ServerSide, begun: Mapping[str, BegunReport]) -> Message:
    """Step 1, by the first server."""
    shares = [each.share.hex() for each in begun.values()]
    return side.about() | {"tokens": list(begun), "shares": shares}


def answer_shares(
    side: ServerSide, begun: Mapping[str, BegunReport], asked: Mapping[str, Any]
) -> tuple[Message, dict[str, bytes]]:
    """Step 2, by the second server: what it sends, and what it decided."""
    theirs = _pair_shares(asked["tokens"], asked["shares"])
    outputs = {
        token: side.output(begun[token], bytes.fromhex(share))
        for token, share in theirs.items()
        if token in begun
    }
    own = [begun[token].share.hex() if token in begun else None for token in theirs]
    return {"shares": own}, outputs


def decide_reports(
    side: ServerSide, begun: Mapping[str, BegunReport], answered: Mapping[str, Any]
) -> dict[str, bytes]:
    """Step 3, by the first server; nothing of reports that the second does not hold."""
    theirs = _pair_shares(list(begun), answered["shares"])
    return {
        token: side.output(begun[token], bytes.fromhex(share))
        for token, share in theirs.items()
        if share is not None
    }


def demand_sum(side: ServerSide, outputs: Outputs) -> Message:
    """Step 4, by the first server."""
    return side.about() | {"tokens": list_accepted(outputs)}


def yield_sum(side: ServerSide, outputs: Outputs, demanded: Mapping[str, Any]) -> Message:
    """Step 5, by the second server: its noised sum, empty where the reports are too few."""
    tokens, own = demanded["tokens"], set(list_accepted(outputs))
    if len(set(tokens)) < len(tokens):
        raise ProtocolError("the other server names a report twice.")
    both = [token for token in tokens if token in own]
    dropped = [token for token in tokens if token not in own]
    summed = side.noised_sum([outputs[token] for token in both]) if is_enough(side, both) else b""
    return {"sum": summed.hex(), "dropped": dropped}


def join_sums(
    side: ServerSide, outputs: Outputs, answered: Mapping[str, Any]
) -> tuple[int, list[int]]:
    """Step 6, by the first server: over how many reports, and the noised counts, if enough."""
    own, dropped = list_accepted(outputs), set(answered["dropped"])
    if not dropped <= set(own):
        raise ProtocolError("the second server drops reports that it was not asked about.")
    both = [token for token in own if token not in dropped]
    if bool(answered["sum"]) != is_enough(side, both):
        raise ProtocolError("the second server disagrees whether there are enough reports.")
    if not is_enough(side, both):
        return 0, []
    sums = (side.noised_sum([outputs[token] for token in both]), bytes.fromhex(answered["sum"]))
    return len(both), side.prio3.unshard(sums)


def list_accepted(outputs: Outputs) -> list[str]:
    """The ids of the reports that may be counted, in order."""
    return sorted(token for token, output in outputs.items() if output)


def is_enough(side: ServerSide, tokens: Sequence[str]) -> bool:
    """Whether so many reports may be summed."""
    return len(tokens) >= side.rules.minimum


def digest(message: Mapping[str, Any]) -> str:
    """What tells one message from another."""
    return hashlib.sha256(json.dumps(message, sort_keys=True).encode()).hexdigest()


def _pair_shares(tokens: Sequence[str], shares: Sequence[Any]) -> dict[str, Any]:
    """The share of each report, as many as there are reports."""
    paired = dict(zip(tokens, shares, strict=False))
    if len(tokens) != len(shares) or len(paired) < len(tokens):
        raise ProtocolError(f"there must be {len(tokens)} reports and shares, each of another id.")
    return paired
