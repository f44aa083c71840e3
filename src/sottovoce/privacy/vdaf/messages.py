"""What travels between client and aggregators, as bytes, and what an aggregator keeps meanwhile.

    public share        each aggregator's part of the joint randomness (nothing where there is none)
    leader's share      its share of the vector and of the proof, and its blind
    a helper's share    the seed of the same, and its blind
    verifier share      the share of the verifier, and the part of the joint randomness
    verifier message    the seed of the joint randomness
    output share        the elements that are added up
    aggregate share     their sum

Parts, blinds and seeds of joint randomness have 32 bytes, or none where there is none of it;
elements are those of `_field`. A message has one length alone; one of another length is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf._proof import Proof
from sottovoce.privacy.vdaf._xof import SEED_BYTES
from sottovoce.privacy.vdaf.field import Words

NONCE_BYTES = 16


@dataclass(frozen=True)
class Prio3Report:
    """What a client sends: the public share to all, and to each aggregator its input share."""

    nonce: bytes = field(repr=False)
    public_share: bytes = field(repr=False)
    input_shares: tuple[bytes, ...] = field(repr=False)
    """The leader's first; each is for its aggregator alone."""

    @property
    def size(self) -> int:
        """Bytes, without the nonce."""
        return len(self.public_share) + sum(map(len, self.input_shares))


@dataclass(frozen=True)
class VerifyState:
    """What an aggregator keeps from its first step to its second; as secret as its input share."""

    output_share: bytes = field(repr=False)
    joint_seed: bytes = field(repr=False)


@dataclass(frozen=True)
class Messages:
    """The messages of a proof among ``shares`` aggregators."""

    proof: Proof
    shares: int

    @cached_property
    def seed(self) -> int:
        """Bytes of a part, a blind or a seed of joint randomness."""
        return SEED_BYTES if self.proof.circuit.joint_length else 0

    @cached_property
    def _vector(self) -> int:
        return self.proof.circuit.measurement_length * self.proof.field.size

    @cached_property
    def _proof(self) -> int:
        return self.proof.length * self.proof.field.size

    @cached_property
    def _verifier(self) -> int:
        return self.proof.verifier_length * self.proof.field.size

    @cached_property
    def report(self) -> int:
        """Bytes of a report, without the nonce."""
        leader = self._vector + self._proof + self.seed
        return self.shares * self.seed + leader + (self.shares - 1) * (SEED_BYTES + self.seed)

    def public_share(self, message: bytes) -> list[bytes]:
        """The parts of the joint randomness."""
        return self._cut("a public share", message, [self.seed] * self.shares)

    def leader_share(self, message: bytes) -> tuple[Words, Words, bytes]:
        """The shares of vector and proof, and the blind."""
        sizes = [self._vector, self._proof, self.seed]
        vector, proof, blind = self._cut("the leader's share", message, sizes)
        return self.proof.field.decode(vector), self.proof.field.decode(proof), blind

    def helper_share(self, message: bytes) -> tuple[bytes, bytes]:
        """The seed of the shares, and the blind."""
        seed, blind = self._cut("a helper's share", message, [SEED_BYTES, self.seed])
        return seed, blind

    def verifier_share(self, message: bytes) -> tuple[Words, bytes]:
        """The share of the verifier, and the part of the joint randomness."""
        verifier, part = self._cut("a verifier share", message, [self._verifier, self.seed])
        return self.proof.field.decode(verifier), part

    def verifier_message(self, message: bytes) -> bytes:
        """The seed of the joint randomness."""
        return self._cut("a verifier message", message, [self.seed])[0]

    def output(self, message: bytes) -> Words:
        """The elements of an output share or of an aggregate share."""
        size = self.proof.circuit.output_length * self.proof.field.size
        return self.proof.field.decode(self._cut("an output share", message, [size])[0])

    def nonce(self, message: bytes) -> bytes:
        """A nonce."""
        return self._cut("a nonce", message, [NONCE_BYTES])[0]

    def _cut(self, what: str, message: bytes, sizes: Sequence[int]) -> list[bytes]:
        if len(message) != sum(sizes):
            raise ProtocolError(f"{what} must have {sum(sizes)} bytes, got {len(message)}.")
        ends = list(accumulate(sizes))
        return [message[end - size : end] for size, end in zip(sizes, ends, strict=True)]
