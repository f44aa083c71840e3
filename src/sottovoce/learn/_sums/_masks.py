"""A sum under pairwise masks: what its parties have in common.

After Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning, CCS
2017, with the self-mask, signed keys and the consistency check of its active-server form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn._sums._expansion import expanded
from sottovoce.learn._sums._fixed import AllowTwo, Ring, checked_parties, fewest
from sottovoce.learn._sums.keys import AgreementKey, derived
from sottovoce.learn._wire.codec import encoded
from sottovoce.learn._wire.machine import Leakage, Learns

LEAKAGE = Leakage(
    "secure sum by pairwise masks",
    (
        Learns("server", "who took part in each step, and the sum over the survivors"),
        Learns("every surviving peer", "who took part, and the sum if the server tells it"),
    ),
    collusion="the server with fewer than t peers learns only the sum of the other survivors; "
    "with t peers (two thirds of all by default) it opens every mask and learns each summand",
    assumes="peers honest but curious; the server may lie about who survived: it then needs 2t - P "
    "peers on its side, P being all peers; the peers know each other's identities beforehand",
)

KEYS, DIRECTORY, SHARES, SEALED, MASKED, SURVIVORS, AGREED, AGREEMENT, OPENED, SUM = range(1, 11)


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
    """

    session: bytes
    server: str
    identities: Mapping[str, bytes]
    size: int
    threshold: int = 0
    allow_two: AllowTwo | None = None
    told: bool = True

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
        return max(fewest(self.allow_two), number // 2 + 1), number

    @property
    def peers(self) -> tuple[str, ...]:
        """All peers, in the order of their names."""
        return tuple(sorted(self.identities))

    @property
    def dropouts_survived(self) -> int:
        """How many peers may fall silent without ending the sum."""
        return len(self.peers) - self.threshold

    @property
    def collusion_threshold(self) -> str:
        """Who must work together to learn more than the sum, in words."""
        lying = 2 * self.threshold - len(self.peers)
        return (
            f"the server and {self.threshold} of {len(self.peers)} peers; "
            f"if the server also lies about survivors, {lying} of them suffice"
        )

    def place(self, peer: str) -> int:
        """Where a peer's shares lie."""
        return self.peers.index(peer) + 1


def pair_mask(terms: MaskedSum, key: AgreementKey, own: str, other: str, public: bytes) -> Ring:
    """What ``own`` adds for ``other``: the two of a pair add opposite vectors."""
    low, high = sorted((own, other))
    mask = expanded(key.agreed(public, terms.session, "mask", low, high), terms.size)
    return mask if own == low else np.negative(mask)


def self_mask(terms: MaskedSum, seed: bytes, owner: str) -> Ring:
    """What a peer adds so that its vector stays hidden even if its pair masks are opened."""
    return expanded(derived(seed, terms.session, "self mask", owner), terms.size)


def summed(vectors: Iterable[Ring], size: int) -> Ring:
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
    return encoded(tuple(sorted(names)))
