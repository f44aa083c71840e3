"""A secure sum as a stage of a training."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.learn._opened_among import Among
from sottovoce.learn.sums.fixed import FixedPoint
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.sums.mask_peer import MaskPeer
from sottovoce.learn.sums.masked_sum import MaskedSum, MaskServer
from sottovoce.learn.sums.weights import SummandWeights
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.stages import PartyMaker


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
    weights: SummandWeights | None = None

    def peer(
        self,
        name: str,
        identity: Identity,
        values: ArrayLike,
        among: Among | None = None,
    ) -> PartyMaker:
        """The machine of a peer with these values, or words modulo 2^64 as they are.

        ``among`` is what it makes of who is left.
        """
        given = np.asarray(values)
        summand = given if given.dtype == np.uint64 else self.numbers.encode(given).ravel()
        return lambda session: MaskPeer(name, self._masked(session), identity, summand, among=among)

    def adder(self) -> PartyMaker:
        """The machine of the coordinator."""
        return lambda session: MaskServer(self._masked(session))

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


def _chosen(identities: Mapping[str, bytes], peers: tuple[str, ...]) -> dict[str, bytes]:
    return {peer: identities[peer] for peer in peers}
