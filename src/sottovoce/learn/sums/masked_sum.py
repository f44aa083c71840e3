"""A sum under pairwise masks: its server, and a peer.

After Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning, CCS
2017, with the self-mask, signed keys and the consistency check of its active-server form. The
server carries, adds, and opens the masks of the sum only.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from itertools import chain
from typing import TypeAlias

import numpy as np

from sottovoce.errors import (
    CorruptShareError,
    DamagedMessageError,
    DisagreementError,
    ParameterError,
    TooFewPartiesError,
)
from sottovoce.learn.sums.fixed import KEY_BYTES, Among, Ring, check_projected
from sottovoce.learn.sums.keys import (
    AgreementKey,
    Identity,
    MaskedSum,
    add_vectors,
    challenge_of,
    check_signature,
    commitment,
    names_signed,
    open_shares,
    pair_mask,
    seal,
    self_mask,
    shares,
    unseal,
)
from sottovoce.learn.wire.codec import Value, decode_value, encode_value
from sottovoce.learn.wire.message import Inbox, Message
from sottovoce.privacy.randomness import random_bytes

Payload: TypeAlias = Mapping[str, Value]
KEYS, DIRECTORY, SHARES, SEALED, MASKED, SURVIVORS, AGREED, AGREEMENT, OPENED = range(1, 10)
CHALLENGE, PROJECTED, SUM = range(10, 13)


class MaskServer:
    """Goes on from step to step with those it has heard, as long as they are enough."""

    def __init__(self, terms: MaskedSum) -> None:
        self.name = terms.server
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms = terms
        self._inbox = Inbox(terms.session, terms.server)
        self._keys: dict[str, tuple[bytes, bytes, bytes]] = {}
        self._sharers: tuple[str, ...] = ()
        self._commitments: dict[str, bytes] = {}
        self._vectors: dict[str, Ring] = {}
        self._seeds: dict[str, bytes] = {}

    @property
    def has_finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    def start(self) -> list[Message]:
        """Wait for the peers' keys."""
        self._inbox.expect(KEYS, "keys", self._terms.peers)
        return []

    def receive(self, message: Message) -> list[Message]:
        """Take a peer's word; go on when everybody has been heard."""
        if message.kind == "masked" and message.array("vector", "<u8").size != self._terms.size:
            raise DamagedMessageError(f"a masked vector must have {self._terms.size} values.")
        if message.kind == "projected":
            check_projected(message, self.survivors)
        return self._next_step() if self._inbox.take(message) else []

    def time_out(self) -> list[Message]:
        """Go on with those who have been heard, if they are enough."""
        return self._next_step()

    def _next_step(self) -> list[Message]:
        heard = self._inbox.messages
        if len(heard) < self._terms.threshold:
            lost = ", ".join(sorted(set(self._terms.peers) - set(heard)))
            raise TooFewPartiesError(
                f"{len(heard)} of {len(self._terms.peers)} peers are left in step "
                f"{self._inbox.step}, at least {self._terms.threshold} must be, and {lost} did not "
                "answer; run the sum again."
            )
        steps: dict[int, Callable[[dict[str, Message]], list[Message]]] = {
            KEYS: self._list_keys,
            SHARES: self._carry_shares,
            MASKED: self._name_survivors,
            AGREED: self._carry_agreement,
            OPENED: self._unmask,
            PROJECTED: self._weigh,
        }
        return steps[self._inbox.step](heard)

    def _list_keys(self, heard: dict[str, Message]) -> list[Message]:
        for name, said in heard.items():
            keys = said.item("sealing", bytes), said.item("masking", bytes)
            self._keys[name] = (*keys, said.item("signature", bytes))
        self._inbox.expect(SHARES, "shares", heard)
        directory: dict[str, Value] = dict(self._keys)
        return self._to_all(heard, DIRECTORY, "directory", {"keys": directory})

    def _carry_shares(self, heard: dict[str, Message]) -> list[Message]:
        self._sharers = tuple(heard)
        self._commitments = {name: said.item("commitment", bytes) for name, said in heard.items()}
        self._inbox.expect(MASKED, "masked", heard)
        return [
            self._message(name, SEALED, "sealed shares", {"sealed": _addressed_to(name, heard)})
            for name in heard
        ]

    def _name_survivors(self, heard: dict[str, Message]) -> list[Message]:
        self._vectors = {name: said.array("vector", "<u8") for name, said in heard.items()}
        self.survivors = tuple(heard)
        self._inbox.expect(AGREED, "agreed", heard)
        commitments: Value = {name: self._commitments[name] for name in heard}
        payload: dict[str, Value] = {"names": self.survivors, "commitments": commitments}
        return self._to_all(heard, SURVIVORS, "survivors", payload)

    def _carry_agreement(self, heard: dict[str, Message]) -> list[Message]:
        signatures: Value = {name: said.item("signature", bytes) for name, said in heard.items()}
        self._inbox.expect(OPENED, "opened", heard)
        return self._to_all(heard, AGREEMENT, "agreement", {"signatures": signatures})

    def _unmask(self, heard: dict[str, Message]) -> list[Message]:
        for name in self.survivors:
            seed = self._seeds[name] = self._open_secret("seeds", name, heard)
            if commitment(self._terms, name, seed) != self._commitments[name]:
                raise CorruptShareError(f"the shares of {name}'s seed do not give that seed back.")
            self._vectors[name] = self._vectors[name] - self_mask(self._terms, seed, name)
        if self._terms.weights is None:
            return self._tell(heard)
        self._inbox.expect(PROJECTED, "projected", heard)
        return self._to_all(heard, CHALLENGE, "challenge", {"seeds": dict(self._seeds)})

    def _weigh(self, heard: dict[str, Message]) -> list[Message]:
        """Refuse a summand that weighs more than its peer's documents."""
        if self._terms.weights is not None:
            self._terms.weights.weigh(self._vectors, heard, challenge_of(self._seeds))
        return self._tell(heard)

    def _tell(self, heard: dict[str, Message]) -> list[Message]:
        vectors = chain(self._vectors.values(), self._orphaned_masks(heard))
        self.total = add_vectors(vectors, self._terms.size)
        self._inbox.close()
        # The peers hear all of a sum, or nothing but that it is there.
        vector = self.total if self._terms.told else self.total[:0]
        return self._to_all(heard, SUM, "sum", {"vector": vector})

    def _orphaned_masks(self, heard: dict[str, Message]) -> Iterable[Ring]:
        """What cancels what survivors added for those who shared keys and then fell silent."""
        for gone in sorted(set(self._sharers) - set(self.survivors)):
            secret = self._open_secret("keys", gone, heard)
            key = AgreementKey.matching(secret, self._keys[gone][1])
            for name in self.survivors:
                yield pair_mask(self._terms, key, gone, name, self._keys[name][1])

    def _open_secret(self, part: str, owner: str, heard: dict[str, Message]) -> bytes:
        held = {self._terms.place(name): _share(said, part, owner) for name, said in heard.items()}
        return open_shares(held, threshold=self._terms.threshold, size=KEY_BYTES)

    def _to_all(self, names: Iterable[str], step: int, kind: str, said: Payload) -> list[Message]:
        return [self._message(name, step, kind, said) for name in names]

    def _message(self, receiver: str, step: int, kind: str, payload: Payload) -> Message:
        return Message(self._terms.session, self.name, receiver, step, kind, payload)


def _addressed_to(receiver: str, heard: dict[str, Message]) -> dict[str, Value]:
    sealed: dict[str, Value] = {}
    for name, said in heard.items():
        if name != receiver:
            shares = said.payload.get("sealed")
            if not isinstance(shares, dict) or receiver not in shares:
                raise DamagedMessageError(f"{name} must seal a share for every advertised peer.")
            sealed[name] = shares[receiver]
    return sealed


def _share(said: Message, part: str, owner: str) -> int:
    held = said.payload.get(part)
    share = held.get(owner) if isinstance(held, dict) else None
    if not isinstance(share, int):
        raise CorruptShareError(f"{said.sender} must give its share of {owner}'s secret.")
    return share


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
        self.survivors: tuple[str, ...] = ()
        self._terms, self._identity, self._summand = terms, identity, summand
        self._among = among or Among()
        self._inbox = Inbox(terms.session, name)
        self._sealing, self._masking = AgreementKey(), AgreementKey()
        self._seed = random_bytes(KEY_BYTES)
        self._keys: dict[str, tuple[bytes, bytes]] = {}
        self._held: dict[str, tuple[int, int]] = {}
        self._script = self._play()

    @property
    def has_finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    def start(self) -> list[Message]:
        """Advertise this session's keys, signed."""
        return [next(self._script)]

    def receive(self, message: Message) -> list[Message]:
        """Take the server's next word and answer it."""
        self._inbox.take(message)
        if message.kind != "sum":
            return [self._script.send(message)]
        self.total = message.array("vector", "<u8")
        self._inbox.close()
        return []

    def time_out(self) -> list[Message]:
        """Only the server goes on without others."""
        return []

    def _play(self) -> Generator[Message, Message, None]:
        """What it says, one word after the other; each waits for the server's answer."""
        terms = self._terms
        keys = (self._sealing.public, self._masking.public)
        signature = self._identity.sign("keys", terms.signed_session, self.name, *keys)
        signed = {"sealing": keys[0], "masking": keys[1], "signature": signature}
        heard = yield self._say(KEYS, "keys", signed, DIRECTORY, "directory")
        self._read_keys(_record(heard, "keys"))
        self._check_enough(tuple(self._keys))
        own = commitment(terms, self.name, self._seed)
        said: dict[str, Value] = {"sealed": self._sealed_shares(), "commitment": own}
        heard = yield self._say(SHARES, "shares", said, SEALED, "sealed shares")
        self._read_shares(_record(heard, "sealed"))
        self._check_enough(tuple(self._held))
        said = {"vector": self._mask_summand()}
        heard = yield self._say(MASKED, "masked", said, SURVIVORS, "survivors")
        names, commitments = self._read_survivors(heard), _record(heard, "commitments")
        if commitments.get(self.name) != own:
            raise DisagreementError(f"{self.name} must be named with its own commitment.")
        self._among.settle(names, terms.peers)
        self.survivors = names
        agreed = (terms.signed_session, names_signed(names), encode_value(commitments))
        said = {"signature": self._identity.sign("survivors", *agreed)}
        heard = yield self._say(AGREED, "agreed", said, AGREEMENT, "agreement")
        self._check_agreement(_record(heard, "signatures"), agreed)
        if terms.weights is None:
            yield self._say(OPENED, "opened", self._openings(), SUM, "sum")
            return
        heard = yield self._say(OPENED, "opened", self._openings(), CHALLENGE, "challenge")
        projections = self._project(_record(heard, "seeds"), commitments)
        yield self._say(PROJECTED, "projected", projections, SUM, "sum")

    def _read_keys(self, entries: Payload) -> None:
        for name, entry in entries.items():
            match entry:
                case (bytes(sealing), bytes(masked), bytes(signature)):
                    signed = (self._terms.signed_session, name, sealing, masked)
                    check_signature(self._check_known(name), signature, "keys", *signed)
                    self._keys[name] = sealing, masked
                case _:
                    raise DamagedMessageError(
                        "an advertised entry must be two keys and a signature."
                    )

    def _sealed_shares(self) -> dict[str, Value]:
        terms, everyone = self._terms, sorted(self._keys)
        places = [terms.place(name) for name in everyone]
        of_key = shares(self._masking.secret, threshold=terms.threshold, places=places)
        of_seed = shares(self._seed, threshold=terms.threshold, places=places)
        pairs = {name: (of_key[terms.place(name)], of_seed[terms.place(name)]) for name in everyone}
        self._held[self.name] = pairs.pop(self.name)
        return {
            name: seal(self._sealing_key(self.name, name), encode_value(pair))
            for name, pair in pairs.items()
        }

    def _read_shares(self, sealed: Payload) -> None:
        for name, content in sealed.items():
            if name not in self._keys or not isinstance(content, bytes):
                raise DamagedMessageError("sealed shares must come from advertised peers.")
            match decode_value(unseal(self._sealing_key(name, self.name), content)):
                case (int(of_key), int(of_seed)):
                    self._held[name] = of_key, of_seed
                case _:
                    raise CorruptShareError("a sealed share must be two whole numbers.")

    def _mask_summand(self) -> Ring:
        others = sorted(set(self._held) - {self.name})
        own = self_mask(self._terms, self._seed, self.name)
        summand = self._summand() if callable(self._summand) else self._summand
        _check_size(summand, self._terms.size)
        return add_vectors((summand, own, *map(self._pair_mask, others)), self._terms.size)

    def _pair_mask(self, other: str) -> Ring:
        return pair_mask(self._terms, self._masking, self.name, other, self._keys[other][1])

    def _read_survivors(self, message: Message) -> tuple[str, ...]:
        names = tuple(sorted(map(str, message.item("names", tuple))))
        if len(set(names)) != len(names):
            raise DisagreementError("survivors must be named once each.")
        if not set(names) <= set(self._held):
            raise DisagreementError("survivors must have shared their keys before.")
        self._check_enough(names)
        return names

    def _check_agreement(self, signatures: Payload, agreed: tuple[bytes, ...]) -> None:
        for name, signature in signatures.items():
            if not isinstance(signature, bytes) or name not in self.survivors:
                raise DisagreementError("only survivors sign the list of survivors.")
            check_signature(self._check_known(name), signature, "survivors", *agreed)
        if len(signatures) < self._terms.threshold:
            raise TooFewPartiesError(
                f"{self._terms.threshold} peers must agree on the survivors, got {len(signatures)}."
            )

    def _openings(self) -> dict[str, Value]:
        # Of each peer either the seed or the mask key is opened, never both: the rule that keeps
        # a vector hidden that arrives after its masks were opened.
        seeds = {name: self._held[name][1] for name in self.survivors}
        gone = set(self._held) - set(self.survivors)
        return {"seeds": seeds, "keys": {name: self._held[name][0] for name in sorted(gone)}}

    def _project(self, said: Payload, commitments: Payload) -> dict[str, Value]:
        """Of each mask that one shares its projections, under noise that one shares too."""
        seeds = {name: seed for name, seed in said.items() if isinstance(seed, bytes)}
        made = {name: commitment(self._terms, name, seed) for name, seed in seeds.items()}
        weights = self._terms.weights
        if made != commitments or weights is None:
            raise DisagreementError("a challenge must be made of what all peers committed to.")
        others = [name for name in self.survivors if name != self.name]
        rows = weights.project(map(self._pair_mask, others), challenge_of(seeds))
        told: dict[str, Value] = {}
        for other, row in zip(others, rows, strict=True):
            low, high = sorted((self.name, other))
            public = self._keys[other][1]
            key = self._masking.common_key(public, self._terms.session, "noise", low, high)
            told[other] = weights.blur(row if self.name == low else np.negative(row), key)
        return told

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

    def _sealing_key(self, sender: str, receiver: str) -> bytes:
        public = self._keys[receiver if sender == self.name else sender][0]
        return self._sealing.common_key(public, self._terms.session, "shares", sender, receiver)

    def _say(self, step: int, kind: str, payload: Payload, awaited: int, answer: str) -> Message:
        server = self._terms.server
        self._inbox.expect(awaited, answer, [server])
        return Message(self._terms.session, self.name, server, step, kind, payload)


def _check_size(summand: Ring, size: int) -> None:
    if summand.shape != (size,):
        raise ParameterError(f"a summand must have {size} values, got {summand.size}.")


def _record(message: Message, name: str) -> dict[str, Value]:
    value = message.payload.get(name)
    if not isinstance(value, dict):
        raise DamagedMessageError(f"{message.kind}.{name} must be a record.")
    return value
