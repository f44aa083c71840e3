"""Training without entity matching: peers with different features, joined by basic block rados.

Private Text Classification, Protocol 2 with Definition 3. All peers share some features, and each
has more of its own. Blocks are rows with equal shared features and label; of each block with at
least five rows a peer gives the sum of y x over its own features. Side by side these are the rados,
and eq. 14 follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, InputError
from sottovoce.learn.local_data import LocalData, feature_places
from sottovoce.learn.open.sums import SumStage
from sottovoce.learn.open.train import (
    feature_agreement_coordinator,
    feature_agreement_peer,
    model_piece,
    told_model,
)
from sottovoce.learn.rados.blocks import (
    BLOCK_PENALTIES,
    BlockName,
    PeerBlocks,
    local_trial_errors,
    peer_blocks,
)
from sottovoce.learn.rados.learners import block_minimiser
from sottovoce.learn.rados.rados import RadoMoments
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, Script, Stage, Staged, Teller

if TYPE_CHECKING:
    from sottovoce.learn.wire.stages import PartyMaker


STAGES = (
    "features",
    "layout",
    "blocks",
    "common",
    "rados",
    "trials",
    "errors",
    "model",
)


@dataclass(frozen=True)
class BlockLayout:
    """Where everybody's features stand in theta: the shared ones first, then each peer's own.

    Attributes:
        shared: how many features all peers share.
        own: how many each peer has besides, by its name.
        alpha: the weight of the shared features in a rado.
    """

    shared: int
    own: Mapping[str, int]
    alpha: float = 1.0

    @property
    def width(self) -> int:
        """All features."""
        return self.shared + sum(self.own.values())

    def places(self, peer: str) -> NDArray[np.intp]:
        """Where a peer's own features stand."""
        start = self.shared + sum(n for name, n in sorted(self.own.items()) if name < peer)
        return np.arange(start, start + self.own[peer])


def block_layout(
    holdings: Mapping[str, NDArray[np.bool_]], shared: NDArray[np.intp]
) -> tuple[BlockLayout, NDArray[np.intp]]:
    """Where the features of peers that have these stand in theta, and in the dictionary."""
    width = len(next(iter(holdings.values())))
    common = np.isin(np.arange(width), shared)
    for name, has in holdings.items():
        if not has[shared].all():
            raise InputError(f"{name} must have every shared feature; share only what all have.")
        if not (has & ~common).any():
            raise InputError(f"{name} must have at least one feature of its own.")
    own = {name: np.flatnonzero(has & ~common) for name, has in sorted(holdings.items())}
    order = np.concatenate([shared, *own.values()])
    if len(order) != width or len(set(order.tolist())) != width:
        raise InputError("a feature must be shared by all peers or belong to one of them.")
    return BlockLayout(len(shared), {name: len(places) for name, places in own.items()}), order


@dataclass(frozen=True, repr=False)
class BlockData:
    """One peer's rows: shared features, own features and signs."""

    shared: Floats
    own: Floats
    signs: Floats
    identity: Identity = field(default_factory=Identity)

    @classmethod
    def of(cls, data: LocalData, shared: NDArray[np.intp]) -> "BlockData":
        """Told apart by where the shared features stand in the dictionary."""
        own = np.flatnonzero(data.has & ~np.isin(np.arange(data.has.size), shared))
        return cls(data.rows[:, shared], data.rows[:, own], data.signs, data.identity)

    def blocks(self) -> PeerBlocks:
        """Its blocks of enough rows."""
        return peer_blocks(self.shared, self.own, self.signs)


class BlockPeer(Staged):
    """A peer: gives sums over blocks of its own features, and judges candidates on its own rows."""

    def __init__(
        self, name: str, terms: TrainingTerms, shared: tuple[str, ...], data: LocalData
    ) -> None:
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self.data = terms, data
        self._shared = feature_places(shared, terms.features)
        self.model: LinearModel | None = None
        self.penalty = 0.0

    def _script(self) -> Script:
        terms, data = self.terms, BlockData.of(self.data, self._shared)
        yield from feature_agreement_peer(self.name, self.data)
        told = yield Stage("layout", self._listening("layout"))
        layout = told_layout(told.heard[COORDINATOR], len(self._shared), terms)
        if layout.own[self.name] != data.own.shape[1]:
            raise DamagedMessageError(f"the layout must have as many features of {self.name}'s.")
        blocks = data.blocks()
        names: dict[str, Value] = {"names": _table(tuple(sorted(blocks.sums)), layout)}
        yield Stage("blocks", lambda s: Teller(self.name, s, "blocks", {COORDINATOR: names}))
        told = yield Stage("common", self._listening("common"))
        common = _names(told.heard[COORDINATOR].array("names", "<f8", ndim=2), layout)
        values = lifted_blocks(blocks, common, layout, self.name)
        stage = rado_stage(terms, layout, len(common))
        yield Stage("rados", stage.peer(self.name, data.identity, values))
        if terms.recipe.penalty is None:
            told = yield Stage("trials", self._listening("trials"))
            thetas = told_trials(told.heard[COORDINATOR], layout)
            columns = np.concatenate([np.arange(layout.shared), layout.places(self.name)])
            rows = np.hstack([data.shared, data.own])
            errors = local_trial_errors(thetas, columns, rows, data.signs)
            stage = error_stage(terms)
            yield Stage("errors", stage.peer(self.name, data.identity, errors))
        told = yield Stage("model", self._listening("model"))
        self.model, self.penalty = told_model(told.heard[COORDINATOR], layout.width)

    def _listening(self, kind: str) -> "PartyMaker":
        return lambda s: Listener(self.name, s, kind, [COORDINATOR])


class BlockCoordinator(Staged):
    """Sees rados of at least five rows each, solves eq. 14, and tells theta."""

    def __init__(self, terms: TrainingTerms, shared: tuple[str, ...]) -> None:
        super().__init__(COORDINATOR, terms.session, STAGES, self._script())
        self.terms = terms
        self._shared = feature_places(shared, terms.features)
        self.model: LinearModel | None = None
        self.penalty = 0.0
        self.holdings: dict[str, Floats] = {}

    def _script(self) -> Script:
        terms, peers = self.terms, self.terms.peers
        self.holdings = yield from feature_agreement_coordinator(terms)
        held = {name: np.asarray(has, bool) for name, has in self.holdings.items()}
        layout, order = block_layout(held, self._shared)
        yield Stage("layout", self._telling("layout", {"own": dict(layout.own)}))
        heard = yield Stage("blocks", lambda s: Listener(COORDINATOR, s, "blocks", peers))
        given = {peer: told_blocks(heard.heard[peer], layout) for peer in peers}
        common = common_blocks(given)
        piece: dict[str, Value] = {"names": _table(common, layout)}
        yield Stage("common", self._telling("common", piece))
        stage = rado_stage(terms, layout, len(common))
        summed = yield Stage("rados", stage.adder())
        sums = stage.numbers.decode(summed.total).reshape(len(common), layout.width)
        rados = opened_rados(common, sums, layout)
        if terms.recipe.penalty is None:
            thetas = [solved_blocks(rados, penalty) for penalty in BLOCK_PENALTIES]
            numbers: dict[str, Value] = {"thetas": np.array(thetas)}
            yield Stage("trials", self._telling("trials", numbers))
            stage = error_stage(terms)
            summed = yield Stage("errors", stage.adder())
            errors = stage.numbers.decode(summed.total)
            self.penalty = BLOCK_PENALTIES[int(errors.argmin())]
        else:
            self.penalty = terms.recipe.penalty
        theta = np.zeros(layout.width)
        theta[order] = solved_blocks(rados, self.penalty)
        self.model = LinearModel(theta, 0.0)
        yield Stage("model", self._telling("model", model_piece(self.model, self.penalty)))

    def _telling(self, kind: str, piece: dict[str, Value]) -> "PartyMaker":
        pieces = dict.fromkeys(self.terms.peers, piece)
        return lambda s: Teller(COORDINATOR, s, kind, pieces)


def opened_rados(names: tuple[BlockName, ...], sums: Floats, layout: BlockLayout) -> Floats:
    """The rados from sums over all peers of their lifted blocks: the shared features beside."""
    shared = [layout.alpha * sign * np.array(values) for values, sign in names]
    return np.hstack([shared, sums[:, layout.shared :]])


def solved_blocks(rados: Floats, penalty: float) -> Floats:
    """Theta from rados, the columns of B: (B B' + n lambda I)^-1 B 1 (eq. 14)."""
    moments = RadoMoments.of(rados)
    return block_minimiser(moments, np.full(moments.width, penalty))


def common_blocks(given: Mapping[str, frozenset[BlockName]]) -> tuple[BlockName, ...]:
    """Blocks that every peer gave: without a peer's part its features would pass for zero."""
    found = tuple(sorted(frozenset.intersection(*given.values())))
    if not found:
        raise InputError("no block is large enough at every peer; share fewer or coarser features.")
    return found


def lifted_blocks(
    blocks: PeerBlocks, names: tuple[BlockName, ...], layout: BlockLayout, peer: str
) -> Floats:
    """A peer's summand: its sums in its own places, zero elsewhere.

    Private Text Classification, Definition 3: lift.
    """
    lifted = np.zeros((len(names), layout.width))
    for at, name in enumerate(names):
        if name in blocks.sums:
            lifted[at, layout.places(peer)] = blocks.sums[name]
    return lifted


def rado_stage(terms: TrainingTerms, layout: BlockLayout, blocks: int) -> SumStage:
    """The sum of all peers' lifted blocks."""
    return SumStage(terms, blocks * layout.width, terms.numbers(), terms.peers)


def error_stage(terms: TrainingTerms) -> SumStage:
    """Every candidate's errors."""
    return SumStage(terms, len(BLOCK_PENALTIES), terms.counts(), terms.peers)


def told_trials(message: Message, layout: BlockLayout) -> Floats:
    """The candidates' classifiers."""
    thetas = message.array("thetas", "<f8", ndim=2)
    if thetas.shape != (len(BLOCK_PENALTIES), layout.width):
        raise DamagedMessageError("a classifier must come for every candidate.")
    return thetas


def told_layout(message: Message, shared: int, terms: TrainingTerms) -> BlockLayout:
    """How many features everybody has."""
    own = message.payload.get("own")
    if not isinstance(own, Mapping) or set(own) != set(terms.peers):
        raise DamagedMessageError("a layout must say of every peer how many features it has.")
    counts = {name: count for name, count in own.items() if isinstance(count, int) and count > 0}
    layout = BlockLayout(shared, counts)
    if len(counts) != len(own) or layout.width != len(terms.features):
        raise DamagedMessageError(f"a layout must be of {len(terms.features)} features in all.")
    return layout


def told_blocks(message: Message, layout: BlockLayout) -> frozenset[BlockName]:
    """Which blocks a peer gives."""
    return frozenset(_names(message.array("names", "<f8", ndim=2), layout))


def _table(names: tuple[BlockName, ...], layout: BlockLayout) -> Floats:
    rows = [[*values, float(sign)] for values, sign in names]
    return np.array(rows).reshape(len(rows), layout.shared + 1)


def _names(table: Floats, layout: BlockLayout) -> tuple[BlockName, ...]:
    if table.ndim != 2 or table.shape[1] != layout.shared + 1:  # noqa: PLR2004 - a table
        raise DamagedMessageError(f"a block has {layout.shared} shared values and a label.")
    return tuple((tuple(row[:-1].tolist()), int(row[-1])) for row in table)
