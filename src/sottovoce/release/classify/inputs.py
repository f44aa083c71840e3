"""What a classifier of released documents is given, and what all such classifiers have in common.

Cells and labels come block by block, since they may be longer than memory, with parts to hold out.
Classifiers keep to scikit-learn's conventions, and read true documents and released ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse, special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.noise_law import HasLaw, NoiseLaw, Rate, law_of
from sottovoce.release.analysis.moments import Rows, row_blocks
from sottovoce.release.classify.features import ExpectedCells, Feature, positive, with_values
from sottovoce.release.counts import Counts, Matrix, checked_counts

FOLDS = 3


class ReleasedCounts(HasLaw, Protocol):
    """A release, as far as a classifier reads it."""

    @property
    def rows(self) -> Rows:
        """Documents by columns, the noise included; they may be longer than memory."""

    @property
    def maps(self) -> Sequence[object]:
        """Which column each word was summed into; document i took map i modulo their number."""


def is_release(given: "Matrix | ReleasedCounts") -> TypeGuard[ReleasedCounts]:
    """Whether a release is given, and not a matrix of its cells."""
    return hasattr(given, "law") and hasattr(given, "rows")


def refuse_several_maps(release: ReleasedCounts) -> None:
    """Refuse a release whose columns mean other words in each group of documents."""
    if len(release.maps) > 1:
        raise ParameterError(
            f"this release uses {len(release.maps)} maps, so that one column means different "
            "words in different documents; a classifier needs a release with one map."
        )


@dataclass(frozen=True, eq=False)
class Labelled:
    """Released documents, each with the number of its class."""

    cells: Counts
    codes: Integers
    classes: int

    @property
    def documents(self) -> int:
        """How many."""
        return len(self.codes)

    @property
    def sizes(self) -> Floats:
        """Documents of each class."""
        return np.bincount(self.codes, minlength=self.classes).astype(np.float64)

    @property
    def indicator(self) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        """Classes by documents: 1 where the document is of the class."""
        rows = np.arange(self.documents)
        ones = np.ones(self.documents)
        shape = (self.classes, self.documents)
        return sparse.csr_array((ones, (self.codes, rows)), shape=shape)

    def part(self, rows: Integers) -> "Labelled":
        """The documents of ``rows``."""
        return Labelled(self.cells[rows], self.codes[rows], self.classes)

    def parts(self, seed: int, folds: int = FOLDS) -> Iterator[tuple["Labelled", "Labelled"]]:
        """(known, held out): each document is held out once, and classes keep their shares."""
        fold = self.folds(seed, folds)
        for place in np.unique(fold):
            held = fold == place
            yield self.part(np.flatnonzero(~held)), self.part(np.flatnonzero(held))

    def folds(self, seed: int, folds: int = FOLDS) -> Integers:
        """Which fold each document is held out in."""
        return balanced_folds(self.codes, seed, folds)


def balanced_folds(codes: Integers, seed: int, folds: int) -> Integers:
    """Which fold each document is held out in; classes keep their shares in each."""
    order = np.random.default_rng(seed).permutation(codes.size)
    # By the place where a class is first seen, so that its name means nothing.
    _, first, which = np.unique(codes[order], return_index=True, return_inverse=True)
    by_class = order[np.argsort(first[which], kind="stable")]
    fold = np.empty(codes.size, np.int64)
    fold[by_class] = np.arange(codes.size) % folds
    return fold


def refuse_texts(documents: Matrix) -> None:
    """Refuse texts where counts are expected, without showing them."""
    if sparse.issparse(documents):
        return
    values = np.asarray(documents)
    if values.dtype.kind in "US" or any(isinstance(each, str) for each in values.flat[:1]):
        raise CorpusError(
            "documents must be counts, got text; count them by the words of the release first: "
            "released.count_texts(texts)."
        )


def encode_labels(labels: ArrayLike, documents: int) -> tuple[NDArray[Any], Integers]:
    """The classes in order, and which of them each document is of."""
    given = np.asarray(labels)
    if given.shape == (documents, 1):
        given = column_or_1d(given, warn=True)
    if given.shape != (documents,):
        shape = " by ".join(f"{size:,}" for size in given.shape) or "a single one"
        raise ParameterError(
            f"labels must be one for each of the {documents:,} documents, got {shape}."
        )
    check_classification_targets(given)
    classes, codes = np.unique(given, return_inverse=True)
    if len(classes) == 1:
        raise ParameterError(
            "labels must name at least two classes, got 1 class: there is nothing to tell apart."
        )
    return classes, codes


BLOCK_CELLS = 1 << 22
SAMPLED_CELLS = 20_000_000
"""What cannot be learnt from sums, and what is held out, is read of about so many cells."""
_FEWEST = 1_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents in memory, with the fold that each is held out in; only cells above 0 are kept."""

    documents: Labelled
    folds: NDArray[np.int8]

    def held_out(self, fold: int) -> Labelled:
        """Those of the fold."""
        return self.documents.part(np.flatnonzero(self.folds == fold))

    def kept_in(self, fold: int) -> Labelled:
        """Those of all other folds."""
        return self.documents.part(np.flatnonzero(self.folds != fold))


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Released documents, each with the number of its class; all but these numbers may be on disk.

    Attributes:
        rows: the cells, negative ones too.
        codes: the class of each document.
        classes: how many there are.
        seed: of what is held out.
    """

    rows: Rows
    codes: Integers
    classes: int
    seed: int

    @cached_property
    def folds(self) -> NDArray[np.int8]:
        """Which fold each document is held out in."""
        return balanced_folds(self.codes, self.seed, FOLDS).astype(np.int8)

    @property
    def fold_numbers(self) -> range:
        """Fewer than usual where there are fewer documents."""
        return range(int(self.folds.max()) + 1)

    def parts(self) -> Iterator[tuple[int, Labelled]]:
        """(fold, documents of it), one block of documents after the other."""
        for block, folds in self._blocks():
            for fold in self.fold_numbers:
                yield fold, block.part(np.flatnonzero(folds == fold))

    @cached_property
    def sample(self) -> Sample:
        """Every document, or as many by chance as memory is meant for."""
        chosen = self._choose_rows()
        kept: list[Labelled] = []
        first = 0
        for block, folds in self._blocks():
            own = np.flatnonzero(chosen[first : first + len(folds)])
            first += len(folds)
            taken = block.part(own)
            kept.append(Labelled(positive(taken.cells), taken.codes, self.classes))
        cells = sparse.csr_array(sparse.vstack([each.cells for each in kept], format="csr"))
        return Sample(Labelled(cells, self.codes[chosen], self.classes), self.folds[chosen])

    def _choose_rows(self) -> NDArray[np.bool_]:
        documents = self.rows.shape[0]
        number = max(_FEWEST, documents * SAMPLED_CELLS // max(1, self._count_cells()))
        if number >= documents:
            return np.ones(documents, np.bool_)
        chosen = np.zeros(documents, np.bool_)
        # By chance and not every so-and-so-manieth: labels may come in turns.
        generator = np.random.default_rng([self.seed, documents])
        chosen[generator.permutation(documents)[:number]] = True
        return chosen

    def _count_cells(self) -> int:
        """Cells that are not 0, or at most so many."""
        known: int | None = getattr(self.rows, "nnz", None)
        return self.rows.shape[0] * self.rows.shape[1] if known is None else known

    def _blocks(self) -> Iterator[tuple[Labelled, NDArray[np.int8]]]:
        first = 0
        for cells in row_blocks(self.rows, max(1, BLOCK_CELLS // self.rows.shape[1])):
            own = slice(first, first + cells.shape[0])
            first = own.stop
            yield Labelled(cells, self.codes[own], self.classes), self.folds[own]


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
