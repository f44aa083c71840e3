"""Latent semantics, shape, intervals and topic training."""

import sys

import numpy as np
import pytest
from scipy import sparse, stats
from sottovoce_lab.release.count_measures import (
    FILLED,
    corpus_shape,
    latent_semantics,
    reconstruction_error,
    semantic_basis,
)

from sottovoce.errors import CorpusError, MissingExtraError, ParameterError
from sottovoce.release.counts import Counts
from sottovoce.release.topics.evaluation import fit_topics, match_topics, mean_interval, thin_counts


def two_kinds(documents: int = 60, seed: int = 0) -> tuple[Counts, list[str]]:
    """Documents of words 0..9 or of words 10..19."""
    generator = np.random.default_rng(seed)
    counts = np.zeros((documents, 20), dtype=np.int64)
    counts[::2, :10] = generator.poisson(2, (documents // 2, 10))
    counts[1::2, 10:] = generator.poisson(2, (documents // 2, 10))
    return sparse.csr_array(counts), ["one", "other"] * (documents // 2)


def test_reconstruction_error_is_what_the_basis_misses() -> None:
    held_out = sparse.csr_array(np.array([[3, 4, 0], [0, 0, 5]]))
    basis = np.array([[1.0, 0], [0, 1], [0, 0]])
    dense = held_out.toarray()
    by_definition = np.linalg.norm(dense - dense @ basis @ basis.T) / np.linalg.norm(dense)
    assert reconstruction_error(held_out, basis) == pytest.approx(by_definition)
    assert reconstruction_error(held_out, np.eye(3)) == 0


@pytest.mark.parametrize("mean", [0.05, 3.0], ids=["sparse", "filled"])
def test_the_basis_is_the_same_however_full_the_matrix(mean: float) -> None:
    counts = sparse.csr_array(np.random.default_rng(0).poisson(mean, (30, 12)))
    filled = counts.nnz > FILLED * 30 * 12
    assert filled == (mean > 1)
    basis = semantic_basis(counts, 3, seed=0)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-9)
    leading = np.linalg.svd(counts.toarray())[2][:3].T
    np.testing.assert_allclose(basis @ basis.T, leading @ leading.T, atol=1e-6)


def test_true_text_classifies_and_shuffled_text_does_not() -> None:
    counts, labels = two_kinds()
    good = latent_semantics(counts, counts, labels, dimensions=3)
    assert good.accuracy == 1
    assert good.majority == 0.5
    mixed = counts[np.random.default_rng(0).permutation(60)]
    bad = latent_semantics(mixed, counts, labels, dimensions=3)
    assert bad.accuracy < 0.8
    blank = sparse.csr_array(np.ones((60, 20), dtype=np.int64))
    assert latent_semantics(blank, counts, labels, dimensions=3).error > good.error


def test_nothing_is_reconstructed_of_documents_without_words() -> None:
    with pytest.raises(CorpusError, match="all are empty"):
        reconstruction_error(two_kinds()[0][:0], np.eye(20))


def test_shape_counts_zeros_and_tokens() -> None:
    shape = corpus_shape(sparse.csr_array(np.array([[0, 3], [0, 0]])))
    assert shape.sparsity == 0.75
    assert shape.mean_length == 1.5
    with pytest.raises(CorpusError, match="0 x 2"):
        corpus_shape(sparse.csr_array((0, 2), dtype=np.int64))


def test_an_interval_is_student_s() -> None:
    values = [0.2, 0.5, 0.3, 0.4, 0.1]
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert interval.low == pytest.approx(low)
    assert interval.high == pytest.approx(high)
    assert mean_interval([2.0]).low == mean_interval([2.0]).high == 2
    with pytest.raises(ParameterError, match="at least one value"):
        mean_interval([])


def test_topics_of_two_kinds_of_documents_are_found() -> None:
    pytest.importorskip(
        "tomotopy", reason="tomotopy is not installed: pip install sottovoce[topics]"
    )
    counts, _ = two_kinds()
    truth = np.repeat(np.eye(2), 10, axis=1)
    phi = fit_topics(counts, 2, seed=1, iterations=50)
    np.testing.assert_allclose(phi.sum(axis=1), 1)
    assert match_topics(phi, truth, 10).mean == 1
    np.testing.assert_array_equal(phi, fit_topics(counts, 2, seed=1, iterations=50))


def test_words_in_no_document_have_no_probability() -> None:
    pytest.importorskip(
        "tomotopy", reason="tomotopy is not installed: pip install sottovoce[topics]"
    )
    counts, _ = two_kinds()
    wider = sparse.csr_array(sparse.hstack([counts, sparse.csr_array((60, 1), dtype=np.int64)]))
    wider = sparse.csr_array(sparse.vstack([wider, sparse.csr_array((1, 21), dtype=np.int64)]))
    phi = fit_topics(wider, 2, seed=1, iterations=5)
    assert phi.shape == (2, 21)
    assert phi[:, 20].tolist() == [0, 0]


def test_a_corpus_of_too_many_tokens_is_thinned_evenly() -> None:
    counts = sparse.csr_array(np.full((100, 10), 100, dtype=np.int64))
    fewer = thin_counts(counts, 20_000, np.random.default_rng(0))
    assert fewer.sum() == pytest.approx(20_000, rel=0.05)
    assert (fewer.toarray() <= counts.toarray()).all()
    assert thin_counts(counts, 100_000, np.random.default_rng(0)) is counts


def test_topics_need_words_and_sensible_numbers() -> None:
    counts, _ = two_kinds()
    with pytest.raises(ParameterError, match="topics must be >= 1, got 0"):
        fit_topics(counts, 0, seed=1)
    pytest.importorskip(
        "tomotopy", reason="tomotopy is not installed: pip install sottovoce[topics]"
    )
    with pytest.raises(CorpusError, match="all are empty"):
        fit_topics(sparse.csr_array((3, 5), dtype=np.int64), 2, seed=1)


def test_without_tomotopy_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[topics\]"):
        fit_topics(two_kinds()[0], 2, seed=1)
