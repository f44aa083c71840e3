"""A sum under pairwise masks: what its parties have in common, and its server.

After Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning, CCS
2017, with the self-mask, signed keys and the consistency check of its active-server form. The
server carries, adds, and opens the masks of the sum only; a peer is in `mask_peer`.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import (
    CorruptShareError,
    DamagedMessageError,
    ParameterError,
    TooFewPartiesError,
)
from sottovoce.learn.sums.fixed import (
    KEY_BYTES,
    AllowTwo,
    Ring,
    SummandWeights,
    check_projected,
    checked_parties,
    expand_key,
    fewest,
)
from sottovoce.learn.sums.keys import AgreementKey, derive_key, open_shares
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Inbox, Leakage, Learns, Message

LEAKAGE = Leakage(
    "secure sum by pairwise masks",
    (
        Learns(
            "server",
            "who took part in each step, and the sum over the survivors; where summands are "
            "weighed, noisy projections of each",
        ),
        Learns("every surviving peer", "who took part, and the sum if the server tells it"),
    ),
    collusion="the server with fewer than t peers learns only the sum of the other survivors; "
    "with t peers (two thirds of all by default) it opens every mask and learns each summand",
    assumes="peers honest but curious; the server may lie about who survived: it then needs 2t - P "
    "peers on its side, P being all peers; the peers know each other's identities beforehand",
)

KEYS, DIRECTORY, SHARES, SEALED, MASKED, SURVIVORS, AGREED, AGREEMENT, OPENED = range(1, 10)
CHALLENGE, PROJECTED, SUM = range(10, 13)


@dataclass(frozen=True)
class MaskedSum:
    """What everybody knows about one masked sum.

    Attributes:
        session: the run's name.
        server: the party that adds.
        identities: every peer's name with its public identity.
        size: how many values a summand has.
        threshold: t, how many peers must stay to the end; two thirds of them by default, and
            never fewer than three unless ``allow_two`` says so.
        allow_two: the name of what two peers accept.
        told: whether the peers are told the sum; if not, only that it is there.
        context: what peers sign beside the session: a digest of terms that must be the same at all
            of them, whatever a server says; empty where nothing hangs on it.
        weights: how much each peer's summand may weigh, if that is checked; then all must stay.
    """

    session: bytes
    server: str
    identities: Mapping[str, bytes]
    size: int
    threshold: int = 0
    allow_two: AllowTwo | None = None
    told: bool = True
    context: bytes = b""
    weights: SummandWeights | None = None

    def __post_init__(self) -> None:
        peers = checked_parties(list(self.identities), allow_two=self.allow_two)
        if self.server in peers:
            raise ParameterError("the server of a masked sum must not be one of its peers.")
        if self.size < 1:
            raise ParameterError(f"a summand must have at least 1 value, got {self.size}.")
        least, most = self._bounds(len(peers))
        threshold = self.threshold or max(least, -(-2 * len(peers) // 3))
        if not least <= threshold <= most:
            raise ParameterError(f"threshold must be {least} to {most}, got {threshold}.")
        object.__setattr__(self, "threshold", threshold)

    def _bounds(self, number: int) -> tuple[int, int]:
        # More than half, or a lying server could tell two groups of survivors different things.
        most = number if self.weights else number // 2 + 1
        return max(fewest(self.allow_two), most), number

    @property
    def peers(self) -> tuple[str, ...]:
        """All peers, in the order of their names."""
        return tuple(sorted(self.identities))

    @property
    def signed_session(self) -> bytes:
        """What a peer signs for: this sum, under these terms."""
        return self.session + self.context

    def place(self, peer: str) -> int:
        """Where a peer's shares lie."""
        return self.peers.index(peer) + 1


def pair_mask(terms: MaskedSum, key: AgreementKey, own: str, other: str, public: bytes) -> Ring:
    """What ``own`` adds for ``other``: the two of a pair add opposite vectors."""
    low, high = sorted((own, other))
    mask = expand_key(key.common_key(public, terms.session, "mask", low, high), terms.size)
    return mask if own == low else np.negative(mask)


def self_mask(terms: MaskedSum, seed: bytes, owner: str) -> Ring:
    """What a peer adds so that its vector stays hidden even if its pair masks are opened."""
    return expand_key(derive_key(seed, terms.session, "self mask", owner), terms.size)


def add_vectors(vectors: Iterable[Ring], size: int) -> Ring:
    """The sum in Z_2^64."""
    total = np.zeros(size, np.uint64)
    for vector in vectors:
        total += vector
    return total


def told_part(total: Ring, *, told: bool) -> Ring:
    """What the peers hear of a sum: all of it, or nothing but that it is there."""
    return total if told else total[:0]


def names_signed(names: Sequence[str]) -> bytes:
    """A list of names that cannot be read in two ways, for signing."""
    return encode_value(tuple(sorted(names)))


def commitment(terms: MaskedSum, owner: str, seed: bytes) -> bytes:
    """Binds a peer to the seed of its self-mask without showing it."""
    return hashlib.sha256(derive_key(seed, terms.session, "commitment", owner)).digest()


def challenge_of(seeds: Mapping[str, bytes]) -> bytes:
    """What nobody could know before all masked vectors were given."""
    return hashlib.sha256(encode_value(("challenge", dict(sorted(seeds.items()))))).digest()


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
            parts = (said.item(part, bytes) for part in ("sealing", "masking", "signature"))
            sealing, masked, signature = parts
            self._keys[name] = (sealing, masked, signature)
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
        commitments: dict[str, Value] = {name: self._commitments[name] for name in heard}
        payload: dict[str, Value] = {"names": self.survivors, "commitments": commitments}
        return self._to_all(heard, SURVIVORS, "survivors", payload)

    def _carry_agreement(self, heard: dict[str, Message]) -> list[Message]:
        signatures: dict[str, Value] = {
            name: said.item("signature", bytes) for name, said in heard.items()
        }
        self._inbox.expect(OPENED, "opened", heard)
        return self._to_all(heard, AGREEMENT, "agreement", {"signatures": signatures})

    def _unmask(self, heard: dict[str, Message]) -> list[Message]:
        for name in self.survivors:
            seed = self._seeds[name] = self._opened_seed(name, heard)
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
        size = self._terms.size
        orphaned = add_vectors(self._orphaned_masks(heard), size)
        self.total = add_vectors(self._vectors.values(), size) - orphaned
        self._inbox.close()
        vector = told_part(self.total, told=self._terms.told)
        return self._to_all(heard, SUM, "sum", {"vector": vector})

    def _opened_seed(self, name: str, heard: dict[str, Message]) -> bytes:
        seed = self._open_secret("seeds", name, heard)
        if commitment(self._terms, name, seed) != self._commitments[name]:
            raise CorruptShareError(f"the shares of {name}'s seed do not give that seed back.")
        return seed

    def _orphaned_masks(self, heard: dict[str, Message]) -> Iterable[Ring]:
        """What the survivors added for those who shared their keys and then fell silent."""
        for gone in sorted(set(self._sharers) - set(self.survivors)):
            secret = self._open_secret("keys", gone, heard)
            key = AgreementKey.matching(secret, self._keys[gone][1])
            for name in self.survivors:
                yield np.negative(pair_mask(self._terms, key, gone, name, self._keys[name][1]))

    def _open_secret(self, part: str, owner: str, heard: dict[str, Message]) -> bytes:
        held = {self._terms.place(name): _share(said, part, owner) for name, said in heard.items()}
        return open_shares(held, threshold=self._terms.threshold, size=KEY_BYTES)

    def _to_all(
        self, names: Iterable[str], step: int, kind: str, payload: dict[str, Value]
    ) -> list[Message]:
        return [self._message(name, step, kind, payload) for name in names]

    def _message(self, receiver: str, step: int, kind: str, payload: dict[str, Value]) -> Message:
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
