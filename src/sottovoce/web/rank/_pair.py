"""The two servers of the mode of shares: the first asks and publishes, the second answers.

They know each other by a key of 32 bytes that both were given. From it come two keys, one for
signing requests and one for the check of reports, which clients must not foresee.

Each notes in its store what it is about to say before it says it: the first its nonce, then its
demand and noised sum; the second the question, then its sum. So a server that is killed at any
moment goes on where it was, with the same bytes, and none says anything twice in two ways. With its
first note a server takes no more reports of that topic and period. A store belongs to one key: a
report that was checked under two would give its bucket away (``_shares``).
"""

import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sottovoce._files import cause_of, refuse_open_to_others
from sottovoce.advisor.rank._description import Description
from sottovoce.advisor.rank._histogram import Histogram
from sottovoce.advisor.rank._opening import (
    NONCE_BYTES,
    Message,
    Pool,
    answer,
    ask,
    demand,
    digest,
    joined,
    question_tag,
    yielded,
)
from sottovoce.advisor.rank._shares import reduced, width
from sottovoce.advisor.rank._transport import HttpTransport, RefusedError
from sottovoce.errors import InputError, ProtocolError
from sottovoce.privacy._randomness import random_bytes
from sottovoce.web.rank._service import Clock, RankService
from sottovoce.web.rank._store import Store

CHECK, OPEN = "/peer/check", "/peer/open"
_TIMEOUT_S = 120.0
MOST_PEER_BYTES = 1 << 28
"""Of a message about a million reports."""
HEADER = "X-Sottovoce-Peer"
_DIGITS = 64
SIGNATURE_DIGITS = 2 * _DIGITS
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PeerKey:
    """The servers' common secret; it never prints."""

    secret: bytes = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> "PeerKey":
        """The key in a file that only its owner may read: 64 hexadecimal digits."""
        try:
            refuse_open_to_others(path)
            text = path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the key {path}: {cause_of(error)}.") from None
        if not _KEY.fullmatch(text):
            raise InputError(f"the key {path} must be 64 hexadecimal digits: openssl rand -hex 32")
        return cls(bytes.fromhex(text))

    @property
    def checks(self) -> bytes:
        """The key behind the coefficients of the check."""
        return hmac.digest(self.secret, b"sottovoce rank check", hashlib.sha256)

    @property
    def tag(self) -> str:
        """What tells this key from another, and nothing of it."""
        return hmac.new(self.secret, b"sottovoce rank store", hashlib.sha256).hexdigest()

    def signature(self, path: str, body: bytes) -> str:
        """What shows that a request comes from the other server: the body's hash, then a MAC of it.

        So whoever is asked can tell before a large body has arrived.
        """
        return self._over(path, hashlib.sha256(body).hexdigest())

    def vouched(self, path: str, signature: str) -> bool:
        """Whether the other server has signed some body for ``path`` with this ``signature``."""
        right = self._over(path, signature[:_DIGITS])
        return hmac.compare_digest(right.encode(), signature.encode())

    def signed(self, path: str, body: bytes, signature: str) -> bool:
        """Whether ``signature`` is that of this request."""
        return hmac.compare_digest(self.signature(path, body).encode(), signature.encode())

    def _over(self, path: str, digest: str) -> str:
        signing = hmac.digest(self.secret, b"sottovoce rank peer", hashlib.sha256)
        return digest + hmac.new(signing, f"{path}\n{digest}".encode(), hashlib.sha256).hexdigest()


class Peer(Protocol):
    """Whatever carries a message to the second server and its answer back."""

    def call(self, path: str, message: Message) -> Message:
        """The answer."""


class HttpPeer:
    """The second server at a URL, every request signed."""

    def __init__(self, url: str, key: PeerKey) -> None:
        self._transport = HttpTransport(url, timeout_s=_TIMEOUT_S, most_bytes=MOST_PEER_BYTES)
        self._key = key

    def call(self, path: str, message: Message) -> Message:
        """Send ``message`` signed; the answer's JSON."""
        body = json.dumps(message).encode()
        headers = {HEADER: self._key.signature(path, body)}
        status, sent = self._transport.exchange("POST", path, body, headers)
        if status != HTTPStatus.OK:
            raise RefusedError(status, "the second server does not answer the first.")
        with _sound():
            parsed: Message = json.loads(sent)
        return parsed


class FirstServer(RankService):
    """Opens the sums together with its peer, and publishes them."""

    def __init__(
        self,
        description: Description,
        store: Store,
        key: PeerKey,
        peer: Peer,
        *,
        clock: Clock = time.time,
    ) -> None:
        store.bind(description.version, key.tag)
        super().__init__(description, store, clock=clock)
        self._key, self._peer = key.checks, peer
        self._turn = threading.Lock()

    def publish(self, topic: str, period: int) -> dict[str, Any] | None:
        """Open the sum with the second server and publish it; nothing is ever opened twice."""
        with self._only_one():
            earlier = self.writer.run(lambda store: store.published(topic, period)).result()
            if earlier:
                return _parsed(earlier)
            noted = self.writer.run(lambda store: store.noted(topic, period)).result()
            opening = _parsed(noted) if noted else self._begun(topic, period)
            return None if opening is None else self._finished(topic, period, opening)

    @contextmanager
    def _only_one(self) -> Iterator[None]:
        """Refuse to wait: the other server may be slow, and whoever asks can ask again."""
        if not self._turn.acquire(blocking=False):
            raise ProtocolError("a sum is being opened; ask again in a moment.")
        try:
            yield
        finally:
            self._turn.release()

    def _begun(self, topic: str, period: int) -> Message | None:
        """Agree on the reports, draw noise once, and note both before anything is demanded."""
        pool, nonce = self.writer.run(lambda store: self._committed(store, topic, period)).result()
        if not pool.tokens:
            return None
        answered = self._peer.call(CHECK, ask(pool, self._key, nonce))
        with _sound():
            demanded, chosen = demand(pool, self._key, nonce, answered)
        own = pool.of(chosen).noised_sum() if chosen else ""
        record = json.dumps({"demanded": demanded, "reports": len(chosen), "own": own})
        noted = self.writer.run(lambda store: store.note(topic, period, record, forget=False))
        return _parsed(noted.result())

    def _committed(self, store: Store, topic: str, period: int) -> tuple[Pool, str]:
        """The reports, to which none is added any more, and the nonce of the commitment."""
        pool = _pool(self, store, topic, period)
        if not pool.tokens:
            return pool, ""
        return pool, store.note_question(topic, period, random_bytes(NONCE_BYTES).hex())

    def _finished(self, topic: str, period: int, opening: Message) -> dict[str, Any]:
        number, answered = opening["reports"], self._peer.call(OPEN, opening["demanded"])
        with _sound():
            other = str(answered["sum"])
            if len(other) != len(opening["own"]):
                raise ProtocolError("the second server's sum has another length.")
            total = joined(opening["own"], other) if number else []
        made = (
            Histogram.of_opened(self.description, topic, period, number, total)
            if number
            else Histogram.withheld(self.description, topic, period)
        )
        record = json.dumps(made.record())
        return _parsed(self.writer.run(lambda store: store.publish(topic, period, record)).result())


class SecondServer(RankService):
    """Answers its peer; its own histograms are the first server's to publish."""

    def __init__(
        self, description: Description, store: Store, key: PeerKey, *, clock: Clock = time.time
    ) -> None:
        store.bind(description.version, key.tag)
        super().__init__(description, store, clock=clock)
        self.key = key

    def publish(self, topic: str, period: int) -> None:  # noqa: ARG002 - the first server's to do
        """Nothing: ask the first server."""
        return

    def checked(self, asked: Mapping[str, Any]) -> Message:
        """Step 2 of the opening: one question for a topic and period, and always one answer."""
        self._refuse_running(asked)
        pool = self.writer.run(lambda store: self._noted(store, asked)).result()
        return answer(pool, self.key.checks, asked)

    def opened(self, demanded: Mapping[str, Any]) -> Message:
        """Step 4: this server's noised sum, drawn once; then its shares are deleted."""

        def work(store: Store) -> Message:
            topic, period = demanded["topic"], demanded["period"]
            noted = store.noted(topic, period)
            if noted is None:
                record = {"demanded": digest(demanded), "sum": self._sum(store, demanded)}
                noted = store.note(topic, period, json.dumps(record), forget=True)
            found = _parsed(noted)
            if found["demanded"] != digest(demanded):
                raise ProtocolError("another sum of this topic and period was opened already.")
            return {"sum": found["sum"]}

        self._refuse_running(demanded)
        return self.writer.run(work).result()

    def _noted(self, store: Store, asked: Mapping[str, Any]) -> Pool:
        """The reports, once the question is noted; no other is answered, nor under another key."""
        topic, period = asked["topic"], asked["period"]
        if store.noted(topic, period) is not None:
            raise ProtocolError("the sum of this topic and period was opened already.")
        tag = question_tag(self.key.checks, asked)
        if store.note_question(topic, period, tag) != tag:
            raise ProtocolError(
                "this topic and period was asked about already, otherwise or under another key; "
                "only that question is answered, again."
            )
        return _pool(self, store, topic, period)

    def _sum(self, store: Store, demanded: Mapping[str, Any]) -> str:
        topic, period = demanded["topic"], demanded["period"]
        if store.noted_question(topic, period) != question_tag(self.key.checks, demanded):
            raise ProtocolError("the other server demands what it did not ask about.")
        return yielded(_pool(self, store, topic, period), self.key.checks, demanded)

    def _refuse_running(self, message: Mapping[str, Any]) -> None:
        if message["period"] >= self.period:
            raise ProtocolError("this period is not over.")


@contextmanager
def _sound() -> Iterator[None]:
    """What is wrong with an answer of the other server is its fault, not a defect here."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, RecursionError):
        raise ProtocolError("the second server's answer is not as it should be.") from None


def _pool(service: RankService, store: Store, topic: str, period: int) -> Pool:
    tokens, payloads = store.payloads(topic, period)
    numbers = width(service.description.topic(topic).buckets.number)
    shares = np.frombuffer(b"".join(payloads), dtype="<u8").reshape(-1, numbers).astype(np.uint64)
    # Whoever sent 64 bits that are no residue sent the residue they leave.
    return Pool(service.description, topic, period, tuple(tokens), reduced(shares))


def _parsed(record: str) -> Message:
    parsed: Message = json.loads(record)
    return parsed
