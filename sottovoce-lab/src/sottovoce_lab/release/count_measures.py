"""What the counts of a release are like: latent semantics, sparsity, length, and topics' words.

Latent semantic analysis is trained on the release and judged on held-out true text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from sottovoce.arrays import Floats
from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts, Weights
from sottovoce.release.topics.evaluation import TOP, checked_topics, match_topics, top_words

FOLDS = 5
FILLED = 0.25  # from this share of non-zeros on, a dense matrix takes little more room than CSR


@dataclass(frozen=True)
class LatentSemantics:
    """Means over folds: reconstruction error and accuracy, and the accuracy of a constant guess."""

    error: float
    accuracy: float
    majority: float


def latent_semantics(
    private: Counts, true: Counts, labels: Sequence[str], *, dimensions: int = 50, seed: int = 0
) -> LatentSemantics:
    """Stratified 5-fold: space and classifier from private documents, judged on true ones.

    In each fold the private training rows give the basis V and train a logistic regression on
    their unit-length embeddings; the true held-out rows give the error and the accuracy.
    """
    classes = np.asarray(labels)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    # Products of this size wait longer for a second BLAS thread than it saves.
    with threadpool_limits(1, "blas"):
        scores = [
            _fold_scores(
                private[train], true[test], classes[train], classes[test], dimensions, seed
            )
            for train, test in folds.split(np.zeros(len(classes)), classes)
        ]
    error, accuracy = np.mean(scores, axis=0)
    majority = np.unique(classes, return_counts=True)[1].max() / len(classes)
    return LatentSemantics(float(error), float(accuracy), float(majority))


def reconstruction_error(held_out: Counts, basis: Floats) -> float:
    """||Y - Y V V'||_F / ||Y||_F for an orthonormal basis V (words x dimensions)."""
    # V is orthonormal, so that what it misses of Y is ||Y||^2 - ||YV||^2.
    total = float((held_out.data.astype(np.float64) ** 2).sum())
    if total == 0:
        raise CorpusError("reconstruction needs held-out documents with words; all are empty.")
    kept = float(((held_out @ basis) ** 2).sum())
    return float(np.sqrt(max(total - kept, 0.0) / total))


def semantic_basis(counts: Counts, dimensions: int, seed: int) -> Floats:
    """The leading right singular vectors of ``counts``, as words x dimensions."""
    filled = counts.nnz > FILLED * counts.shape[0] * counts.shape[1]
    matrix: Weights | Floats = (counts.toarray() if filled else counts).astype(np.float64)
    _, _, vectors = randomized_svd(matrix, dimensions, random_state=seed)
    basis: Floats = np.ascontiguousarray(vectors.T)
    return basis


def _fold_scores(
    private: Counts,
    held_out: Counts,
    known: NDArray[np.str_],
    hidden: NDArray[np.str_],
    dimensions: int,
    seed: int,
) -> tuple[float, float]:
    basis = semantic_basis(private, dimensions, seed)
    classifier = LogisticRegression(max_iter=2_000, C=10.0)
    classifier.fit(normalize(private @ basis), known)
    accuracy = classifier.score(normalize(held_out @ basis), hidden)
    return reconstruction_error(held_out, basis), float(accuracy)


@dataclass(frozen=True)
class CorpusShape:
    """How sparse a corpus is and how long its documents are."""

    sparsity: float
    mean_length: float


def corpus_shape(counts: Counts) -> CorpusShape:
    """Share of cells that are zero, and the mean sum of a row."""
    documents, words = counts.shape
    if not documents or not words:
        raise CorpusError(f"a corpus needs documents and words, got {documents} x {words}.")
    zeros = 1 - counts.count_nonzero() / (documents * words)
    return CorpusShape(float(zeros), float(counts.sum() / documents))


def topic_exclusivity(phi: Floats, top: int = TOP) -> float:
    """Mean over topics k and their top words w of phi_kw / sum_j phi_jw. Range (0, 1]."""
    topics = checked_topics(phi)
    totals = topics.sum(axis=0)
    shares = np.divide(topics, totals, out=np.zeros_like(topics), where=totals > 0)
    return float(np.take_along_axis(shares, top_words(topics, top), axis=1).mean())


def unigram_jaccard(true: Floats, frequencies: Floats, top: int = TOP) -> float:
    """The Jaccard of a model whose every topic is the corpus's most frequent words."""
    same = np.tile(np.asarray(frequencies, dtype=np.float64), (len(true), 1))
    return match_topics(same, true, top).mean
