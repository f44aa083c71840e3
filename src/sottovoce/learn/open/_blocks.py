"""Training without entity matching: peers with different features, joined by basic block rados.

Private Text Classification, Protocol 2 with Definition 3. All peers share some features, and each
has more of its own. Blocks are rows with equal shared features and label; of each block with at
least five rows (in a fold, where folds are opened) a peer gives the sum of y x over its own
features. Side by side these are the rados, and eq. 14 follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn._local_data import LocalData, feature_places
from sottovoce.learn._rados.blocks import (
    BLOCK_PENALTIES,
    BlockName,
    PeerBlocks,
    local_fold_blocks,
    local_trial_errors,
    peer_blocks,
)
from sottovoce.learn._rados.learners import block_minimiser
from sottovoce.learn._rados.rados import RadoMoments
from sottovoce.learn._ridge import LinearModel, penalty_from_errors
from sottovoce.learn._sums.keys import Identity
from sottovoce.learn._training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn._wire._refusals import DamagedMessageError
from sottovoce.learn._wire.codec import Value
from sottovoce.learn._wire.message import Message
from sottovoce.learn._wire.stages import Listener, Script, Stage, Staged, Teller
from sottovoce.learn.open._sums import SumStage
from sottovoce.learn.open._train import (
    feature_agreement_coordinator,
    feature_agreement_peer,
    model_piece,
    told_model,
)

if TYPE_CHECKING:
    from sottovoce.learn._wire.stages import PartyMaker


STAGES = (
    "features",
    "agreed",
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

    def blocks(self, folds: int) -> list[PeerBlocks]:
        """Its blocks, for each fold that will be opened."""
        if folds == 1:
            return [peer_blocks(self.shared, self.own, self.signs)]
        return local_fold_blocks(self.shared, self.own, self.signs, self.folds(folds), folds)

    def folds(self, number: int) -> NDArray[np.int64]:
        """Row i is in fold i modulo ``number``."""
        return np.arange(len(self.signs)) % number


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
        folds = terms.recipe.opened_folds
        yield from feature_agreement_peer(self.name, terms, self.data)
        told = yield Stage("layout", self._listening("layout"))
        layout = told_layout(told.heard[COORDINATOR], len(self._shared), terms)
        if layout.own[self.name] != data.own.shape[1]:
            raise DamagedMessageError(f"the layout must have as many features of {self.name}'s.")
        blocks = data.blocks(folds)
        names: dict[str, Value] = {"names": tuple(_table(part) for part in blocks)}
        yield Stage("blocks", lambda s: Teller(self.name, s, "blocks", {COORDINATOR: names}))
        told = yield Stage("common", self._listening("common"))
        common = _names(told.heard[COORDINATOR].array("names", "<f8", ndim=2), layout)
        values = lifted_blocks(blocks, common, layout, self.name)
        stage = rado_stage(terms, layout, len(common))
        yield Stage("rados", stage.peer(self.name, data.identity, values))
        if terms.recipe.penalty is None:
            told = yield Stage("trials", self._listening("trials"))
            trials = told_trials(told.heard[COORDINATOR], folds, layout)
            columns = np.concatenate([np.arange(layout.shared), layout.places(self.name)])
            rows = np.hstack([data.shared, data.own])
            errors = local_trial_errors(trials, columns, rows, data.signs, data.folds(folds))
            stage = error_stage(terms, len(trials))
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
        terms = self.terms
        folds, peers = terms.recipe.opened_folds, terms.peers
        self.holdings = yield from feature_agreement_coordinator(terms)
        held = {name: np.asarray(has, bool) for name, has in self.holdings.items()}
        layout, order = block_layout(held, self._shared)
        yield Stage("layout", self._telling("layout", {"own": dict(layout.own)}))
        heard = yield Stage("blocks", lambda s: Listener(COORDINATOR, s, "blocks", peers))
        given = {peer: told_blocks(heard.heard[peer], folds, layout) for peer in peers}
        common = common_blocks(given)
        piece: dict[str, Value] = {"names": np.array([[*s, float(y)] for s, y in common])}
        yield Stage("common", self._telling("common", piece))
        stage = rado_stage(terms, layout, len(common))
        summed = yield Stage("rados", stage.adder())
        sums = stage.numbers.decode(summed.total).reshape(folds, len(common), layout.width)
        sets = OpenedBlocks(common, given, sums, layout)
        if terms.recipe.penalty is None:
            trials = sets.trials(folds)
            numbers: dict[str, Value] = {"thetas": np.array(list(trials.values()))}
            yield Stage("trials", self._telling("trials", numbers))
            stage = error_stage(terms, len(trials))
            summed = yield Stage("errors", stage.adder())
            errors = stage.numbers.decode(summed.total)
            self.penalty = penalty_from_errors(trials, errors).penalty
        else:
            self.penalty = terms.recipe.penalty
        theta = np.zeros(layout.width)
        theta[order] = sets.solved(range(folds), self.penalty)
        self.model = LinearModel(theta, 0.0)
        yield Stage("model", self._telling("model", model_piece(self.model, self.penalty)))

    def _telling(self, kind: str, piece: dict[str, Value]) -> "PartyMaker":
        pieces = dict.fromkeys(self.terms.peers, piece)
        return lambda s: Teller(COORDINATOR, s, kind, pieces)


@dataclass(frozen=True)
class OpenedBlocks:
    """What the coordinator has: sums over all peers of their lifted blocks, by fold."""

    names: tuple[BlockName, ...]
    given: Mapping[str, list[frozenset[BlockName]]]
    sums: Floats
    layout: BlockLayout

    def solved(self, folds: "range | list[int]", penalty: float) -> Floats:
        """Theta from the blocks of some folds: (B B' + n lambda I)^-1 B 1 (eq. 14)."""
        moments = RadoMoments.of(self._rados(list(folds)))
        return block_minimiser(moments, np.full(moments.width, penalty))

    def trials(self, folds: int) -> dict[tuple[float, int], Floats]:
        """The classifier of every candidate without each fold."""
        without = [[other for other in range(folds) if other != k] for k in range(folds)]
        return {
            (penalty, k): self.solved(without[k], penalty)
            for penalty in BLOCK_PENALTIES
            for k in range(folds)
        }

    def _rados(self, folds: list[int]) -> Floats:
        """Blocks that every peer gave in some of these folds; a lacking one is left out."""
        rows = []
        for at, (values, sign) in enumerate(self.names):
            everybody = all(
                any(self.names[at] in given[k] for k in folds) for given in self.given.values()
            )
            if everybody:
                rado = self.sums[folds, at].sum(axis=0)
                rado[: self.layout.shared] = self.layout.alpha * sign * np.array(values)
                rows.append(rado)
        if not rows:
            raise InputError(
                "no block is large enough at every peer; share fewer or coarser features."
            )
        return np.array(rows)


def common_blocks(given: Mapping[str, list[frozenset[BlockName]]]) -> tuple[BlockName, ...]:
    """Blocks that every peer gave in some fold."""
    each = [frozenset.union(*folds) for folds in given.values()]
    found = tuple(sorted(frozenset.intersection(*each)))
    if not found:
        raise InputError("no block is large enough at every peer; share fewer or coarser features.")
    return found


def lifted_blocks(
    blocks: list[PeerBlocks], names: tuple[BlockName, ...], layout: BlockLayout, peer: str
) -> Floats:
    """A peer's summand: its sums in its own places, zero elsewhere.

    Private Text Classification, Definition 3: lift.
    """
    lifted = np.zeros((len(blocks), len(names), layout.width))
    for fold, part in enumerate(blocks):
        for at, name in enumerate(names):
            if name in part.sums:
                lifted[fold, at, layout.places(peer)] = part.sums[name]
    return lifted


def rado_stage(terms: TrainingTerms, layout: BlockLayout, blocks: int) -> SumStage:
    """The sum of all peers' lifted blocks."""
    size = terms.recipe.opened_folds * blocks * layout.width
    return SumStage(terms, size, terms.numbers(), terms.peers)


def error_stage(terms: TrainingTerms, trials: int) -> SumStage:
    """Rows, and every candidate's errors."""
    return SumStage(terms, 1 + trials, terms.counts(), terms.peers)


def told_trials(
    message: Message, folds: int, layout: BlockLayout
) -> dict[tuple[float, int], Floats]:
    """The candidates' classifiers."""
    keys = [(penalty, k) for penalty in BLOCK_PENALTIES for k in range(folds)]
    thetas = message.array("thetas", "<f8", ndim=2)
    if thetas.shape != (len(keys), layout.width):
        raise DamagedMessageError("a classifier must come for every candidate and fold.")
    return dict(zip(keys, thetas, strict=True))


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


def told_blocks(message: Message, folds: int, layout: BlockLayout) -> list[frozenset[BlockName]]:
    """Which blocks a peer gives, by fold."""
    tables = message.item("names", tuple)
    if len(tables) != folds or not all(isinstance(table, np.ndarray) for table in tables):
        raise DamagedMessageError(f"blocks must be named for each of {folds} folds.")
    return [frozenset(_names(np.asarray(table), layout)) for table in tables]


def _table(blocks: PeerBlocks) -> Floats:
    rows = [[*values, float(sign)] for values, sign in sorted(blocks.sums)]
    return np.array(rows).reshape(len(rows), blocks.shared_width + 1)


def _names(table: Floats, layout: BlockLayout) -> tuple[BlockName, ...]:
    if table.ndim != 2 or table.shape[1] != layout.shared + 1:  # noqa: PLR2004 - a table
        raise DamagedMessageError(f"a block has {layout.shared} shared values and a label.")
    return tuple((tuple(row[:-1].tolist()), int(row[-1])) for row in table)
