"""A training on rados that a blind intermediary makes: figure 2 of the paper as a run.

Private Text Classification, Protocol 1. Each peer encrypts its rows under the key holder's key and
hands them to the intermediary, who has the signatures and no key; the key holder opens rados and
has no signature. It works the classifier out from all peers' rados, and tells it to the peers.
Before anything is encrypted the coordinator adds up, under masks, how many documents use each
feature, and rare ones are left out.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DataError, ParameterError
from sottovoce.learn.modes.open import (
    KEPT_STAGES,
    SolvedClassifier,
    models_piece,
    support_coordinator,
    support_peer,
    told_models,
)
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.rados.intermediary import RadoIntermediary, RadoOwner, RadoReceiver, RadoTerms
from sottovoce.learn.rados.rados import RadoMoments, confidence_weights, m_loss_minimiser
from sottovoce.learn.ridge import LinearModel, lift_model
from sottovoce.learn.run import records
from sottovoce.learn.run.agree import (
    AGREEING_STAGES,
    Agreed,
    add_signs,
    agreeing_coordinator,
    agreeing_helper,
    agreeing_peer,
)
from sottovoce.learn.run.terms import INTERMEDIARY, Holdings, RunTerms
from sottovoce.learn.run.train import RunScript, brought_examples
from sottovoce.learn.support import KeptFeatures
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.message import Message, Party
from sottovoce.learn.wire.stages import Listener, Stage, Teller

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

HELPERS = (KEY_HOLDER, INTERMEDIARY)
_MOST_BITS = 20
_FRACTION_BITS = 20


@dataclass(frozen=True)
class Shape:
    """What the helpers are told: how many columns, with the intercept's, and whose rows."""

    width: int
    peers: tuple[str, ...]


@dataclass(frozen=True)
class PeerSize:
    """What a peer tells of its rows: how many, and the power of two that bounds their numbers."""

    rows: int
    bits: int


def rados_plan(terms: RunTerms) -> tuple[str, ...]:
    """The names of all stages."""
    each = (f"{peer}'s rados" for peer in terms.peers)
    return (*AGREEING_STAGES, *KEPT_STAGES, "shape", "sizes", *each, "model")


def rados_peer(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A peer's part: it encrypts its rows, and ends with the classifier."""
    brought = brought_examples(name, terms, holdings)

    def script() -> RunScript:
        agreed, features = yield from agreeing_peer(
            name, terms, brought.secrets, brought.examples, brought.among
        )
        data = add_signs(brought.data(terms, features, agreed), brought.labels, (_one(agreed),))
        inner = agreed.training(terms, agreed.peers)
        supported = yield from support_peer(name, inner, data)
        data, kept = supported.data, supported.kept
        rows = np.hstack([kept.apply(data.rows), np.ones((len(data.rows), 1))])
        size = PeerSize(len(rows), _bits(rows))
        piece: dict[str, Value] = {"rows": size.rows, "bits": size.bits}
        pieces = dict.fromkeys(HELPERS, piece)
        yield Stage("sizes", lambda s: Teller(name, s, "size", pieces))
        shape = Shape(rows.shape[1], supported.peers)

        def owner(session: bytes) -> Party:
            return RadoOwner(_rado_terms(session, terms, name, shape, size), rows, data.signs)

        yield Stage(f"{name}'s rados", owner)
        told = yield Stage("model", lambda s: Listener(name, s, "model", [KEY_HOLDER]))
        ((model, penalty),) = told_models(told.heard[KEY_HOLDER], kept.width, 1)
        return records.peer_record(
            replace(terms, kind="train", mode="open"),
            agreed,
            features,
            data,
            [Told([SolvedClassifier(lift_model(model, kept), penalty)], kept, supported.peers)],
        )

    return script()


def rados_coordinator(terms: RunTerms, _: Holdings) -> RunScript:
    """The coordinator's part: it learns what is rare, and nothing after that."""
    _check_recipe(terms)

    def script() -> RunScript:
        agreed = yield from agreeing_coordinator(terms, HELPERS)
        _one(agreed)
        inner = agreed.training(terms, agreed.peers)
        kept, peers = yield from support_coordinator(inner)
        shape: dict[str, Value] = {"width": kept.width + 1, "peers": peers}
        pieces = dict.fromkeys(HELPERS, shape)
        yield Stage("shape", lambda s: Teller(COORDINATOR, s, "shape", pieces))
        return records.helper_record(terms, agreed, [])

    return script()


def rados_intermediary(terms: RunTerms, _: Holdings) -> RunScript:
    """The intermediary's part: signatures, ciphertexts, and nothing to keep."""
    _check_recipe(terms)

    def script() -> RunScript:
        agreed = yield from agreeing_helper(INTERMEDIARY, terms)
        shape, sizes = yield from _hearing(INTERMEDIARY, agreed)
        for peer in shape.peers:

            def make(session: bytes, peer: str = peer) -> Party:
                return RadoIntermediary(_rado_terms(session, terms, peer, shape, sizes[peer]))

            yield Stage(f"{peer}'s rados", make)
        return records.helper_record(terms, agreed, [])

    return script()


def rados_key_holder(terms: RunTerms, holdings: Holdings) -> RunScript:
    """The key holder's part: it opens rados, and tells the classifier that they give."""
    _check_recipe(terms)
    key = holdings.wanted_key(KEY_HOLDER)

    def script() -> RunScript:
        agreed = yield from agreeing_helper(KEY_HOLDER, terms)
        shape, sizes = yield from _hearing(KEY_HOLDER, agreed)
        rados = yield from _opened_rados(terms, key, shape, sizes)
        rows = sum(size.rows for size in sizes.values())
        model = solved_rados(rados, rows, terms.recipe.penalty or 0.0)
        piece = models_piece([SolvedClassifier(model, terms.recipe.penalty or 0.0)])
        pieces = dict.fromkeys(shape.peers, piece)
        yield Stage("model", lambda s: Teller(KEY_HOLDER, s, "model", pieces))
        return {**records.helper_record(terms, agreed, []), "rados": np.vstack(rados)}

    return script()


@dataclass(frozen=True)
class Told:
    """A classifier as `records` takes it from a party of the open mode."""

    solved: list[SolvedClassifier]
    kept: KeptFeatures
    survivors: tuple[str, ...]


def solved_rados(rados: list[Floats], rows: int, penalty: float) -> LinearModel:
    """The minimiser of the M-loss of rados of all peers' rows, on the scale of ridge's theta.

    Private Text Classification, Definitions 4 and 5. Peers' signatures are independent, so that
    means and covariances of their rados add up to those of a rado of all rows.
    """
    parts = [RadoMoments.from_rados(each / np.sqrt(rows)) for each in rados]
    mean = np.sum([part.mean for part in parts], axis=0)
    covariance = np.sum([part.covariance for part in parts], axis=0)
    moments = RadoMoments(1, mean, covariance + np.outer(mean, mean))
    weights = confidence_weights(mean.size, low_confidence=[mean.size - 1])
    theta = m_loss_minimiser(moments, 1, weights, penalty=penalty) / (2 * np.sqrt(rows))
    return LinearModel(theta[:-1], float(theta[-1]))


def _opened_rados(
    terms: RunTerms, key: PrivateKey, shape: Shape, sizes: dict[str, PeerSize]
) -> Generator[Stage, Any, list[Floats]]:
    rados = []
    for peer in shape.peers:

        def make(session: bytes, peer: str = peer) -> Party:
            return RadoReceiver(_rado_terms(session, terms, peer, shape, sizes[peer]), key)

        opened = yield Stage(f"{peer}'s rados", make)
        rados.append(opened.rados)
    return rados


def _hearing(name: str, agreed: Agreed) -> Generator[Stage, Any, tuple[Shape, dict[str, PeerSize]]]:
    told = yield Stage("shape", lambda s: Listener(name, s, "shape", [COORDINATOR]))
    shape = _told_shape(told.heard[COORDINATOR], agreed)
    heard = yield Stage("sizes", lambda s: Listener(name, s, "size", shape.peers))
    return shape, {peer: _told_size(said) for peer, said in heard.heard.items()}


def _told_shape(message: Message, agreed: Agreed) -> Shape:
    width = message.item("width", int)
    peers = tuple(str(name) for name in message.item("peers", tuple))
    if not 2 <= width <= len(agreed.features) + 1 or not _are_among(peers, agreed):  # noqa: PLR2004 - a feature and the intercept
        raise DamagedMessageError("a shape must be of some of the features and of the peers.")
    return Shape(width, peers)


def _are_among(peers: tuple[str, ...], agreed: Agreed) -> bool:
    return set(peers) <= set(agreed.peers) and len(set(peers)) == len(peers)


def _told_size(message: Message) -> PeerSize:
    size = PeerSize(message.item("rows", int), message.item("bits", int))
    if size.rows < 1 or not 0 <= size.bits <= _MOST_BITS:
        raise DamagedMessageError(f"a peer must have rows of numbers below 2^{_MOST_BITS}.")
    return size


def _bits(rows: Floats) -> int:
    largest = float(np.abs(rows).max())
    bits = max(0, int(np.ceil(np.log2(largest)))) if largest else 0
    if bits > _MOST_BITS:
        raise ParameterError(f"numbers must be at most 2^{_MOST_BITS} in size, got {largest:g}.")
    return bits


def _rado_terms(
    session: bytes, terms: RunTerms, peer: str, shape: Shape, size: PeerSize
) -> RadoTerms:
    return RadoTerms(
        session,
        peer,
        INTERMEDIARY,
        KEY_HOLDER,
        size.rows,
        shape.width,
        terms.recipe.rados,
        float(1 << size.bits),
        _FRACTION_BITS,
    )


def _one(agreed: Agreed) -> str:
    if len(agreed.positives) != 1:
        raise DataError(
            f"rados are made for two labels, got {len(agreed.labels)}; train in another mode."
        )
    return agreed.positives[0]


def _check_recipe(terms: RunTerms) -> None:
    if terms.recipe.penalty is None:
        raise ParameterError("a run that makes rados needs a penalty that is agreed on.")
