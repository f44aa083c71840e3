"""One text classifier of several holders, with scikit-learn's conventions."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, MissingExtraError
from sottovoce.learn._examples import LabelValues, check_one_kind, label_names
from sottovoce.learn._holders import named_holders
from sottovoce.learn.data_digest import check_estimate
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import Dictionary, FeatureMap, FeatureValues, TextRecipe, Unit
from sottovoce.learn.run.classify import call_labels, scores
from sottovoce.learn.run.evaluate import JointEvaluation
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.party import Connection, InProcess
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.run.terms import RunKind, RunTerms
from sottovoce.learn.training_terms import Mode, Recipe, mode_recipe
from sottovoce.learn.wire.codec import texts as texts_of
from sottovoce.learn.wire.message import new_session

if TYPE_CHECKING:
    from sottovoce.learn.wire.message import Leakage

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
        result_: what this machine's peer keeps of the training.
        leakage_: who learnt what.
        connection_: through which runs are done.

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
        self.connection_: Connection = self._connected(X)
        labels = self._given_labels(X)
        check_one_kind(labels)
        self.label_values_ = LabelValues.of(labels)
        self.terms_ = self._terms("train", self.connection_.identities)
        kept = self.connection_.run(self.terms_, {})
        self.result_ = kept[self.connection_.here]
        self.classes_ = self.label_values_.of_names(texts_of(self.result_, "labels"))
        self.leakage_: Leakage = run_leakage(self.terms_)
        return self

    def predict(self, X: Sequence[str], *, peer: str | None = None) -> NDArray[Any]:  # noqa: N803 - sklearn's name
        """A label per text: by this peer alone in the open mode, else by a query of ``peer``.

        Private Text Classification, Protocol 3.
        """
        check_is_fitted(self)
        return self.label_values_.of_names(self._called(X, peer))

    def _called(self, texts: Sequence[str], peer: str | None) -> tuple[str, ...]:
        documents = Documents.of(texts)
        if self.mode == "open":
            return call_labels(read_trained(self.result_), documents)
        asker = self.connection_.here if peer is None else peer
        terms = self._terms(
            "classify", self.connection_.identities, asker=asker, rows=len(documents)
        )
        kept = self.connection_.run(terms, {asker: documents})
        return texts_of(kept[asker], "labels")

    def decision_function(self, X: Sequence[str]) -> Floats:  # noqa: N803 - sklearn's name
        """A score per text, and per label where there are more than two."""
        check_is_fitted(self)
        if self.mode != "open":
            raise LeakError("nobody has theta in this mode, and so nobody has scores; predict.")
        found = scores(read_trained(self.result_), Documents.of(X))
        return found[:, 0] if found.shape[1] == 1 else found

    def score(self, X: Sequence[str], y: ArrayLike, *, peer: str | None = None) -> float:  # noqa: N803 - sklearn's name
        """The share of texts whose label is found."""
        truth = label_names(y, len(X))
        if truth is None:
            raise InputError("labels must be given to score against.")
        check_is_fitted(self)
        return float(np.mean(np.array(self._called(X, peer)) == np.array(truth)))

    def evaluate(self, *, rows: int = 0, training_data: bool = False) -> JointEvaluation:
        """Counts over what all peers hold out, by a secure sum.

        Where the classifier is nobody's to read, ``rows`` of each peer are classified by queries.
        Where nothing was held out this is refused; ``training_data`` counts what was trained on,
        which is no estimate.
        """
        check_is_fitted(self)
        check_estimate(self.terms_.held_out, training_data=training_data)
        terms = self._terms("evaluate", self.connection_.identities, rows=rows)
        return JointEvaluation.from_record(self.connection_.run(terms, {})[self.connection_.here])

    def _connected(self, given: "Mapping[str, Given] | Connection") -> Connection:
        if not isinstance(given, Mapping):
            if isinstance(given, Connection):
                return given
            raise InputError(
                "fit takes a mapping of peers' names to (texts, labels), or a connection."
            )
        peers = {
            name: each if isinstance(each, Documents) else Documents.of(each[0], each[1])
            for name, each in named_holders(given).items()
        }
        return InProcess(peers, self.keys)

    def _given_labels(self, given: "Mapping[str, Given] | Connection") -> list[ArrayLike]:
        """Every holder's labels as they came, and those of ``labels``."""
        known: list[ArrayLike] = [] if self.labels is None else [list(self.labels)]
        if isinstance(given, Mapping):
            pairs = (
                each.labels if isinstance(each, Documents) else each[1] for each in given.values()
            )
            known += [labels for labels in pairs if labels is not None]
        return known

    def _terms(
        self, kind: RunKind, identities: Mapping[str, bytes], *, asker: str = "", rows: int = 0
    ) -> RunTerms:
        return RunTerms(
            new_session(),
            kind,
            self.mode,
            identities,
            self._recipe(),
            self._text(),
            labels=self._label_names(),
            held_out=self.held_out,
            training=b"" if kind == "train" else self.terms_.session,
            asker=asker,
            rows=rows,
        )

    def _label_names(self) -> tuple[str, ...]:
        if self.labels is None:
            return ()
        return tuple(sorted(label_names(self.labels, len(self.labels)) or ()))

    def _recipe(self) -> Recipe:
        return mode_recipe(self.mode, {**(self.options or {}), "penalty": self.penalty})

    def _text(self) -> TextRecipe:
        further = dict(self.text_options or {})
        if unknown := set(further) - {each.name for each in fields(TextRecipe)}:
            raise InputError(f"text_options must be fields of TextRecipe, got {sorted(unknown)}.")
        return TextRecipe(
            dictionary=self.dictionary,
            words=tuple(self.words),
            values=self.values,
            width=self.width,
            unit=self.unit,
            mapping=self.mapping,
            **further,
        )
