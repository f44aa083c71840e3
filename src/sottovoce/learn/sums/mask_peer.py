"""A peer of a masked sum.

**Among whom.** Sums of the same data are over the same peers every time, or the difference tells. A
sum goes on without peers that fall silent, and whether one has is what the coordinator says. Two
sums of the same data, one of them without a peer, show that peer's own by their difference, however
alike the terms of the two runs are. So a peer notes among whom each of its sums was opened, before
it helps to open it. Once there is an earlier one it helps with none that lacks a peer of its run;
whether a run may be among other peers than an earlier one is for its policy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from sottovoce.errors import (
    CorruptShareError,
    DamagedMessageError,
    DisagreementError,
    ParameterError,
    TooFewPartiesError,
)
from sottovoce.learn.sums import masked_sum as masking
from sottovoce.learn.sums.fixed import KEY_BYTES, Ring
from sottovoce.learn.sums.keys import (
    AgreementKey,
    Identity,
    check_signature,
    seal,
    shares,
    unseal,
)
from sottovoce.learn.sums.masked_sum import (
    MaskedSum,
    add_vectors,
    challenge_of,
    commitment,
    names_signed,
    pair_mask,
    self_mask,
)
from sottovoce.learn.wire.codec import Value, decode_value, encode_value
from sottovoce.learn.wire.message import Inbox, Message
from sottovoce.privacy.randomness import random_bytes

_KINDS = {
    masking.DIRECTORY: "directory",
    masking.SEALED: "sealed shares",
    masking.SURVIVORS: "survivors",
    masking.AGREEMENT: "agreement",
    masking.CHALLENGE: "challenge",
    masking.SUM: "sum",
}


TRAINED = b"trained"


class AmongMemory(Protocol):
    """Where a peer keeps among whom its sums were opened, from run to run."""

    def peers_among(self, session: bytes, what: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom other runs than this one have opened sums of ``what``."""

    def note_among(self, session: bytes, what: bytes, peers: tuple[str, ...]) -> None:
        """Keep among whom this run opens a sum; once, however often it is begun again."""


def _forget(peers: tuple[str, ...]) -> None:
    """Where nothing is kept from run to run."""
    del peers


@dataclass(frozen=True, repr=False)
class Among:
    """What one peer makes of who is left, in one run.

    Attributes:
        whole: whether nobody may be lost, since the same was opened before.
        note: keeps among whom a sum is opened.
    """

    whole: bool = False
    note: Callable[[tuple[str, ...]], None] = _forget

    @classmethod
    def from_memory(cls, memory: AmongMemory | None, session: bytes, what: bytes) -> "Among":
        """By what a peer remembers of other runs."""
        if memory is None:
            return cls()
        return cls(
            bool(memory.peers_among(session, what)), partial(memory.note_among, session, what)
        )

    def settle(self, left: tuple[str, ...], everybody: tuple[str, ...]) -> None:
        """Note who is left, before the sum is opened, or refuse it."""
        if self.whole and set(left) != set(everybody):
            raise lost_after_opening(sorted(set(everybody) - set(left)))
        self.note(tuple(sorted(left)))


def lost_after_opening(lost: list[str]) -> TooFewPartiesError:
    """Why no sum is opened without some peers."""
    return TooFewPartiesError(
        f"a sum must be over all peers of its run where sums were opened before, got one without "
        f"{', '.join(lost)}: the difference would be theirs; run it again when they are back."
    )


class MaskPeer:
    """Adds its masked summand, and helps to open the masks of the sum, never of a summand.

    ``among`` is what it makes of who is left. A ``summand`` that is a function is asked for when it
    is to be given, and not before.
    """

    def __init__(
        self,
        name: str,
        terms: MaskedSum,
        identity: Identity,
        summand: Ring | Callable[[], Ring],
        *,
        among: Among | None = None,
    ) -> None:
        if terms.identities.get(name) != identity.public:
            raise ParameterError(f"{name} must be enrolled with its own identity.")
        if not callable(summand):
            _check_size(summand, terms.size)
        self.name = name
        self.total: Ring | None = None
        self._terms, self._identity, self._summand = terms, identity, summand
        self._among = among or Among()
        self._inbox = Inbox(terms.session, name)
        self._sealing, self._masking = AgreementKey(), AgreementKey()
        self._seed = random_bytes(KEY_BYTES)
        self._sealing_keys: dict[str, bytes] = {}
        self._masking_keys: dict[str, bytes] = {}
        self._held: dict[str, tuple[int, int]] = {}
        self._survivors: tuple[str, ...] = ()
        self._commitments: dict[str, Value] = {}

    @property
    def has_finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    @property
    def survivors(self) -> tuple[str, ...]:
        """Over whom the sum runs, as they agreed."""
        return self._survivors

    def start(self) -> list[Message]:
        """Advertise this session's keys, signed."""
        keys = (self._sealing.public, self._masking.public)
        signature = self._identity.sign("keys", self._terms.signed_session, self.name, *keys)
        self._await(masking.DIRECTORY)
        payload = {"sealing": keys[0], "masking": keys[1], "signature": signature}
        return [self._message(masking.KEYS, "keys", payload)]

    def receive(self, message: Message) -> list[Message]:
        """Take the server's next word and answer it."""
        self._inbox.take(message)
        answers: dict[str, Callable[[Message], list[Message]]] = {
            "directory": self._share,
            "sealed shares": self._mask,
            "survivors": self._agree,
            "agreement": self._open,
            "challenge": self._project,
            "sum": self._note,
        }
        return answers[message.kind](message)

    def time_out(self) -> list[Message]:
        """Only the server goes on without others."""
        return []

    def _share(self, message: Message) -> list[Message]:
        for name, entry in _record(message, "keys").items():
            sealing, masked, signature = _three_bytes(entry)
            public = self._check_known(name)
            signed = (self._terms.signed_session, name, sealing, masked)
            check_signature(public, signature, "keys", *signed)
            self._sealing_keys[name], self._masking_keys[name] = sealing, masked
        self._check_enough(tuple(self._sealing_keys))
        self._await(masking.SEALED)
        payload: dict[str, Value] = {
            "sealed": self._sealed_shares(),
            "commitment": self._commitment(),
        }
        return [self._message(masking.SHARES, "shares", payload)]

    def _sealed_shares(self) -> dict[str, Value]:
        terms, everyone = self._terms, sorted(self._sealing_keys)
        places = [terms.place(name) for name in everyone]
        of_key = shares(self._masking.secret, threshold=terms.threshold, places=places)
        of_seed = shares(self._seed, threshold=terms.threshold, places=places)
        pairs = {name: (of_key[terms.place(name)], of_seed[terms.place(name)]) for name in everyone}
        self._held[self.name] = pairs.pop(self.name)
        return {
            name: seal(self._sealing_key(self.name, name), encode_value(pair))
            for name, pair in pairs.items()
        }

    def _mask(self, message: Message) -> list[Message]:
        for name, content in _record(message, "sealed").items():
            if name not in self._sealing_keys or not isinstance(content, bytes):
                raise DamagedMessageError("sealed shares must come from advertised peers.")
            pair = decode_value(unseal(self._sealing_key(name, self.name), content))
            self._held[name] = _two_integers(pair)
        self._check_enough(tuple(self._held))
        self._await(masking.SURVIVORS)
        return [self._message(masking.MASKED, "masked", {"vector": self._mask_summand()})]

    def _mask_summand(self) -> Ring:
        others = sorted(set(self._held) - {self.name})
        own = self_mask(self._terms, self._seed, self.name)
        summand = self._summand() if callable(self._summand) else self._summand
        _check_size(summand, self._terms.size)
        return add_vectors((summand, own, *map(self._pair_mask, others)), self._terms.size)

    def _pair_mask(self, other: str) -> Ring:
        public = self._masking_keys[other]
        return pair_mask(self._terms, self._masking, self.name, other, public)

    def _agree(self, message: Message) -> list[Message]:
        names = tuple(sorted(map(str, message.item("names", tuple))))
        if len(set(names)) != len(names):
            raise DisagreementError("survivors must be named once each.")
        if not set(names) <= set(self._held):
            raise DisagreementError("survivors must have shared their keys before.")
        self._check_enough(names)
        self._commitments = _record(message, "commitments")
        if self._commitments.get(self.name) != self._commitment():
            raise DisagreementError(f"{self.name} must be named with its own commitment.")
        self._among.settle(names, self._terms.peers)
        self._survivors = names
        self._await(masking.AGREEMENT)
        signature = self._identity.sign("survivors", *self._agreed_text())
        return [self._message(masking.AGREED, "agreed", {"signature": signature})]

    def _open(self, message: Message) -> list[Message]:
        signatures = _record(message, "signatures")
        for name, signature in signatures.items():
            if not isinstance(signature, bytes) or name not in self._survivors:
                raise DisagreementError("only survivors sign the list of survivors.")
            check_signature(self._check_known(name), signature, "survivors", *self._agreed_text())
        if len(signatures) < self._terms.threshold:
            raise TooFewPartiesError(
                f"{self._terms.threshold} peers must agree on the survivors, got {len(signatures)}."
            )
        self._await(masking.SUM if self._terms.weights is None else masking.CHALLENGE)
        return [self._message(masking.OPENED, "opened", self._openings())]

    def _project(self, message: Message) -> list[Message]:
        """Tell of each mask that one shares its projections, under noise that one shares too."""
        said = _record(message, "seeds").items()
        seeds = {name: seed for name, seed in said if isinstance(seed, bytes)}
        made = {name: commitment(self._terms, name, seed) for name, seed in seeds.items()}
        weights = self._terms.weights
        if made != self._commitments or weights is None:
            raise DisagreementError("a challenge must be made of what all peers committed to.")
        others = [name for name in self._survivors if name != self.name]
        rows = weights.project(map(self._pair_mask, others), challenge_of(seeds))
        payload: dict[str, Value] = {}
        for other, row in zip(others, rows, strict=True):
            as_lower = row if self.name < other else np.negative(row)
            payload[other] = weights.blur(as_lower, self._noise_key(other))
        self._await(masking.SUM)
        return [self._message(masking.PROJECTED, "projected", payload)]

    def _noise_key(self, other: str) -> bytes:
        low, high = sorted((self.name, other))
        public = self._masking_keys[other]
        return self._masking.common_key(public, self._terms.session, "noise", low, high)

    def _openings(self) -> dict[str, Value]:
        # Of each peer either the seed or the mask key is opened, never both: the rule that keeps
        # a vector hidden that arrives after its masks were opened.
        seeds = {name: self._held[name][1] for name in self._survivors}
        gone = set(self._held) - set(self._survivors)
        return {"seeds": seeds, "keys": {name: self._held[name][0] for name in sorted(gone)}}

    def _note(self, message: Message) -> list[Message]:
        self.total = message.array("vector", "<u8")
        self._inbox.close()
        return []

    def _check_known(self, name: str) -> bytes:
        if name not in self._terms.identities:
            raise DisagreementError("a peer that nobody enrolled takes part.")
        return self._terms.identities[name]

    def _check_enough(self, names: tuple[str, ...]) -> None:
        if len(names) < self._terms.threshold or self.name not in names:
            raise TooFewPartiesError(
                f"at least {self._terms.threshold} peers must take part, {self.name} among them, "
                f"got {len(names)}."
            )

    def _agreed_text(self) -> tuple[bytes, bytes, bytes]:
        names = names_signed(self._survivors)
        return self._terms.signed_session, names, encode_value(self._commitments)

    def _commitment(self) -> bytes:
        return commitment(self._terms, self.name, self._seed)

    def _sealing_key(self, sender: str, receiver: str) -> bytes:
        other = receiver if sender == self.name else sender
        public = self._sealing_keys[other]
        return self._sealing.common_key(public, self._terms.session, "shares", sender, receiver)

    def _await(self, step: int) -> None:
        self._inbox.expect(step, _KINDS[step], [self._terms.server])

    def _message(self, step: int, kind: str, payload: Mapping[str, Value]) -> Message:
        return Message(self._terms.session, self.name, self._terms.server, step, kind, payload)


def _check_size(summand: Ring, size: int) -> None:
    if summand.shape != (size,):
        raise ParameterError(f"a summand must have {size} values, got {summand.size}.")


def _record(message: Message, name: str) -> dict[str, Value]:
    value = message.payload.get(name)
    if not isinstance(value, dict):
        raise DamagedMessageError(f"{message.kind}.{name} must be a record.")
    return value


def _three_bytes(value: Value) -> tuple[bytes, bytes, bytes]:
    if isinstance(value, tuple) and len(value) == 3:  # noqa: PLR2004 - two keys, one signature
        one, two, three = value
        if isinstance(one, bytes) and isinstance(two, bytes) and isinstance(three, bytes):
            return one, two, three
    raise DamagedMessageError("an advertised entry must be two keys and a signature.")


def _two_integers(value: Value) -> tuple[int, int]:
    if isinstance(value, tuple) and len(value) == 2:  # noqa: PLR2004 - a key's and a seed's share
        one, two = value
        if isinstance(one, int) and isinstance(two, int):
            return one, two
    raise CorruptShareError("a sealed share must be two whole numbers.")
