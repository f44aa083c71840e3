"""What the classifiers of releases have in common: scikit-learn's conventions, and two readings."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.noise_law import NoiseLaw, Rate, law_of
from sottovoce.release.analysis.moments import Rows, row_blocks
from sottovoce.release.classify.features import ExpectedCells, Feature, with_values
from sottovoce.release.classify.inputs import (
    BLOCK_CELLS,
    LabelledRows,
    ReleasedCounts,
    encode_labels,
    is_release,
    refuse_several_maps,
    refuse_texts,
)
from sottovoce.release.counts import Counts, Matrix, checked_counts

HOTTEST = 4.0


@dataclass(frozen=True, eq=False)
class LinearReader:
    """A score for each class: intercept + weights . f(c), or f(c)'s expectation where c is hidden.

    Attributes:
        feature: f, which is summed.
        weights: words x classes.
        intercepts: of each class.
        expected: E[f(c) | z].
    """

    feature: Feature
    weights: Floats
    intercepts: Floats
    expected: ExpectedCells

    def scores(self, counts: Counts) -> Floats:
        """Of true documents."""
        return np.asarray(with_values(counts, self.feature) @ self.weights + self.intercepts)

    def released_scores(self, cells: Counts) -> Floats:
        """Of released documents."""
        return self.expected.scores(cells, self.weights, self.intercepts)


@dataclass(frozen=True)
class Calibration:
    """A factor for scores, and the mean logarithmic loss that they then have."""

    temperature: float
    loss: float


def calibration(scores: Floats, intercepts: Floats, codes: Integers) -> Calibration:
    """The factor of ``scores`` with the least loss; independence makes sums of words too sure."""
    found = optimize.minimize_scalar(
        lambda factor: log_loss(factor * scores + intercepts, codes),
        bounds=(0.0, HOTTEST),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return Calibration(float(found.x), float(found.fun))


def log_loss(scores: Floats, codes: Integers) -> float:
    """The mean of -ln of the probability that ``scores`` give to the right class."""
    return float(np.mean(special.logsumexp(scores, axis=1) - scores[np.arange(codes.size), codes]))


class ReleasedDocumentsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # sklearn has no types
    """Learns from released cells and labels; tells the class of true and of released documents."""

    rate: Rate
    random_state: int
    classes_: NDArray[Any]
    law_: NoiseLaw
    reader_: LinearReader
    held_out_loss_: float
    """The mean of -ln P(right class) of released documents that a fit on others was asked for."""
    candidates_: dict[str, float]
    """Where the classifier was chosen: the held-out loss of each candidate."""
    chosen_: str
    """Which of the candidates it is."""

    def fit(self, Z: "Matrix | ReleasedCounts", y: ArrayLike) -> Self:  # noqa: N803 - scikit-learn's way of naming
        """Learn from released documents ``Z``, noise and all, and their classes ``y``.

        ``Z``: their cells, or the release itself, which is read block by block and states its rate.
        """
        if y is None:
            raise ParameterError(
                "requires y to be passed, but the target y is None: give a label per document."
            )
        rows = self._rows(Z)
        self.law_ = law_of(Z if self.rate is None and is_release(Z) else self.rate)
        self.classes_, codes = encode_labels(y, rows.shape[0])
        self._learn(LabelledRows(rows, codes, len(self.classes_), self.random_state))
        return self

    def predict(self, X: Matrix) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """The most probable class of each true document."""
        return self._name_classes(self._scores(X))

    def predict_proba(self, X: Matrix) -> Floats:  # noqa: N803 - scikit-learn's name
        """The probability of each class, true documents by classes."""
        return np.asarray(special.softmax(self._scores(X), axis=1))

    def predict_released(self, Z: "Matrix | ReleasedCounts") -> NDArray[Any]:  # noqa: N803 - as in fit
        """The most probable class of each released document: of its cells, or of a release."""
        return self._name_classes(self._checked_released_scores(Z))

    def predict_proba_released(self, Z: "Matrix | ReleasedCounts") -> Floats:  # noqa: N803 - as in fit
        """The probability of each class, released documents by classes."""
        return np.asarray(special.softmax(self._checked_released_scores(Z), axis=1))

    def _learn(self, data: LabelledRows) -> None:
        raise NotImplementedError

    def _released_scores(self, cells: Counts) -> Floats:
        return self.reader_.released_scores(cells)

    def _scores(self, documents: Matrix) -> Floats:
        check_is_fitted(self)
        counts = self._cells(documents, reset=False)
        if counts.nnz and counts.data.min() < 0:
            raise CorpusError(
                "Negative values in data: true documents have none; for released ones use "
                "predict_released."
            )
        return self.reader_.scores(counts)

    def _checked_released_scores(self, given: "Matrix | ReleasedCounts") -> Floats:
        check_is_fitted(self)
        if is_release(given):
            refuse_several_maps(given)
            blocks = row_blocks(given.rows, max(1, BLOCK_CELLS // given.rows.shape[1]))
            cells = (self._cells(block, reset=False) for block in blocks)
            return np.concatenate([self._released_scores(block) for block in cells])
        matrix: Any = given
        return self._released_scores(self._cells(matrix, reset=False))

    def _name_classes(self, scores: Floats) -> NDArray[Any]:
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def _rows(self, given: "Matrix | ReleasedCounts") -> Rows:
        if not is_release(given):
            matrix: Any = given
            return self._cells(matrix, reset=True)
        refuse_several_maps(given)
        self.n_features_in_ = given.rows.shape[1]
        return given.rows

    def _cells(self, matrix: Matrix, *, reset: bool) -> Counts:
        refuse_texts(matrix)
        valid = validate_data(self, matrix, reset=reset, accept_sparse="csr", dtype="numeric")
        return checked_counts(valid, signed=True)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn has no types
        """Sparse whole numbers; those of fit may be negative."""
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
