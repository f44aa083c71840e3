"""The numbers of secure sums: modulo 2^64, without wrapping around, and no heavier than documents.

Keys are expanded to vectors of this ring: shared ones to masks, fresh ones to offsets. How many
summands a sum needs before it may be opened is decided here too.

**A bound on each summand**, checked under its masks. A summand weighs no more than its documents:
its norm is at most their number times the largest norm of one document's numbers. Once all masked
vectors are given, the seeds of all self-masks, committed to before, make a challenge: `PROJECTIONS`
vectors of small whole numbers r, each four less than the bits of a random byte. The two peers of a
pair tell the coordinator r'm of the mask m that they share, and must tell the same. So it knows r's
of every peer's summand s, with nobody's word for it but that of the others.

**What passes.** A summand of norm c times its bound passes with a chance of at most 2^-40, c being
about 2.6 + (450 + 720 sqrt(P - 1)) a/m for one of P peers with m documents, two of which are a
times as far apart as one is large; an honest summand is refused with a chance of at most 2^-38. Let
s have norm 1. E exp(-t (r's)^2) is the mean over a Gaussian g of a product of
cos(g s_j sqrt(t/2))^8, by Hoelder at most the largest of the means of
|cos(g a sqrt(t/2))|^(8/a^2), and for a t below 1 that is the one for a = 0: (1 + 4t)^(-1/2), as if
r were Gaussian; noise that does not hang on r changes nothing. What liars share among themselves
cancels, so that for several together the same holds of all that they add.
All this is modulo 2^64. Whoever opens the sum also checks that it is small, and it is, less honest
summands, what the liars added: a summand that wraps around shows there.

**What it tells.** The mask of two honest peers is uniform; all that is told of it is k numbers,
rounded and blurred by two-sided geometric noise that both draw from a key which they share. If two
peers exchange a document, in the same sum, the numbers move by at most `_reach` together, but for a
chance of 2^-40 over r. So beside the sum, who has which document is told up to a factor of
e^`EPSILON`, whoever else works with the coordinator.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import (
    DamagedMessageError,
    FalseSummandError,
    ParameterError,
    TooFewPartiesError,
)
from sottovoce.learn.wire.message import Message
from sottovoce.privacy.randomness import random_bytes, stream_of

Ring: TypeAlias = NDArray[np.uint64]
KEY_BYTES = 32
FEWEST_PARTIES = 3
# With two summands the sum less one's own is the other's: whoever wants that must say it.
AllowTwo: TypeAlias = Literal["each learns the other's summand"]
ALLOW_TWO: AllowTwo = "each learns the other's summand"
_RING_BITS = 64
_EXACT_BITS = 53  # a float holds every integer up to here
_WORD_BYTES = 8


@dataclass(frozen=True)
class FixedPoint:
    """Fixed-point numbers whose sums over ``parties`` fit the signed half of Z_2^64.

    Attributes:
        bound: the largest absolute value that any party's summand may have.
        parties: the most summands that are ever added.
        fraction_bits: how many bits stand after the point.
    """

    bound: float
    parties: int
    fraction_bits: int = 30

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bound) and self.bound > 0):
            raise ParameterError(f"bound must be finite and > 0, got {self.bound}.")
        if self.parties < 1:
            raise ParameterError(f"parties must be >= 1, got {self.parties}.")
        if not 0 <= self.fraction_bits <= _EXACT_BITS:
            raise ParameterError(
                f"fraction_bits must be 0 to {_EXACT_BITS}, got {self.fraction_bits}."
            )
        if self._largest_sum() >= 1 << (_RING_BITS - 1):
            raise ParameterError(
                f"the sum of {self.parties} values up to {self.bound:g} with {self.fraction_bits} "
                "fractional bits must stay below 2^63; lower fraction_bits or the bound."
            )

    def _largest_sum(self) -> int:
        return self.parties * (int(np.ceil(self.bound)) << self.fraction_bits)

    @property
    def step(self) -> float:
        """The distance between neighbouring numbers."""
        return 2.0**-self.fraction_bits

    def encode(self, values: ArrayLike) -> Ring:
        """Round to the nearest step; ParameterError for what the plan does not cover."""
        numbers = np.asarray(values, np.float64)
        if not np.isfinite(numbers).all():
            raise ParameterError("values of a secure sum must be finite, got NaN or infinity.")
        if numbers.size and np.abs(numbers).max() > self.bound:
            raise ParameterError(
                f"values of this secure sum must lie within +-{self.bound:g}; plan a larger bound."
            )
        return np.rint(np.ldexp(numbers, self.fraction_bits)).astype(np.int64).view(np.uint64)

    def decode(self, total: Ring) -> Floats:
        """The sum as floats: exact up to 53 significant bits."""
        return np.ldexp(total.view(np.int64).astype(np.float64), -self.fraction_bits)


def checked_parties(names: Sequence[str], *, allow_two: AllowTwo | None) -> tuple[str, ...]:
    """The parties of a sum in the order of their names, or why they cannot sum."""
    if allow_two not in {None, ALLOW_TWO}:
        raise ParameterError(f'allow_two must be None or "{ALLOW_TWO}".')
    if len(set(names)) != len(names):
        raise ParameterError("every party of a secure sum must have a name of its own.")
    if len(names) < fewest(allow_two):
        raise TooFewPartiesError(
            f"a secure sum needs at least {fewest(allow_two)} parties, got {len(names)}; with two, "
            f'each learns the other\'s summand: pass allow_two="{ALLOW_TWO}" to accept that.'
        )
    return tuple(sorted(names))


def fewest(allow_two: AllowTwo | None) -> int:
    """The smallest number of summands in a sum that is opened."""
    return FEWEST_PARTIES if allow_two is None else FEWEST_PARTIES - 1


def expand_key(key: bytes, size: int) -> Ring:
    """``size`` words of the ChaCha20 keystream under ``key``; a key must expand only once."""
    return np.frombuffer(stream_of(key).update(bytes(_WORD_BYTES * size)), "<u8")


def uniform(size: int) -> Ring:
    """``size`` uniform words under a key that exists only here."""
    return expand_key(random_bytes(KEY_BYTES), size)


PROJECTIONS = 128
EPSILON = 1
_VARIANCE = 2  # of four less than the bits of a random byte
# Chi squared of so many degrees, over that number, is more with a chance of 2^-40.
_MOST = 2.24
# sum |r'a| <= 128 x _MEAN x sd for one a, but for a chance of 2^-40: 2^k exp(-k u^2/2).
_MEAN = 1.35
_STEPS = 8 * PROJECTIONS
_COLUMNS = 4096


@dataclass(frozen=True)
class SummandWeights:
    """How much each peer's summand may weigh.

    Attributes:
        documents: how many documents each peer has stated.
        scales: by what each number of a summand is multiplied here; whole numbers.
        norm: the largest norm of one document's numbers, so scaled, as whole numbers of the sum.
        apart: the largest distance of two documents' numbers.
    """

    documents: Mapping[str, int]
    scales: Ring
    norm: float
    apart: float

    @property
    def _reach(self) -> float:
        """How far all projections together move, at most, if one document is another."""
        return PROJECTIONS * _MEAN * math.sqrt(_VARIANCE) * self.apart

    @property
    def _shift(self) -> int:
        """What is told is rounded to multiples of 2 to this."""
        return max(0, int(math.log2(self._reach / _STEPS)))

    @property
    def _rate(self) -> Fraction:
        # Rounding moves each projection by one step more.
        return Fraction(EPSILON, math.ceil(self._reach / 2**self._shift) + PROJECTIONS)

    def project(self, vectors: Iterable[Ring], challenge: bytes) -> Ring:
        """A row of projections for each vector, modulo 2^64."""
        scaled = np.array([vector * self.scales for vector in vectors])
        stream, total = stream_of(challenge), np.zeros((len(scaled), PROJECTIONS), np.uint64)
        for start in range(0, self.scales.size, _COLUMNS):
            part = scaled[:, start : start + _COLUMNS]
            drawn = np.frombuffer(stream.update(bytes(PROJECTIONS * part.shape[1])), np.uint8)
            numbers = np.bitwise_count(drawn).astype(np.uint64) - np.uint64(4)
            total += part @ numbers.reshape(-1, PROJECTIONS)
        return total

    def blur(self, projections: Ring, key: bytes) -> Ring:
        """What a pair tells of its mask's projections; both draw the same noise from their key."""
        from sottovoce.privacy.sampler import two_sided_sampler  # noqa: PLC0415 - compiled; coordinators draw none

        shift = np.uint64(self._shift)
        half = np.uint64((1 << self._shift) // 2)
        noise = two_sided_sampler(self._rate).draw(projections.size, _KeyStream(key))
        steps = (projections + half >> shift) + noise.view(np.uint64)
        return np.asarray(steps << shift)

    def weigh(
        self, vectors: Mapping[str, Ring], heard: Mapping[str, Message], challenge: bytes
    ) -> None:
        """Raise FalseSummandError if a peer's summand weighs more than its documents can.

        ``vectors`` are under the masks of pairs, of which ``heard`` tells.
        """
        rows = self.project(vectors.values(), challenge)
        for name, numbers in unmask_projections(
            dict(zip(vectors, rows, strict=True)), heard
        ).items():
            norm = float(np.linalg.norm(numbers.view(np.int64).astype(np.float64)))
            if norm > (limit := self._limit(name)):
                raise FalseSummandError(
                    f"{name}'s sums must weigh no more than sums over its {self.documents[name]} "
                    f"documents, got {norm / limit:.3g} times the most that passes: they are not "
                    f"of these documents; run again without {name}."
                )

    def _limit(self, name: str) -> float:
        own = math.sqrt(_MOST * _VARIANCE * PROJECTIONS) * self.documents[name] * self.norm
        pairs, step = len(self.documents) - 1, 2.0**self._shift
        # Of the noise's norm, but for a chance of 2^-40; a test works it out.
        blur = (15 + 1.5 * math.sqrt(2 * PROJECTIONS * pairs)) / float(self._rate)
        return own + step * (blur + pairs * math.sqrt(PROJECTIONS) / 2)


def unmask_projections(
    projections: Mapping[str, Ring], heard: Mapping[str, Message]
) -> dict[str, Ring]:
    """What is left of each peer's projections without what pairs tell of their masks."""
    left = dict(projections)
    for low, high in combinations(sorted(left), 2):
        told, again = heard[low].array(high, "<u8"), heard[high].array(low, "<u8")
        if not np.array_equal(told, again):
            raise FalseSummandError(
                f"{low} and {high} must tell the same of the mask that they share, but one of them "
                "does not tell the truth; find out who, and run again without it."
            )
        left[low], left[high] = left[low] - told, left[high] + told
    return left


def check_projected(message: Message, peers: Iterable[str]) -> None:
    """Refuse a message that does not tell of every other peer's mask."""
    for other in set(peers) - {message.sender}:
        if message.array(other, "<u8").size != PROJECTIONS:
            raise DamagedMessageError(f"a mask must be told of in {PROJECTIONS} numbers.")


class _KeyStream:
    """The keystream of a key that two peers share, for the noise of one sum."""

    def __init__(self, key: bytes) -> None:
        self._stream = stream_of(key)

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with the next bytes."""
        self._stream.update_into(bytes(out.size), out.data)


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
