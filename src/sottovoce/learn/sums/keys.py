"""The keys of a masked sum: identities, secrets agreed on or shared, and the masks that they make.

Secrets are shared by Shamir's scheme over the integers modulo the Mersenne prime 2^521 - 1 (How to
share a secret, CACM 22(11), 1979): a polynomial of degree t - 1 whose value at zero is the secret;
any t of its other values give it back, fewer say nothing about it.

A `MaskedSum` is what everybody knows about one sum; each pair's key and each peer's seed expand to
the masks under which its summands are added.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from sottovoce.errors import (
    CorruptShareError,
    DamagedMessageError,
    DisagreementError,
    MissingExtraError,
    ParameterError,
)
from sottovoce.learn.sums.fixed import (
    KEY_BYTES,
    AllowTwo,
    Ring,
    SummandWeights,
    checked_parties,
    expand_key,
    fewest,
)
from sottovoce.learn.wire.codec import encode_value
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.privacy.randomness import random_below, random_bytes

try:
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ImportError as error:
    raise MissingExtraError("cryptography", "learn") from error


_NONCE = bytes(12)  # each key seals one message


class Identity:
    """Who a peer is: an Ed25519 key that outlives sessions; the others know its public half."""

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = random_bytes(KEY_BYTES) if secret is None else secret
        self._key = Ed25519PrivateKey.from_private_bytes(self._secret)

    @property
    def secret(self) -> bytes:
        """For keeping it in a file of one's own; never for sending it."""
        return self._secret

    @property
    def public(self) -> bytes:
        """What the other peers are told at enrolment."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, purpose: str, *parts: bytes | str) -> bytes:
        """A signature over ``parts`` for one purpose."""
        return self._key.sign(encode_value((purpose, *parts)))


def check_signature(public: bytes, signature: bytes, purpose: str, *parts: bytes | str) -> None:
    """Raise DisagreementError unless the owner of ``public`` signed exactly this."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(
            signature, encode_value((purpose, *parts))
        )
    except InvalidSignature as error:
        raise DisagreementError(
            f"a signature for {purpose} does not hold: somebody changed what was signed, or its "
            "signer heard something else."
        ) from error


class AgreementKey:
    """One X25519 key pair of one session."""

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = _clamp_secret(random_bytes(KEY_BYTES)) if secret is None else secret
        self._key = X25519PrivateKey.from_private_bytes(self._secret)

    @classmethod
    def matching(cls, secret: bytes, public: bytes) -> Self:
        """The key with this secret, or CorruptShareError when it is not that of ``public``."""
        key = cls(secret)
        # X25519 ignores five bits of a secret: without this check other shares would pass.
        if secret != _clamp_secret(secret) or key.public != public:
            raise CorruptShareError("the shares of a mask key do not give that key back.")
        return key

    @property
    def secret(self) -> bytes:
        """For sharing it out; never for sending it."""
        return self._secret

    @property
    def public(self) -> bytes:
        """What is sent to the other peers."""
        return self._key.public_key().public_bytes_raw()

    def common_key(self, public: bytes, session: bytes, *purpose: str) -> bytes:
        """The key that only the two owners know, for one session and purpose."""
        try:
            common = self._key.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError as error:
            raise DamagedMessageError("a public key must be a point of X25519.") from error
        return derive_key(common, session, *purpose)


def _clamp_secret(secret: bytes) -> bytes:
    """The one form of an X25519 secret in which no bit is ignored (RFC 7748, section 5)."""
    return bytes([secret[0] & 248, *secret[1:-1], secret[-1] & 127 | 64])


def derive_key(secret: bytes, session: bytes, *purpose: str) -> bytes:
    """HKDF-SHA256 of a secret, for one session and purpose."""
    info = encode_value(("sottovoce", *purpose))
    return HKDF(SHA256(), length=KEY_BYTES, salt=session, info=info).derive(secret)


def seal(key: bytes, content: bytes) -> bytes:
    """``content`` for the holder of ``key`` only; a key must seal only once."""
    return ChaCha20Poly1305(key).encrypt(_NONCE, content, None)


def unseal(key: bytes, content: bytes) -> bytes:
    """What was sealed, or CorruptShareError when it is not what its sender sealed."""
    try:
        return ChaCha20Poly1305(key).decrypt(_NONCE, content, None)
    except InvalidTag as error:
        raise CorruptShareError("a sealed share is not what its sender sealed.") from error


PRIME = (1 << 521) - 1


def shares(secret: bytes, *, threshold: int, places: Iterable[int]) -> dict[int, int]:
    """A share of ``secret`` for each place (a whole number >= 1); ``threshold`` open it."""
    value = int.from_bytes(secret, "little")
    if value >= PRIME:
        raise ParameterError("a shared secret must have at most 65 bytes.")
    coefficients = [value, *(random_below(PRIME) for _ in range(threshold - 1))]
    made = {place: _polynomial(coefficients, place) for place in places}
    if min(made) < 1:
        raise ParameterError("the place of a share must be >= 1: at 0 lies the secret itself.")
    return made


def open_shares(held: Mapping[int, int], *, threshold: int, size: int) -> bytes:
    """The secret of ``size`` bytes behind at least ``threshold`` shares that all agree."""
    if len(held) < threshold:
        raise CorruptShareError(f"{threshold} shares open a secret, got {len(held)}.")
    chosen = dict(sorted(held.items())[:threshold])
    if any(_value_at(place, chosen) != held[place] for place in held if place not in chosen):
        raise CorruptShareError("the shares of a secret must lie on one polynomial.")
    try:
        return _value_at(0, chosen).to_bytes(size, "little")
    except OverflowError as error:
        raise CorruptShareError("the shares do not give back a secret of their size.") from error


def _polynomial(coefficients: list[int], place: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * place + coefficient) % PRIME
    return value


def _value_at(place: int, known: Mapping[int, int]) -> int:
    """Lagrange's interpolation of the polynomial through the known shares."""
    weights = _weights(place, tuple(known))
    return (
        sum(share * weight for share, weight in zip(known.values(), weights, strict=True)) % PRIME
    )


@lru_cache(maxsize=1024)  # the secrets of one sum are all opened from the same places
def _weights(place: int, places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_weight(place, own, places) for own in places)


def _weight(place: int, own: int, places: tuple[int, ...]) -> int:
    above, below = 1, 1
    for other in places:
        if other != own:
            above = above * (other - place) % PRIME
            below = below * (other - own) % PRIME
    return above * pow(below, -1, PRIME)


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


def names_signed(names: Sequence[str]) -> bytes:
    """A list of names that cannot be read in two ways, for signing."""
    return encode_value(tuple(sorted(names)))


def commitment(terms: MaskedSum, owner: str, seed: bytes) -> bytes:
    """Binds a peer to the seed of its self-mask without showing it."""
    return hashlib.sha256(derive_key(seed, terms.session, "commitment", owner)).digest()


def challenge_of(seeds: Mapping[str, bytes]) -> bytes:
    """What nobody could know before all masked vectors were given."""
    return hashlib.sha256(encode_value(("challenge", dict(sorted(seeds.items()))))).digest()


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
