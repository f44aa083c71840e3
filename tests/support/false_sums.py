"""Peers with documents of 0 and 1, and peers that give sums of documents that they have not."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.modes.open import TrainingCoordinator, TrainingPeer
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.sums.fixed import PROJECTIONS, SummandWeights
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.support import KeptFeatures, OpenedLimit
from sottovoce.learn.training_terms import LocalData, Recipe, TrainingTerms
from sottovoce.learn.wire.exchange import Exchange, Traffic
from sottovoce.learn.wire.message import new_session

if TYPE_CHECKING:
    from sottovoce.learn.wire.message import Party

# All columns are opened, whatever they say of documents.
ANY = OpenedLimit(share=1e9)
# Chi squared of 128 degrees, over 128, is less with a chance of 2^-40.
LEAST = 0.332
Floats = NDArray[np.float64]
Lie = Callable[[Floats], Floats]


@dataclass(frozen=True, repr=False)
class LyingData(LocalData):
    """Data whose sums are made up."""

    lie: Lie = np.copy

    def sums(self, kept: KeptFeatures) -> Floats:
        """The lie, made of the true sums."""
        return self.lie(super().sums(kept))


def documents(number: int, width: int, seed: int, *, share: float = 0.4) -> tuple[Floats, Floats]:
    """Rows of 0 and 1 whose label follows from the first words."""
    chance = np.random.default_rng(seed)
    rows = (chance.random((number, width)) < share).astype(np.float64)
    score = rows[:, :3].sum(axis=1) - rows[:, 3:6].sum(axis=1) + chance.normal(0, 0.7, number)
    return rows, np.where(score > 0, 1.0, -1.0)


def peers_of(
    number: int, each: int, width: int, *, seed: int = 0, share: float = 0.4
) -> dict[str, LocalData]:
    """Honest peers."""
    has = np.ones(width, bool)
    return {
        f"peer{at:02}": LocalData(
            *documents(each, width, 1000 * seed + at, share=share), has, Identity()
        )
        for at in range(number)
    }


def with_liar(peers: dict[str, LocalData], name: str, lie: Lie) -> dict[str, LocalData]:
    """The same, one of whom lies."""
    return {**peers, name: LyingData(**vars(peers[name]), lie=lie)}


def terms_of(peers: dict[str, LocalData], *, presence: bool = True, **recipe: Any) -> TrainingTerms:  # noqa: ANN401 - as Recipe takes them
    """A training of these."""
    width = next(iter(peers.values())).rows.shape[1]
    terms = TrainingTerms(
        new_session(),
        {name: data.identity.public for name, data in peers.items()},
        tuple(f"w{at}" for at in range(width)),
        Recipe(**{"penalty": 0.1, **recipe}),
    )
    stated = {name: len(data.rows) for name, data in peers.items()}
    return replace(terms, documents=stated, presence=presence)


def trained(
    peers: dict[str, LocalData],
    *,
    presence: bool = True,
    checked: bool = True,
    **recipe: Any,  # noqa: ANN401 - likewise
) -> tuple[LinearModel, Traffic]:
    """The classifier, and what it cost."""
    terms = terms_of(peers, presence=presence and checked, **recipe)
    if not checked:
        terms = replace(terms, documents={})
    coordinator = TrainingCoordinator(terms, ANY)
    parties: list[Party] = [coordinator]
    parties += [TrainingPeer(name, terms, data) for name, data in peers.items()]
    traffic = Exchange(parties).run()
    assert coordinator.model is not None
    return coordinator.model, traffic


def heaviest(weights: SummandWeights, name: str) -> float:
    """How many times its bound a summand may be that passes, but for a chance of 2^-40."""
    least = math.sqrt(LEAST * 2 * PROJECTIONS)
    return weights._limit(name) / (least * weights.documents[name] * weights.norm)
