"""One text classifier of several holders, with scikit-learn's conventions."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, MissingExtraError
from sottovoce.learn._examples import label_names
from sottovoce.learn._train import train
from sottovoce.learn.features import Dictionary, FeatureMap, FeatureValues, TextRecipe, Unit
from sottovoce.learn.run.evaluate import ConfusionCounts, JointEvaluation
from sottovoce.learn.run.party import Connection
from sottovoce.learn.training_terms import Mode

if TYPE_CHECKING:
    from sottovoce.learn._trained import TrainedClassifier
    from sottovoce.learn.documents import Documents

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError("scikit-learn", "learn") from error


Given: TypeAlias = "Documents | tuple[Sequence[str], ArrayLike]"


class FederatedTextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # sklearn has no types
    """A classifier of texts that several peers hold, none of whom shows them.

    Args:
        mode: the trust mode: ``open`` or ``hidden``.
        dictionary: ``agreed``, ``given``, ``hashed`` or ``mapped``; see `TextRecipe`.
        words: the public list of words, where there is one.
        values: ``binary`` or ``counts``.
        width: how many columns there are at most.
        unit: what has a label: a ``document`` or a ``sentence``.
        mapping: from words to columns, for ``mapped``.
        text_options: further fields of `TextRecipe`.
        labels: all labels; None: the peers agree on them.
        held_out: about what fraction of its documents each peer keeps for `evaluate`, in blocks of
            five; with 0 it counts on those that were trained on.
        penalty: ridge's lambda; None chooses it, where the mode allows.
        options: further fields of `Recipe`, such as ``solver`` or ``queries``.
        keys: the coordinator's and the key holder's Paillier keys; None makes fresh ones.

    Attributes:
        classes_: the labels, in the type in which they were given; a federation elsewhere knows
            them as texts.
        trained_: the `TrainedClassifier`, with its leakage, traffic and connection.
        leakage_: who learnt what.

    Example:
        >>> from sottovoce.learn import FederatedTextClassifier
        >>> mine = (["cheap pills now", "lunch at noon"] * 12, [1, 0] * 12)
        >>> classifier = FederatedTextClassifier(dictionary="hashed", width=30, penalty=0.1)
        >>> classifier = classifier.fit({"ada": mine, "ben": mine, "cy": mine})
        >>> classifier.predict(["pills, cheap!"]).tolist()
        [1]
    """

    def __init__(
        self,
        *,
        mode: Mode = "open",
        dictionary: Dictionary = "agreed",
        words: Sequence[str] = (),
        values: FeatureValues = "binary",
        width: int = 1000,
        unit: Unit = "document",
        mapping: FeatureMap | None = None,
        text_options: Mapping[str, Any] | None = None,
        labels: Sequence[Any] | None = None,
        held_out: float = 0.0,
        penalty: float | None = None,
        options: Mapping[str, Any] | None = None,
        keys: tuple[Any, Any] | None = None,
    ) -> None:
        self.mode = mode
        self.dictionary = dictionary
        self.words = words
        self.values = values
        self.width = width
        self.unit = unit
        self.mapping = mapping
        self.text_options = text_options
        self.labels = labels
        self.held_out = held_out
        self.penalty = penalty
        self.options = options
        self.keys = keys

    def fit(self, X: "Mapping[str, Given] | Connection", y: None = None) -> Self:  # noqa: N803 - sklearn's name
        """Train across peers: their texts and labels by name, or a running federation.

        Private Text Classification, Protocol 2.
        """
        if y is not None:
            raise InputError("each peer brings its labels with its texts: pass no y.")
        if not isinstance(X, Mapping | Connection):
            raise InputError(
                "fit takes a mapping of peers' names to (texts, labels), or a connection."
            )
        further = dict(self.text_options or {})
        if unknown := set(further) - {each.name for each in fields(TextRecipe)}:
            raise InputError(f"text_options must be fields of TextRecipe, got {sorted(unknown)}.")
        columns = ("mode", "dictionary", "words", "values", "width", "unit", "mapping")
        chosen = {name: getattr(self, name) for name in (*columns, "held_out", "keys", "penalty")}
        self.trained_: TrainedClassifier = train(
            X, labels=self.labels, **{**(self.options or {}), **chosen, **further}
        )
        self.classes_ = self.trained_.classes_
        self.leakage_ = self.trained_.leakage
        return self

    def predict(self, X: Sequence[str], *, peer: str | None = None) -> NDArray[Any]:  # noqa: N803 - sklearn's name
        """A label per text: by this peer alone in the open mode, else by a query of ``peer``.

        Private Text Classification, Protocol 3.
        """
        check_is_fitted(self)
        return self.trained_.predict(X, peer=peer)

    def decision_function(self, X: Sequence[str]) -> Floats:  # noqa: N803 - sklearn's name
        """A score per text, and per label where there are more than two."""
        check_is_fitted(self)
        return self.trained_.decision_function(X)

    def score(self, X: Sequence[str], y: ArrayLike, *, peer: str | None = None) -> float:  # noqa: N803 - sklearn's name
        """The share of texts whose label is found."""
        truth = label_names(y, len(X))
        if truth is None:
            raise InputError("labels must be given to score against.")
        found = label_names(self.predict(X, peer=peer), len(X)) or ()
        return float(np.mean(np.array(found) == np.array(truth)))

    def evaluate(
        self, *, rows: int = 0, training_data: bool = False
    ) -> ConfusionCounts | JointEvaluation:
        """Counts over what all peers hold out: see `TrainedClassifier.evaluate`."""
        check_is_fitted(self)
        return self.trained_.evaluate(rows=rows, training_data=training_data)
