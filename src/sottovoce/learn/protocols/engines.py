"""A trained classifier's parties in one process, by mode: whom to ask, and what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.learners.support import KeptFeatures
from sottovoce.learn.party import Exchange, Faults, Party, StalledError, Traffic
from sottovoce.learn.protocols.block_training import (
    BlockCoordinator,
    BlockData,
    BlockLayout,
    BlockPeer,
)
from sottovoce.learn.protocols.given import Training
from sottovoce.learn.protocols.local import feature_places
from sottovoce.learn.protocols.open_training import (
    TrainingCoordinator,
    TrainingKeyHolder,
    TrainingPeer,
)
from sottovoce.learn.protocols.terms import TrainingTerms
from sottovoce.learn.sums import secure_total

if TYPE_CHECKING:
    from sottovoce.learn.paillier import PrivateKey

Parts: TypeAlias = Mapping[str, Floats]
Offset: TypeAlias = Literal["print", "mean"]
Signs: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Query:
    """Rows to classify.

    Attributes:
        asker: the peer that asks.
        parts: for each peer that knows the entities, its lifted rows; the asker's among them.
        offset: what other peers add for entities that they do not know: nothing, the rado as
            printed, or its mean row.
    """

    asker: str
    parts: Parts
    offset: Offset | None = None

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.parts[self.asker])


class Engine(Protocol):
    """The parties behind a classifier."""

    exchange: Exchange
    penalty: float
    model: LinearModel | None
    kept: KeptFeatures | None

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Classify rows by the mode's protocol."""


def claims(query: Query, holdings: Mapping[str, NDArray[np.bool_]]) -> dict[str, NDArray[np.bool_]]:
    """Which features each contributor adds: its own that nobody before it has, the asker first.

    Alone, the asker adds every feature: one that it lacks counts as zero, as in training.
    """
    width = len(holdings[query.asker])
    if len(query.parts) == 1 and query.offset is None:
        return {query.asker: np.ones(width, bool)}
    others = holdings if query.offset is not None else query.parts
    order = [query.asker, *(name for name in sorted(others) if name != query.asker)]
    taken, claimed = np.zeros(width, bool), {}
    for name in order:
        claimed[name] = holdings[name] & ~taken
        taken |= holdings[name]
    return claimed


class OpenEngine:
    """Everybody has theta, and classifies alone, or adds local scores (eq. 24) securely."""

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        *,
        key: "PrivateKey | None" = None,
        faults: Faults | None = None,
    ) -> None:
        self._terms, self._training = terms, training
        coordinator = TrainingCoordinator(terms)
        peers = [TrainingPeer(name, terms, data) for name, data in training.data.items()]
        parties: list[Party] = [coordinator, *peers]
        if terms.recipe.way == "packed":
            from sottovoce.learn.paillier import generate_key  # noqa: PLC0415 - masks need no gmpy2

            held = key or generate_key(terms.recipe.key_bits)
            parties.append(TrainingKeyHolder(terms, held))
        self.exchange = Exchange(parties, faults=faults)
        self.exchange.run()
        told = [peer for peer in peers if peer.model is not None]
        if not told or coordinator.model is None:
            raise StalledError("nobody who is left knows the classifier.")
        self.model: LinearModel | None = told[0].model
        self.penalty = told[0].penalty
        self.kept: KeptFeatures | None = told[0].kept

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Local scores, summed over the peers that hold parts of the same entities.

        Private Text Classification, Protocol 3 in the form of eq. 24.
        """
        if query.offset is not None:
            raise ParameterError(
                "offset is for the paper and hidden modes; in the open mode every peer has theta."
            )
        model = self.model
        if model is None:
            raise StalledError("there is no classifier.")
        holdings = {name: data.has for name, data in self._training.data.items()}
        claimed = claims(query, holdings)
        scores = {
            name: query.parts[name] @ np.where(own, model.coefficients, 0.0)
            for name, own in claimed.items()
        }
        scores[query.asker] = scores[query.asker] + model.intercept
        if len(scores) == 1:
            return np.where(scores[query.asker] > 0, 1, -1), Traffic()
        recipe = self._terms.recipe
        summed = secure_total(
            scores,
            bound=float(1 << (62 - recipe.fraction_bits)) / len(scores),
            fraction_bits=recipe.fraction_bits,
            allow_two=recipe.allow_two,
        )
        return np.where(summed.total > 0, 1, -1), summed.traffic


class BlockEngine(OpenEngine):
    """Peers with different features and no entity matching: everybody has theta in the end."""

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        shared: tuple[str, ...],
        *,
        faults: Faults | None = None,
    ) -> None:
        self._terms, self._training = terms, training
        data, layout = block_parts(training, shared)
        terms = replace(
            terms, identities={name: each.identity.public for name, each in data.items()}
        )
        coordinator = BlockCoordinator(terms, layout)
        peers = [BlockPeer(name, terms, layout, each) for name, each in data.items()]
        self.exchange = Exchange([coordinator, *peers], faults=faults)
        self.exchange.run()
        if peers[0].model is None:
            raise StalledError("nobody who is left knows the classifier.")
        self.model = in_dictionary(peers[0].model, training, shared)
        self.penalty = peers[0].penalty
        self.kept = None


def block_parts(
    training: Training, shared: tuple[str, ...]
) -> tuple[dict[str, BlockData], BlockLayout]:
    """Each peer's shared and own columns, and where they stand in theta."""
    common = feature_places(shared, training.dictionary)
    data, own = {}, {}
    for name, each in training.data.items():
        if not each.has[common].all():
            raise InputError(f"{name} must have every shared feature; share only what all have.")
        places = _own_places(training, name, shared)
        own[name] = len(places)
        if not len(places):
            raise InputError(f"{name} must have at least one feature of its own.")
        data[name] = BlockData(each.rows[:, common], each.rows[:, places], each.signs)
    if sum(own.values()) + len(shared) != len(training.dictionary):
        raise InputError("a feature must be shared by all peers or belong to one of them.")
    return data, BlockLayout(len(shared), own)


def in_dictionary(model: LinearModel, training: Training, shared: tuple[str, ...]) -> LinearModel:
    """A classifier in the order of block rados as one in the order of the dictionary."""
    order = [feature_places(shared, training.dictionary)]
    order += [_own_places(training, name, shared) for name in sorted(training.data)]
    coefficients = np.zeros(len(training.dictionary))
    coefficients[np.concatenate(order)] = model.coefficients
    return LinearModel(coefficients, model.intercept)


def _own_places(training: Training, name: str, shared: tuple[str, ...]) -> NDArray[np.intp]:
    names = [each for each in training.names[name] if each not in shared]
    return feature_places(names, training.dictionary)
