"""One call that trains across peers in this process, for notebooks, studies and benches."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats, LeakError, Rows, checked_rows
from sottovoce.learn.learners.evaluation import Evaluation, evaluation_from_sums, local_counts
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.party import Faults, Leakage, Said, Traffic, new_session
from sottovoce.learn.protocols.engines import (
    BlockEngine,
    Engine,
    Offset,
    OpenEngine,
    Query,
)
from sottovoce.learn.protocols.given import Given, Training, checked_training, signs_of
from sottovoce.learn.protocols.local import feature_places
from sottovoce.learn.protocols.modes import (
    DROPPED_WARNING,
    PAPER_WARNING,
    DroppedFeaturesWarning,
    PaperModeWarning,
    among,
    mode_leakage,
)
from sottovoce.learn.protocols.terms import Mode, Recipe, TrainingTerms
from sottovoce.learn.sums import secure_total
from sottovoce.notebook import html_facts

MODES: tuple[Mode, ...] = ("open", "hidden", "paper")
DEFAULT_PENALTY = 0.1


def train(
    peers: Sequence[Given] | Mapping[str, Given],
    *,
    mode: Mode = "open",
    features: Sequence[str] | Sequence[Sequence[str]] | None = None,
    shared: Sequence[str] | None = None,
    keys: tuple[Any, Any] | None = None,
    faults: Faults | None = None,
    **options: Any,  # noqa: ANN401 - fields of Recipe, checked by it
) -> "TrainedClassifier":
    """Train one two-class classifier across peers, each with rows and labels of its own.

    Private Text Classification, Protocol 2.

    Args:
        peers: each peer's rows and labels, by name or in a list.
        mode: ``open`` (only sums over all peers are opened, everybody gets theta), ``hidden``
            (nobody sees the sums or theta) or ``paper`` (the coordinator holds the key; warns).
        features: the names of the columns, for all peers or for each; a feature that a peer lacks
            is zero in its rows. None if all have the same columns.
        shared: the features that all peers have, where each has others of its own besides and
            nobody can match entities: trains on basic block rados (open mode, masks).
        keys: the coordinator's and the key holder's Paillier keys; None makes fresh ones.
        faults: what goes wrong between the parties, for tests.
        options: fields of `Recipe`: ``penalty``, ``way``, ``statistics``, ``solver``, ...

    ``penalty`` None chooses lambda by cross-validation in the open mode with exact statistics, and
    is 0.1 elsewhere.
    """
    if mode not in MODES:
        raise ParameterError(f"mode must be one of {', '.join(MODES)}, got {mode!r}.")
    recipe = mode_recipe(mode, options)
    training = checked_training(peers, features)
    identities = {name: data.identity.public for name, data in training.data.items()}
    terms = TrainingTerms(new_session(), identities, training.dictionary, recipe)
    if mode == "paper":
        warnings.warn(PAPER_WARNING, PaperModeWarning, stacklevel=2)
    if shared is not None:
        engine: Engine = _block_engine(mode, terms, training, tuple(shared), faults)
    else:
        engine = _engine(mode, terms, training, keys, faults)
    _warn_of_dropped(training, engine)
    leakage = mode_leakage(mode, recipe, blocks=shared is not None)
    return TrainedClassifier(mode, terms, training, engine, among(len(peers), leakage))


def _warn_of_dropped(training: Training, engine: Engine) -> None:
    if engine.kept is None:
        return
    holders = np.sum([data.has for data in training.data.values()], axis=0)
    lost = int(np.sum((holders == 1) & ~engine.kept.kept))
    if lost:
        text = DROPPED_WARNING.format(lost, len(training.dictionary))
        warnings.warn(text, DroppedFeaturesWarning, stacklevel=3)


class TrainedClassifier:
    """A classifier of several peers, and all of its parties: what `train` gives back.

    Attributes:
        classes_: the two labels; scores are positive for the second.
        mode: the trust mode.
        leakage: who has learnt what.
        traffic: what the training cost on the wire; ``query_traffic`` what the last query did.
        transcript: every message of the training: sender, receiver, step, kind and bytes.
        penalty: ridge's lambda.
    """

    def __init__(
        self,
        mode: Mode,
        terms: TrainingTerms,
        training: Training,
        engine: Engine,
        leakage: Leakage,
    ) -> None:
        self.mode, self.terms = mode, terms
        self.classes_ = training.classes
        self.penalty = engine.penalty
        self.traffic: Traffic = engine.exchange.traffic
        self.transcript: tuple[Said, ...] = tuple(engine.exchange.transcript)
        self.query_traffic = Traffic()
        self.leakage = leakage
        self._training, self._engine = training, engine

    @property
    def rounds(self) -> int:
        """Of the training."""
        return self.traffic.rounds

    @property
    def bytes(self) -> int:
        """Of the training, sent by all parties."""
        return self.traffic.bytes

    @property
    def coef_(self) -> Floats:
        """Theta of the features as they came; nobody has it in the hidden mode."""
        return self._model().coefficients[None, :]

    @property
    def intercept_(self) -> Floats:
        """The intercept; nobody has it in the hidden mode."""
        return np.array([self._model().intercept])

    @property
    def features_(self) -> tuple[str, ...]:
        """The common dictionary, in the order of ``coef_``."""
        return self.terms.features

    def predict(
        self,
        X: "Rows | Mapping[str, Rows]",  # noqa: N803 - sklearn's name
        *,
        peer: str | None = None,
        offset: Offset | None = None,
    ) -> NDArray[Any]:
        """A label per row, asked for by ``peer`` (the first one by default).

        Private Text Classification, Protocol 3.

        Args:
            X: rows over the asking peer's features; or, where peers hold parts of the same
                entities, each peer's rows by its name, row i of each being the same entity.
            peer: who asks, and learns the labels.
            offset: what peers that do not know the entities add: ``mean``, the mean row of a
                rado; ``print``, the whole rado, as the paper has it (paper mode only).
        """
        asker = self.terms.peers[0] if peer is None else peer
        parts = X if isinstance(X, Mapping) else {asker: X}
        if asker not in parts or not set(parts) <= set(self.terms.peers):
            raise InputError(
                "rows must come from peers of the training, the asking one among them."
            )
        lifted = {name: self._lifted(name, rows) for name, rows in parts.items()}
        if len({len(rows) for rows in lifted.values()}) != 1:
            raise InputError("peers must give as many rows each: row i of each is one entity.")
        signs, self.query_traffic = self._engine.signs(Query(asker, lifted, offset))
        labels: NDArray[Any] = self.classes_[(signs > 0).astype(int)]
        return labels

    def evaluate(self, held: Mapping[str, tuple[Rows, ArrayLike]]) -> Evaluation:
        """Errors over all peers' held-out rows, by a secure sum of four counts."""
        counts = {name: self._counts(name, *given) for name, given in held.items()}
        recipe = self.terms.recipe
        summed = secure_total(
            counts, bound=float(1 << 40), fraction_bits=0, allow_two=recipe.allow_two
        )
        return evaluation_from_sums(summed.total)

    def _counts(self, name: str, rows: Rows, labels: ArrayLike) -> Floats:
        predicted = signs_of(self.predict(rows, peer=name), self.classes_)
        return local_counts(predicted, signs_of(np.asarray(labels), self.classes_))

    def _lifted(self, name: str, rows: Rows) -> Floats:
        own, names = checked_rows(rows), self._training.names[name]
        if own.shape[1] != len(names):
            raise InputError(f"{name}'s rows must have {len(names)} features, got {own.shape[1]}.")
        whole = np.zeros((len(own), len(self.terms.features)))
        whole[:, feature_places(names, self.terms.features)] = own
        return whole

    @property
    def kept_(self) -> tuple[str, ...]:
        """The features that were trained on: those that enough documents and peers use."""
        kept = self._engine.kept
        if kept is None:
            return self.terms.features
        return tuple(np.array(self.terms.features, object)[kept.kept])

    def _repr_html_(self) -> str:
        facts = {
            "mode": self.mode,
            "peers": len(self.terms.peers),
            "features": len(self.features_),
            "kept": len(self.kept_),
            "lambda": self.penalty,
            "rounds": self.rounds,
            "bytes": self.bytes,
        }
        return html_facts(facts) + self.leakage._repr_html_()

    def _model(self) -> LinearModel:
        if self.mode == "hidden" or self._engine.model is None:
            raise LeakError("nobody has theta in the hidden mode; ask with predict.")
        return self._engine.model


def mode_recipe(mode: Mode, options: dict[str, Any]) -> Recipe:
    """A recipe from a user's options, with what the mode needs where nothing is said."""
    unknown = set(options) - set(Recipe.__dataclass_fields__)
    if unknown:
        known = ", ".join(Recipe.__dataclass_fields__)
        raise ParameterError(f"options must be among {known}; got {', '.join(sorted(unknown))}.")
    if mode == "paper":
        options = {"statistics": "rados", **options}
    chosen_by_folds = mode == "open" and options.get("statistics", "exact") == "exact"
    if not chosen_by_folds and options.get("penalty") is None:
        options = {**options, "penalty": DEFAULT_PENALTY}
    return Recipe(**options)


def _block_engine(
    mode: Mode,
    terms: TrainingTerms,
    training: Training,
    shared: tuple[str, ...],
    faults: Faults | None,
) -> BlockEngine:
    if mode != "open" or terms.recipe.way != "masks":
        raise ParameterError("shared features are for the open mode, with way='masks'.")
    return BlockEngine(terms, training, shared, faults=faults)


def _engine(
    mode: Mode,
    terms: TrainingTerms,
    training: Training,
    keys: tuple[Any, Any] | None,
    faults: Faults | None,
) -> Engine:
    if mode == "hidden":
        from sottovoce.learn.protocols.hidden_engine import HiddenEngine  # noqa: PLC0415 - gmpy2

        return HiddenEngine(terms, training, keys=keys, faults=faults)
    if mode == "paper":
        from sottovoce.learn.protocols.paper_engine import PaperEngine  # noqa: PLC0415 - gmpy2

        return PaperEngine(terms, training, key=keys[0] if keys else None, faults=faults)
    return OpenEngine(terms, training, key=keys[1] if keys else None, faults=faults)
