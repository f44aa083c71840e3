"""A secure sum as a stage of a training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.learn._opened_among import Among
from sottovoce.learn.sums.fixed import FixedPoint
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.sums.mask_peer import MaskPeer
from sottovoce.learn.sums.masked_sum import MaskedSum, MaskServer
from sottovoce.learn.sums.weights import SummandWeights
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, SumWay, TrainingTerms
from sottovoce.learn.wire.machine import Party
from sottovoce.learn.wire.stages import PartyMaker

if TYPE_CHECKING:
    from sottovoce.learn.paillier.key_proof import KnownKeys
    from sottovoce.learn.paillier.keys import PrivateKey
    from sottovoce.learn.sums.packed import PackedSum


@dataclass(frozen=True)
class SumStage:
    """One secure sum among the peers of a training.

    Attributes:
        terms: of the training.
        size: how many values a summand has.
        numbers: their bound and scale.
        peers: who takes part.
        everyone: whether all of ``peers`` must stay, as they must once features were chosen by
            what all of them have.
        told: whether peers are told the sum.
        way: how it is added up; None: as the recipe says.
        context: what peers sign with the keys of their masks, besides the sum's session.
        weights: how much each summand may weigh, where that is checked.
    """

    terms: TrainingTerms
    size: int
    numbers: FixedPoint
    peers: tuple[str, ...]
    everyone: bool = True
    told: bool = False
    context: bytes = b""
    way: SumWay | None = None
    weights: SummandWeights | None = None

    @property
    def masks(self) -> bool:
        """Whether the sum is under masks."""
        return (self.way or self.terms.recipe.way) == "masks"

    def peer(
        self,
        name: str,
        identity: Identity,
        values: ArrayLike,
        known: "KnownKeys | None" = None,
        among: Among | None = None,
    ) -> PartyMaker:
        """The machine of a peer with these values, or words modulo 2^64 as they are.

        ``known`` are keys that it has checked before, ``among`` what it makes of who is left.
        """
        given = np.asarray(values)
        summand = given if given.dtype == np.uint64 else self.numbers.encode(given).ravel()
        if self.masks:
            return lambda session: MaskPeer(
                name, self._masked(session), identity, summand, among=among
            )

        def made(session: bytes) -> Party:
            from sottovoce.learn.sums.packed import PackedPeer  # noqa: PLC0415 - masks need it not

            return PackedPeer(name, self._packed(session), summand, known=known, among=among)

        return made

    def adder(self, known: "KnownKeys | None" = None) -> PartyMaker:
        """The machine of the coordinator."""
        if self.masks:
            return lambda session: MaskServer(self._masked(session))

        def made(session: bytes) -> Party:
            from sottovoce.learn.sums.packed import PackedCoordinator  # noqa: PLC0415 - likewise

            return PackedCoordinator(self._packed(session), known=known)

        return made

    def opener(self, key: "PrivateKey", *, proven: bool = False) -> PartyMaker:
        """The machine of the key holder; ``proven``: all have had the key's proof before."""

        def made(session: bytes) -> Party:
            from sottovoce.learn.sums.packed import PackedKeyHolder  # noqa: PLC0415 - likewise

            return PackedKeyHolder(self._packed(session), key, proven=proven)

        return made

    def _masked(self, session: bytes) -> MaskedSum:
        identities = _chosen(self.terms.identities, self.peers)
        return MaskedSum(
            session,
            COORDINATOR,
            identities,
            self.size,
            threshold=len(self.peers) if self.everyone else 0,
            allow_two=self.terms.recipe.allow_two,
            told=self.told,
            context=self.context or self.terms.digest,
            weights=self.weights,
        )

    def _packed(self, session: bytes) -> "PackedSum":
        from sottovoce.learn.sums.packed import PackedSum  # noqa: PLC0415 - masks need it not

        return PackedSum(
            session,
            COORDINATOR,
            KEY_HOLDER,
            self.peers,
            self.size,
            self.numbers,
            self.terms.recipe.allow_two,
            threshold=len(self.peers) if self.everyone else 0,
            told=self.told,
        )


def _chosen(identities: Mapping[str, bytes], peers: tuple[str, ...]) -> dict[str, bytes]:
    return {peer: identities[peer] for peer in peers}
