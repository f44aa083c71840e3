"""How two servers open the noised sum of the reports that both hold: their messages, without I/O.

1. The first server names the reports that it holds, and a commitment to its parts of the check: a
   hash of them under a nonce.
2. The second notes the question for ever, and answers for the reports that it holds as well, with
   its own parts. It has not seen the first's.
3. The first knows now which reports are one bucket each. It draws its noise, and sends the nonce,
   its parts, and a fingerprint of the reports that it accepts.
4. The second compares the question with the one that it noted, the parts with the commitment, and
   the fingerprint with that of the reports that it accepts itself. If all agree it draws its noise,
   and sends its noised sum; what it was asked and what it sent are noted for ever.
5. The first adds both: the sum over exactly the reports that both hold and accept, with both
   servers' noise.

No message holds a verdict: each server compares for itself. As each fixes its parts before it sees
the other's, neither can alter its share of an honest report such that it is accepted, but with
chance 1/p: with its parts off by d and k, that takes 2 d u + d^2 = k for a uniform u that it does
not know yet. (It is of no use to privacy, see ``_shares``; a server that wants to falsify the
histogram can do so in step 3 or 5 with any noise that it likes.)

Who learns what. With S the sum over the accepted reports: the first server learns S plus the
second's noise, the second (from what is published) S plus the first's, everybody else S plus both.
Each noise alone is two-sided geometric at the rate epsilon/2, and moving one person changes S by 2
in L1, so against either server, and everybody else, the sum is epsilon-private for each period.
Both learn which tokens reported, and which reports were refused.

A server that departs from the protocol learns no more of a person than that. It may claim to hold
only some of the reports, or add reports of its own; but an honest server notes one question for a
topic and period and opens one sum, of no fewer reports than the minimum. So it can have one sum
over few people and many reports that it knows: still under the honest server's noise, which is
what epsilon is about. It can keep any report out of the histogram and falsify the whole of it.
Servers that collude learn everything.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.advisor.rank._description import Description
from sottovoce.advisor.rank._shares import (
    CheckParts,
    Residues,
    accepted,
    centred,
    coefficients,
    packed,
    plus,
    residues,
    total,
    unpacked,
)
from sottovoce.errors import ProtocolError
from sottovoce.privacy._mechanism import GeometricMechanism

Message = dict[str, Any]
QUESTION = ("topic", "period", "description", "tokens", "commitment")
"""What step 1 sends, and step 3 must repeat."""
PARTS = ("masked", "squared", "sums")
NONCE_BYTES = 32


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

    def rows(self, tokens: Sequence[str]) -> list[int]:
        """The rows of ``tokens``, which must be here, and no two alike."""
        place = {token: row for row, token in enumerate(self.tokens)}
        if any(token not in place for token in tokens) or len(set(tokens)) < len(tokens):
            raise ProtocolError("the other server names reports that are not here, or twice.")
        return [place[token] for token in tokens]

    def of(self, tokens: Sequence[str]) -> "Pool":
        """The pool of just these tokens, in this order."""
        shares = self.shares[self.rows(tokens)]
        return Pool(self.description, self.topic, self.period, tuple(tokens), shares)

    def common(self, tokens: Sequence[str]) -> list[str]:
        """Which of ``tokens`` are here, in their order."""
        own = set(self.tokens)
        return [token for token in tokens if token in own]

    def parts(self, key: bytes) -> CheckParts:
        """This server's parts of the check of all reports in the pool."""
        where = f"{self.description.version}\n{self.topic}\n{self.period}"
        return CheckParts.of(self.shares, coefficients(key, where, self.tokens, self.buckets))

    def chosen(self, tokens: Sequence[str], first: CheckParts, second: CheckParts) -> list[str]:
        """Those of ``tokens`` that are one bucket each; none where they are too few."""
        right = accepted(first, second)
        good = [token for token, one_bucket in zip(tokens, right, strict=True) if one_bucket]
        return good if len(good) >= self.description.minimum else []

    def noised_sum(self) -> str:
        """The sum of the shares of the buckets, with noise of this server's own: drawn anew."""
        rate = self.description.noise(self.topic).guarantee.rate
        noise = residues(GeometricMechanism(rate).noise(self.buckets))
        summed = total(self.shares[:, : self.buckets], axis=0)
        return packed(plus(summed, noise))


def ask(pool: Pool, key: bytes, nonce: str) -> Message:
    """Step 1, by the first server."""
    return _question(pool, nonce, _sent(pool.parts(key)))


def answer(pool: Pool, key: bytes, asked: Mapping[str, Any]) -> Message:
    """Step 2, by the second server, about the reports that both hold."""
    tokens = pool.common(asked["tokens"])
    return {"tokens": tokens} | _sent(pool.of(tokens).parts(key))


def demand(
    pool: Pool, key: bytes, nonce: str, answered: Mapping[str, Any]
) -> tuple[Message, list[str]]:
    """Step 3, by the first server: what it sends, and the reports that it accepts."""
    tokens, own = answered["tokens"], pool.parts(key)
    common = own.rows(pool.rows(tokens))
    chosen = pool.chosen(tokens, common, _received(answered, len(tokens)))
    told = {"nonce": nonce, "accepted": fingerprint(chosen)}
    return _question(pool, nonce, _sent(own)) | _sent(own) | told, chosen


def yielded(pool: Pool, key: bytes, demanded: Mapping[str, Any]) -> str:
    """Step 4, by the second server: its noised sum, empty where the reports are too few."""
    about = {name: demanded[name] for name in QUESTION[:-1]}
    parts = {name: demanded[name] for name in PARTS}
    if _commitment(demanded["nonce"], about, parts) != demanded["commitment"]:
        raise ProtocolError("the other server had committed itself to other parts of the check.")
    tokens = pool.common(demanded["tokens"])
    place = {token: row for row, token in enumerate(demanded["tokens"])}
    theirs = _received(demanded, len(demanded["tokens"])).rows([place[each] for each in tokens])
    chosen = pool.chosen(tokens, theirs, pool.of(tokens).parts(key))
    if fingerprint(chosen) != demanded["accepted"]:
        raise ProtocolError(
            "the two servers disagree about which reports are one bucket each; nothing is opened."
        )
    return pool.of(chosen).noised_sum() if chosen else ""


def joined(first: str, second: str) -> list[int]:
    """Step 5: the noised counts."""
    return centred(plus(unpacked(first), unpacked(second)))


def fingerprint(tokens: Sequence[str]) -> str:
    """What tells one set of reports from another."""
    return hashlib.sha256("\n".join(sorted(tokens)).encode()).hexdigest()


def question_tag(key: bytes, message: Mapping[str, Any]) -> str:
    """What tells one question under one key from any other; of a demand, that of its question."""
    text = _canonical({name: message[name] for name in QUESTION})
    return hmac.new(key, text, hashlib.sha256).hexdigest()


def digest(message: Mapping[str, Any]) -> str:
    """What tells one message from another."""
    return hashlib.sha256(_canonical(message)).hexdigest()


def _question(pool: Pool, nonce: str, parts: Mapping[str, str]) -> Message:
    about = {
        "topic": pool.topic,
        "period": pool.period,
        "description": pool.description.version,
        "tokens": list(pool.tokens),
    }
    return about | {"commitment": _commitment(nonce, about, parts)}


def _commitment(nonce: str, question: Mapping[str, Any], parts: Mapping[str, str]) -> str:
    return digest({"nonce": nonce, **question, **parts})


def _canonical(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, sort_keys=True).encode()


def _sent(parts: CheckParts) -> dict[str, str]:
    return {name: packed(getattr(parts, name)) for name in PARTS}


def _received(message: Mapping[str, Any], number: int) -> CheckParts:
    parts = CheckParts(**{name: unpacked(message[name]) for name in PARTS})
    if any(getattr(parts, name).size != number for name in PARTS):
        raise ProtocolError(f"the parts of the check must be {number} numbers each.")
    return parts
