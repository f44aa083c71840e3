r"""Prio3: a measurement in shares, and the check by all who hold one that it is valid.

A client encodes its measurement as a vector (`_circuits`), proves that it is valid (`_proof`), and
splits both: helper j draws its shares from a seed, and the leader, aggregator 0, has what is left.
Where the circuit needs joint randomness, every aggregator's share is hashed under a blind to a
part, and all parts to the seed: for another randomness a client must change the vector. The parts
are public; the blinds keep them from telling the shares.

To verify, each aggregator hashes its own share again, in place of the part that it was told
(`Prio3.verify_init`), and sends its share of the verifier. From all of them follows whether the
proof holds, and the seed that the true parts make (`Prio3.verifier_message`); each compares that
with the one it used (`Prio3.verify_next`). Only then does its share of the vector count.

Who learns what, if one aggregator is honest: the others see their own shares, uniform whatever the
measurement is; the verifier, which could be drawn without it (`_proof`); and whether the report is
valid. It rests on these: the client draws the nonce at random; an aggregator has nonce and public
share from the client itself, not by the word of another aggregator; it answers about a report once,
under one verify key; that key is settled before there are reports, and no client knows it. Whoever
calls sees to the last three: an aggregator that chooses the public share, or a second random point,
for another reads the measurement off the answer.

Soundness: a client that does not know the verify key gets a report of an invalid vector accepted
with chance at most (c + 2 (P - 1) + 1) / (p - P) for each joint randomness that it tries.

After draft-irtf-cfrg-vdaf, versions 18 to 20, section 7, with one proof. Messages, as bytes: the
public share is each aggregator's part of the joint randomness; the leader's share its share of the
vector and of the proof, and its blind; a helper's the seed of the same, and its blind. Parts,
blinds and seeds have 32 bytes, or none where there is no joint randomness; elements are those of
`field`. A message has one length alone; one of another length is refused.
"""

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Generic, TypeVar

from sottovoce.errors import ParameterError, ProtocolError
from sottovoce.privacy.randomness import random_bytes
from sottovoce.privacy.vdaf._circuits import Circuit, CountCircuit, HistogramCircuit, SumVecCircuit
from sottovoce.privacy.vdaf._proof import Proof, add_shares
from sottovoce.privacy.vdaf._xof import SEED_BYTES, XofUsage, domain_tag, xof_bytes, xof_elements
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
    """The messages of a proof among ``shares`` aggregators: their lengths, and their parts."""

    proof: Proof
    shares: int

    @cached_property
    def seed_bytes(self) -> int:
        """Bytes of a part, a blind or a seed of joint randomness."""
        return SEED_BYTES if self.proof.circuit.joint_length else 0

    @cached_property
    def _vector_bytes(self) -> int:
        return self.proof.circuit.measurement_length * self.proof.field.size

    @cached_property
    def _proof_bytes(self) -> int:
        return self.proof.length * self.proof.field.size

    @cached_property
    def _verifier_bytes(self) -> int:
        return self.proof.verifier_length * self.proof.field.size

    @cached_property
    def report_bytes(self) -> int:
        """Bytes of a report, without the nonce."""
        leader = self._vector_bytes + self._proof_bytes + self.seed_bytes
        return (
            self.shares * self.seed_bytes
            + leader
            + (self.shares - 1) * (SEED_BYTES + self.seed_bytes)
        )

    def public_share(self, message: bytes) -> list[bytes]:
        """The parts of the joint randomness."""
        return self._cut("a public share", message, [self.seed_bytes] * self.shares)

    def leader_share(self, message: bytes) -> tuple[Words, Words, bytes]:
        """The shares of vector and proof, and the blind."""
        sizes = [self._vector_bytes, self._proof_bytes, self.seed_bytes]
        vector, proof, blind = self._cut("the leader's share", message, sizes)
        return self.proof.field.decode(vector), self.proof.field.decode(proof), blind

    def helper_share(self, message: bytes) -> tuple[bytes, bytes]:
        """The seed of the shares, and the blind."""
        seed, blind = self._cut("a helper's share", message, [SEED_BYTES, self.seed_bytes])
        return seed, blind

    def verifier_share(self, message: bytes) -> tuple[Words, bytes]:
        """The share of the verifier, and the part of the joint randomness."""
        verifier, part = self._cut(
            "a verifier share", message, [self._verifier_bytes, self.seed_bytes]
        )
        return self.proof.field.decode(verifier), part

    def verifier_message(self, message: bytes) -> bytes:
        """The seed of the joint randomness."""
        return self._cut("a verifier message", message, [self.seed_bytes])[0]

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


Measurement = TypeVar("Measurement")
Result = TypeVar("Result")

_FEWEST_SHARES, _MOST_SHARES = 2, 255
_ONE_PROOF = b"\x01"


class Prio3(Generic[Measurement, Result]):
    """A kind of measurement, its context, and how many aggregators there are.

    Messages are bytes throughout. What is refused because of what a client or an aggregator sent
    raises a `ProtocolError`; the report then does not count.
    """

    algorithm: ClassVar[int]

    def __init__(self, circuit: Circuit[Measurement, Result], context: bytes, shares: int) -> None:
        if not _FEWEST_SHARES <= shares <= _MOST_SHARES:
            raise ParameterError(
                f"shares must be {_FEWEST_SHARES} to {_MOST_SHARES}, got {shares}."
            )
        self.shares = shares
        self._circuit, self._field, self._proof = circuit, circuit.field, Proof(circuit)
        self._messages = Messages(self._proof, shares)
        self._tags = {usage: domain_tag(self.algorithm, usage, context) for usage in XofUsage}

    @property
    def report_size(self) -> int:
        """Bytes of a report, without its nonce of 16."""
        return self._messages.report_bytes

    @property
    def randomness_size(self) -> int:
        """Bytes of randomness that a report takes: a seed, and a blind if any, for each share."""
        return self.shares * (SEED_BYTES + self._messages.seed_bytes)

    def shard(
        self, measurement: Measurement, *, nonce: bytes | None = None, rand: bytes | None = None
    ) -> Prio3Report:
        """A report of ``measurement``.

        ``nonce`` and ``rand``, `randomness_size` bytes, are for test vectors; they are otherwise
        drawn from the operating system, as they must be for anybody's measurement.
        """
        nonce = random_bytes(NONCE_BYTES) if nonce is None else nonce
        rand = random_bytes(self.randomness_size) if rand is None else rand
        if (len(nonce), len(rand)) != (NONCE_BYTES, self.randomness_size):
            raise ParameterError(
                f"nonce and rand must have {NONCE_BYTES} and {self.randomness_size} bytes, "
                f"got {len(nonce)} and {len(rand)}."
            )
        return self._split(self._circuit.encode(measurement), nonce, rand)

    def _split(self, vector: Words, nonce: bytes, rand: bytes) -> Prio3Report:
        """A report of a vector, which the proof is of whether it is valid or not."""
        # In ``rand``: by helper seed and blind, the leader's blind (if joint), the proof's seed.
        seeds = [rand[i : i + SEED_BYTES] for i in range(0, len(rand), SEED_BYTES)]
        each = 2 if self._messages.seed_bytes else 1
        helpers = [tuple(seeds[i : i + each]) for i in range(0, each * (self.shares - 1), each)]
        leader_blind, prove_seed = b"".join(seeds[len(helpers) * each : -1]), seeds[-1]
        vectors = [self._helper_vector(j, own[0]) for j, own in enumerate(helpers, 1)]
        vectors.insert(0, self._field.minus(vector, add_shares(self._field, vectors)))
        blinds = [leader_blind, *(b"".join(own[1:]) for own in helpers)]
        parts = [
            self._part(j, blind, share, nonce)
            for j, (blind, share) in enumerate(zip(blinds, vectors, strict=True))
        ]
        proof = self._proof.prove(
            vector,
            self._elements(XofUsage.PROVE_RANDOMNESS, prove_seed, _ONE_PROOF, self._proof.arity),
            self._joint(self._joint_seed(parts)),
        )
        proofs = [self._helper_proof(j, own[0]) for j, own in enumerate(helpers, 1)]
        leader = self._field.minus(proof, add_shares(self._field, proofs))
        encoded = self._field.encode(vectors[0]) + self._field.encode(leader)
        shares = (encoded + leader_blind, *(b"".join(own) for own in helpers))
        return Prio3Report(nonce, b"".join(parts), shares)

    def verify_init(
        self,
        verify_key: bytes,
        aggregator: int,
        nonce: bytes,
        public_share: bytes,
        input_share: bytes,
    ) -> tuple[VerifyState, bytes]:
        """The first step of an aggregator: what it keeps, and its verifier share for the others.

        ``aggregator`` is 0 for the leader. ``verify_key`` are 32 secret bytes of all aggregators.
        """
        if len(verify_key) != SEED_BYTES:
            raise ParameterError(f"a verify key must have {SEED_BYTES} bytes.")
        if not 0 <= aggregator < self.shares:
            raise ParameterError(f"aggregator must be 0 to {self.shares - 1}, got {aggregator}.")
        binder = _ONE_PROOF + self._messages.nonce(nonce)
        parts = self._messages.public_share(public_share)
        vector, proof, blind = self._input_share(aggregator, input_share)
        parts[aggregator] = self._part(aggregator, blind, vector, nonce)
        seed = self._joint_seed(parts)
        asked = self._elements(
            XofUsage.QUERY_RANDOMNESS, verify_key, binder, self._proof.query_length
        )
        verifier = self._proof.query(vector, proof, asked, self._joint(seed), self.shares)
        output = self._field.encode(self._circuit.truncate(vector))
        return VerifyState(output, seed), self._field.encode(verifier) + parts[aggregator]

    def verifier_message(self, verifier_shares: Sequence[bytes]) -> bytes:
        """What the verifier shares of all aggregators, the leader's first, come to.

        Raises a `ProtocolError` if the proof does not hold: the report is invalid.
        """
        if len(verifier_shares) != self.shares:
            raise ProtocolError(
                f"there must be {self.shares} verifier shares, got {len(verifier_shares)}."
            )
        read = [self._messages.verifier_share(share) for share in verifier_shares]
        if not self._proof.holds(add_shares(self._field, [verifier for verifier, _ in read])):
            raise ProtocolError("the proof of this report does not hold; it must not count.")
        return self._joint_seed([part for _, part in read])

    def verify_next(self, state: VerifyState, message: bytes) -> bytes:
        """The second step of an aggregator: its output share, which may now be aggregated."""
        seed = self._messages.verifier_message(message)
        if not hmac.compare_digest(seed, state.joint_seed):
            raise ProtocolError(
                "the joint randomness of this report is not that of its shares; it must not count."
            )
        return state.output_share

    def aggregate(self, shares: Iterable[bytes]) -> bytes:
        """The sum of an aggregator's output shares, or of sums of them."""
        total = self._field.zeros(self._circuit.output_length)
        for share in shares:
            total = self._field.plus(total, self._messages.output(share))
        return self._field.encode(total)

    def add_noise(self, share: bytes, noise: Sequence[int]) -> bytes:
        """An aggregate share with a whole number added to each of its entries.

        Each aggregator adds noise of its own before it shows its share, so that the result is
        noised even to one who knows the other's noise.
        """
        if len(noise) != self._circuit.output_length:
            raise ParameterError(f"noise must be {self._circuit.output_length} numbers.")
        added = self._field.plus(self._messages.output(share), self._field.elements(noise))
        return self._field.encode(added)

    def unshard(self, aggregate_shares: Sequence[bytes]) -> Result:
        """The result, from the aggregate shares of all aggregators.

        Numbers above half the modulus are read as negative ones, which only noise makes.
        """
        if len(aggregate_shares) != self.shares:
            raise ProtocolError(
                f"there must be {self.shares} aggregate shares, got {len(aggregate_shares)}."
            )
        shares = [self._messages.output(share) for share in aggregate_shares]
        return self._circuit.result(self._field.integers(add_shares(self._field, shares)))

    def _input_share(self, aggregator: int, message: bytes) -> tuple[Words, Words, bytes]:
        if aggregator == 0:
            return self._messages.leader_share(message)
        seed, blind = self._messages.helper_share(message)
        vector = self._helper_vector(aggregator, seed)
        return vector, self._helper_proof(aggregator, seed), blind

    def _helper_vector(self, aggregator: int, seed: bytes) -> Words:
        length = self._circuit.measurement_length
        return self._elements(XofUsage.MEASUREMENT_SHARE, seed, bytes([aggregator]), length)

    def _helper_proof(self, aggregator: int, seed: bytes) -> Words:
        binder = _ONE_PROOF + bytes([aggregator])
        return self._elements(XofUsage.PROOF_SHARE, seed, binder, self._proof.length)

    def _part(self, aggregator: int, blind: bytes, vector: Words, nonce: bytes) -> bytes:
        """An aggregator's part of the joint randomness."""
        if not self._messages.seed_bytes:
            return b""
        binder = bytes([aggregator]) + nonce + self._field.encode(vector)
        return xof_bytes(blind, self._tags[XofUsage.JOINT_PART], binder)

    def _joint_seed(self, parts: Sequence[bytes]) -> bytes:
        if not self._messages.seed_bytes:
            return b""
        return xof_bytes(bytes(SEED_BYTES), self._tags[XofUsage.JOINT_SEED], b"".join(parts))

    def _joint(self, seed: bytes) -> Words:
        length = self._circuit.joint_length
        if not length:
            return self._field.zeros(0)
        return self._elements(XofUsage.JOINT_RANDOMNESS, seed, _ONE_PROOF, length)

    def _elements(self, usage: XofUsage, seed: bytes, binder: bytes, length: int) -> Words:
        return xof_elements(self._field, seed, self._tags[usage], binder, length)


class Prio3Count(Prio3[int, int]):
    """How many of the measurements, 0 or 1, are 1.

    >>> count = Prio3Count(context=b"example")
    >>> report = count.shard(1)
    >>> report.size
    80
    """

    algorithm = 1

    def __init__(self, *, context: bytes, shares: int = 2) -> None:
        super().__init__(CountCircuit(), context, shares)


class Prio3SumVec(Prio3[Sequence[int], list[int]]):
    """The sums of vectors of ``length`` whole numbers, each 0 to ``max_measurement``.

    >>> sums = Prio3SumVec(3, 255, 5, context=b"example")
    >>> sums.shard([1, 0, 255]).size == sums.report_size
    True
    """

    algorithm = 3

    def __init__(
        self,
        length: int,
        max_measurement: int,
        chunk_length: int,
        *,
        context: bytes,
        shares: int = 2,
    ) -> None:
        circuit = SumVecCircuit(length, chunk_length, max_measurement)
        super().__init__(circuit, context, shares)


class Prio3Histogram(Prio3[int, list[int]]):
    """How many of the measurements are each of ``length`` buckets.

    >>> histogram = Prio3Histogram(4, 2, context=b"example")
    >>> report, key = histogram.shard(2), bytes(range(32))
    >>> both = [
    ...     histogram.verify_init(key, j, report.nonce, report.public_share, share)
    ...     for j, share in enumerate(report.input_shares)
    ... ]
    >>> message = histogram.verifier_message([share for _, share in both])
    >>> outputs = [histogram.verify_next(state, message) for state, _ in both]
    >>> histogram.unshard([histogram.aggregate([output]) for output in outputs])
    [0, 0, 1, 0]
    """

    algorithm = 4

    def __init__(self, length: int, chunk_length: int, *, context: bytes, shares: int = 2) -> None:
        super().__init__(HistogramCircuit(length, chunk_length), context, shares)
