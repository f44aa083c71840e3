"""Training in the open mode: only sums over all peers are opened, and everybody gets theta.

Private Text Classification, Protocol 2, with the sums under pairwise masks: who adds them has no
key, and sees the aggregate only.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, assert_never

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DisagreementError
from sottovoce.learn.modes.guard import GUARD_STAGES, Guarded, guard_coordinator, guard_peer
from sottovoce.learn.modes.sums import (
    SumStage,
    alike_stages,
    check_total,
    told_alike,
    weights_of_documents,
)
from sottovoce.learn.rados.rados import rado_solutions, vector_size
from sottovoce.learn.ridge import (
    LinearModel,
    Standard,
    label_vector_size,
    lift_model,
    likeliest_penalties,
    ridge_of_labels,
    sums_of_labels,
)
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.support import (
    Flags,
    KeptFeatures,
    OpenedLimit,
    check_label_support,
    kept_from_sums,
    support_size,
)
from sottovoce.learn.training_terms import COORDINATOR, LocalData, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, Script, Stage, Staged, Teller

KEPT = "kept features"
KEPT_STAGES = ("support", "kept", *alike_stages(KEPT))
MOMENT_STAGES = ("moments", *alike_stages("moments"))
STAGES = ("features", *KEPT_STAGES, *GUARD_STAGES, *MOMENT_STAGES, "statistics", "model")


class SolvedClassifier(NamedTuple):
    """A classifier, and the penalty that it was solved with."""

    model: LinearModel
    penalty: float


class _EndingWithClassifiers(Staged):
    """A party that has the classifiers at the end."""

    solved: list[SolvedClassifier]
    guarded: Guarded | None = None

    @property
    def model(self) -> LinearModel | None:
        """The classifier, or the first of several; None before the end."""
        return self.solved[0].model if self.solved else None

    @property
    def penalty(self) -> float:
        """Of that classifier."""
        return self.solved[0].penalty if self.solved else 0.0


class TrainingPeer(_EndingWithClassifiers):
    """A peer: gives masked sums of its rows, and ends with the classifier."""

    def __init__(self, name: str, terms: TrainingTerms, data: LocalData) -> None:
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self.data = terms, data
        self.solved = []
        self.kept: KeptFeatures | None = None
        self.survivors: tuple[str, ...] = ()

    def _script(self) -> Script:
        terms, data = self.terms, self.data
        yield from feature_agreement_peer(self.name, data)
        supported = yield from support_peer(self.name, terms, data)
        self.data = data = supported.data
        peers = self.survivors = supported.peers
        self.guarded = yield from guard_peer(self.name, terms, data, supported.kept, peers)
        self.kept = self.guarded.kept
        standard = None
        if needs_standard(terms):
            standard = yield from standardise_peer(self.name, terms, data, self.kept, peers)
        stage = statistics_stage(terms, self.kept, peers)
        values = local_statistics(data, terms, self.kept, standard)
        yield Stage("statistics", stage.peer(self.name, data.identity, values))
        told = yield Stage("model", lambda s: Listener(self.name, s, "model", [COORDINATOR]))
        self.solved = told_models(told.heard[COORDINATOR], len(terms.features), terms.classifiers)


class TrainingCoordinator(_EndingWithClassifiers):
    """Adds what it cannot read, solves the opened aggregate and tells everybody theta."""

    def __init__(self, terms: TrainingTerms, limit: OpenedLimit | None = None) -> None:
        super().__init__(COORDINATOR, terms.session, STAGES, self._script())
        self.terms, self._limit = terms, limit or OpenedLimit()
        self.solved = []
        self.holdings: dict[str, Floats] = {}
        self.survivors: tuple[str, ...] = ()

    def _script(self) -> Script:
        terms = self.terms
        self.holdings = yield from feature_agreement_coordinator(terms)
        supported, peers = yield from support_coordinator(terms)
        self.survivors = peers
        self.guarded = yield from guard_coordinator(terms, supported, peers, self._limit)
        kept = self.guarded.kept
        standard = None
        if needs_standard(terms):
            standard = yield from standardise_coordinator(terms, kept, peers)
        stage = statistics_stage(terms, kept, peers)
        summed = yield Stage("statistics", stage.adder())
        opened = stage.numbers.decode(summed.total)
        if standard is None:
            check_total(opened, terms, kept, peers)
        solved = solved_statistics(opened, terms, kept, standard)
        self.solved = [
            SolvedClassifier(lift_model(each.model, kept), each.penalty) for each in solved
        ]
        piece = models_piece(self.solved)
        pieces = dict.fromkeys(peers, piece)
        yield Stage("model", lambda s: Teller(self.name, s, "model", pieces))


def feature_agreement_peer(name: str, data: LocalData) -> Generator[Stage, Any, None]:
    """Send f_p; everybody has signed already what the features are.

    Private Text Classification, Protocol 2: f_p to the coordinator.
    """
    piece: dict[str, Value] = {"has": data.has}
    yield Stage("features", lambda s: Teller(name, s, "features", {COORDINATOR: piece}))


def feature_agreement_coordinator(terms: TrainingTerms) -> Generator[Stage, Any, dict[str, Floats]]:
    """Hear every peer's f_p."""
    heard = yield Stage("features", lambda s: Listener(COORDINATOR, s, "features", terms.peers))
    width = len(terms.features)
    return {peer: _holding(message, width) for peer, message in heard.heard.items()}


def support_stage(terms: TrainingTerms) -> SumStage:
    """How many documents use each feature; who is told the sum decides what may be opened."""
    recipe = terms.recipe
    size = support_size(recipe.fewest_documents) * terms.counted_columns
    return SumStage(terms, size, terms.counts(), terms.peers, everyone=False)


class Supported(NamedTuple):
    """What a peer knows after the support was counted."""

    data: LocalData
    kept: KeptFeatures
    peers: tuple[str, ...]


def support_peer(
    name: str, terms: TrainingTerms, data: LocalData
) -> Generator[Stage, Any, Supported]:
    """Add one's support, and hear which features are kept; no peer hears a count."""
    support = data.support(terms.recipe.fewest_documents, labels=terms.opens_labels)
    made = support_stage(terms).peer(name, data.identity, support, data.among)
    summed = yield Stage("support", made)
    told = yield Stage("kept", lambda s: Listener(name, s, "kept", [COORDINATOR]))
    decided = told.heard[COORDINATOR].array("kept", "|b1")
    if decided.size != terms.counted_features or not decided.any():
        raise DamagedMessageError(f"of {terms.counted_features} features some must be kept.")
    yield from told_alike(terms, KEPT, summed.survivors, decided).party(name, data.identity)
    return Supported(data.restrict(decided), opened_columns(decided, terms), summed.survivors)


def support_coordinator(
    terms: TrainingTerms,
) -> Generator[Stage, Any, tuple[KeptFeatures, tuple[str, ...]]]:
    """Add up support, and tell the peers what is kept, and nothing else."""
    summed = yield Stage("support", support_stage(terms).adder())
    decided = supported_features(summed.total, terms)
    piece: dict[str, Value] = {"kept": decided}
    pieces = dict.fromkeys(summed.survivors, piece)
    yield Stage("kept", lambda s: Teller(COORDINATOR, s, "kept", pieces))
    yield from told_alike(terms, KEPT, summed.survivors, decided).party(COORDINATOR)
    return opened_columns(decided, terms), summed.survivors


def moments_stage(terms: TrainingTerms, kept: KeptFeatures, peers: tuple[str, ...]) -> SumStage:
    """Means and scales, which every peer needs to standardise its rows."""
    return SumStage(
        terms, 1 + 2 * kept.width, terms.numbers(terms.recipe.moment_bits), peers, told=True
    )


def standardise_peer(
    name: str, terms: TrainingTerms, data: LocalData, kept: KeptFeatures, peers: tuple[str, ...]
) -> Generator[Stage, Any, Standard]:
    """Add one's moments, and hear how rows are standardised."""
    stage = moments_stage(terms, kept, peers)
    summed = yield Stage("moments", stage.peer(name, data.identity, data.moments(kept)))
    yield from told_alike(terms, "moments", peers, summed.total).party(name, data.identity)
    return told_standard(stage, summed.total, kept)


def standardise_coordinator(
    terms: TrainingTerms, kept: KeptFeatures, peers: tuple[str, ...]
) -> Generator[Stage, Any, Standard]:
    """Add up moments, and let every peer see that all were told the same."""
    stage = moments_stage(terms, kept, peers)
    summed = yield Stage("moments", stage.adder())
    yield from told_alike(terms, "moments", peers, summed.total).party(COORDINATOR)
    return told_standard(stage, summed.total, kept)


def needs_standard(terms: TrainingTerms) -> bool:
    """Whether rows are standardised before they are summed: exact sums need no standard."""
    match terms.recipe.statistics:
        case "exact":
            return False
        case "rados":
            return True
        case _:
            assert_never(terms.recipe.statistics)


def told_standard(stage: SumStage, total: Ring, kept: KeptFeatures) -> Standard:
    """How to standardise, from summed moments that every peer has rounded once."""
    rounding = len(stage.peers) * stage.numbers.step / 2
    return Standard.from_moments(stage.numbers.decode(total), kept, rounding=rounding)


def statistics_stage(terms: TrainingTerms, kept: KeptFeatures, peers: tuple[str, ...]) -> SumStage:
    """What the classifier is solved from."""
    match terms.recipe.statistics:
        case "rados":
            d = kept.width + 1
            size = vector_size(d) - 1 + (terms.classifiers - 1) * d
            return SumStage(terms, size, terms.numbers(), peers)
        case "exact":
            size = label_vector_size(kept.width, terms.classifiers)
            weights = weights_of_documents(terms, kept, peers)
            return SumStage(terms, size, terms.numbers(), peers, weights=weights)
        case _:
            assert_never(terms.recipe.statistics)


def supported_features(total: Ring, terms: TrainingTerms) -> Flags:
    """The minimum support guard, before anything else is opened: of each feature, or word.

    Where sums by label are opened, it is of the labels too.
    """
    recipe = terms.recipe
    documents, peers = recipe.fewest_documents, recipe.fewest_peers
    supports = terms.counts().decode(total).reshape(support_size(documents), -1)
    features, labels = np.split(supports, [terms.counted_features], axis=1)
    if terms.opens_labels:
        check_label_support(labels.ravel(), fewest_documents=documents, fewest_peers=peers)
    return kept_from_sums(features.ravel(), fewest_documents=documents, fewest_peers=peers).kept


def opened_columns(decided: Flags, terms: TrainingTerms) -> KeptFeatures:
    """The columns that are opened: the kept features, or those that kept words add to."""
    mapping = terms.mapping
    kept = decided if mapping is None else mapping.columns_of(decided)
    return KeptFeatures(kept)


def local_statistics(
    data: LocalData, terms: TrainingTerms, kept: KeptFeatures, standard: Standard | None
) -> Floats:
    """A peer's summand."""
    if standard is None:
        return data.sums(kept)
    return data.rado_moments(standard, terms.recipe.rados)


def solved_statistics(
    total: Floats, terms: TrainingTerms, kept: KeptFeatures, standard: Standard | None
) -> list[SolvedClassifier]:
    """The classifiers of the kept features, and their penalties, from the opened aggregate."""
    recipe = terms.recipe
    if standard is not None:
        if recipe.penalty is None:
            raise DisagreementError("rados need a penalty that is agreed on beforehand.")
        solutions = rado_solutions(total, standard, recipe.penalty, terms.classifiers)
        return [SolvedClassifier(each, recipe.penalty) for each in solutions]
    sums = sums_of_labels(total, kept.width, terms.classifiers)
    if recipe.penalty is None:
        penalties = likeliest_penalties(sums, recipe.penalties)
    else:
        penalties = [recipe.penalty] * len(sums)
    solved = {penalty: ridge_of_labels(sums, penalty) for penalty in set(penalties)}
    return [SolvedClassifier(solved[penalty][k], penalty) for k, penalty in enumerate(penalties)]


def models_piece(solved: list[SolvedClassifier]) -> dict[str, Value]:
    """Classifiers as a message carries them, one after the other."""
    return {
        "coefficients": np.concatenate([each.model.coefficients for each in solved]),
        "numbers": np.ravel([(each.model.intercept, each.penalty) for each in solved]),
    }


def told_models(message: Message, width: int, number: int) -> list[SolvedClassifier]:
    """The classifiers of a message."""
    coefficients = message.array("coefficients", "<f8")
    numbers = message.array("numbers", "<f8")
    if coefficients.size != number * width or numbers.size != 2 * number:
        raise DamagedMessageError(
            f"{number} classifiers of {width} features must come with two numbers each."
        )
    rows, pairs = coefficients.reshape(number, width), numbers.reshape(number, 2)
    return [
        SolvedClassifier(LinearModel(row, float(pair[0])), float(pair[1]))
        for row, pair in zip(rows, pairs, strict=True)
    ]


def _holding(message: Message, width: int) -> Floats:
    has = message.array("has", "|b1")
    if has.size != width:
        raise DisagreementError(f"{message.sender} must say of {width} features which it has.")
    return has
