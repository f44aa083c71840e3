"""The sums that topics of a release are read by, against brute force."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import poisson

from sottovoce.arrays import Floats, Integers
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.topics._expected import (
    PositiveCells,
    block_cells,
    expected_counts,
    pair_sums_of,
)
from sottovoce.release.topics._kernels import (
    MOST_TERMS,
    cell_terms,
    log_likelihoods,
    settle_documents,
    sweep_documents,
)

pytestmark = pytest.mark.kernel


def _released(documents: int = 30, words: int = 12, rate: float = 1.0, seed: int = 0) -> Integers:
    drawn = np.random.default_rng(seed)
    noise = drawn.geometric(-np.expm1(-rate), (2, documents, words))
    return np.asarray(drawn.poisson(1.0, (documents, words)) + noise[0] - noise[1])


def _cells(matrix: Integers) -> PositiveCells:
    return block_cells(sparse.csr_array(matrix))


@pytest.mark.parametrize("rate", [5.0, 2.0, 0.5, 0.1])
@pytest.mark.parametrize("mu", [0.001, 0.3, 10.0, 200.0])
def test_a_cell_says_of_its_count_what_its_law_says(rate: float, mu: float) -> None:
    law, terms = NoiseLaw(rate), np.empty(MOST_TERMS)
    for z in (1, 2, 7, 150):
        _size, total, mean, unit = cell_terms(z, mu, law.alpha, terms)
        assert mean / total == pytest.approx(float(law.expected_counts(z, mu)), rel=1e-6)
        whole = np.log(total) + unit - mu + np.log(law.most_common) - rate * z
        assert whole == pytest.approx(float(law.log_likelihood(z, mu)), rel=1e-6, abs=1e-6)


def test_counts_and_topics_are_drawn_as_often_as_their_law_says() -> None:
    """A grid of uniforms is the whole distribution; Poisson counts are summed by hand beside."""
    alpha, theta, topics = 0.5, np.array([[1.0, 2.0]]), np.array([[0.3, 0.4]])
    tokens = np.zeros((1, 2))
    grid = (np.arange(4000) + 0.5) / 4000
    for uniform in grid:
        unused = np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2))
        one = np.array([0, 1]), np.array([0], np.uint16), np.array([2], np.uint16)
        sweep_documents(*one, topics, theta, alpha, np.array([uniform]), tokens, *unused)
    counts = np.arange(40)
    chances = poisson.pmf(counts, 1.1) * alpha ** np.abs(2 - counts)
    mean = float(counts @ chances / chances.sum())
    assert tokens[0] / 4000 == pytest.approx(mean * np.array([0.3, 0.8]) / 1.1, rel=0.01)


def test_a_sweep_expects_the_tokens_that_brute_force_expects() -> None:
    matrix, law = _released(), NoiseLaw(1.0)
    cells, drawn = _cells(matrix), np.random.default_rng(1)
    topics, theta = drawn.random((12, 3)), drawn.random((30, 3))
    used, seen = np.zeros((12, 3)), np.zeros((12, 3))
    tokens, exposed = np.zeros((30, 3)), np.zeros((30, 3))
    given = cells.pointers, cells.words, cells.values
    uniforms = drawn.random(cells.words.size)
    sweep_documents(*given, topics, theta, law.alpha, uniforms, tokens, exposed, used, seen)
    means = theta @ topics.T
    ratio = np.where(matrix > 0, law.expected_counts(matrix, means) / means, 0)
    assert np.allclose(used, topics * (ratio.T @ theta))
    assert np.allclose(seen, (matrix > 0).T @ theta)
    assert np.allclose(exposed, (matrix > 0) @ topics)


def test_settling_a_document_raises_its_likelihood_to_the_top() -> None:
    matrix, law = _released(), NoiseLaw(1.0)
    cells, topics = _cells(matrix), np.random.default_rng(1).random((12, 2)) / 6
    given = cells.pointers, cells.words, cells.values

    def told(theta: Floats) -> float:
        out = np.zeros(30)
        log_likelihoods(*given, topics, theta, law.alpha, out)
        return float(out.sum())

    theta = np.ones((30, 2))
    settle_documents(*given, topics, law.alpha, 1e-9, 1e-9, 400, theta)
    for factor in (0.9, 1.1):
        assert told(theta) > told(theta * [factor, 1]) - 1e-6
        assert told(theta) > told(theta * [1, factor]) - 1e-6


def test_the_likelihood_is_that_of_every_cell_less_that_without_words() -> None:
    matrix, law = _released(), NoiseLaw(1.0)
    cells, drawn = _cells(matrix), np.random.default_rng(1)
    topics, theta, out = drawn.random((12, 2)), drawn.random((30, 2)), np.zeros(30)
    log_likelihoods(cells.pointers, cells.words, cells.values, topics, theta, law.alpha, out)
    whole = law.log_likelihood(matrix, theta @ topics.T) - law.log_likelihood(matrix, 0.0)
    assert np.allclose(out, whole.sum(axis=1))


def test_expected_counts_and_gains_are_those_of_brute_force() -> None:
    law, means = NoiseLaw(1.0), np.array([0.05, 2.0])
    read, gains = expected_counts(means, law)
    counts, cells = np.arange(400), np.arange(-300, 400)
    for word, mean in enumerate(means):
        from scipy.stats import nbinom  # noqa: PLC0415 - only here

        prior = nbinom.pmf(counts, 0.3, 0.3 / (0.3 + mean))
        joint = prior[:, None] * law.probability(cells[None, :] - counts[:, None])
        expected = (counts @ joint) / joint.sum(axis=0)
        assert read[word, :20] == pytest.approx(expected[300:320], rel=1e-3)
        shared = (joint * np.outer(counts, expected)).sum() - mean * (joint.sum(axis=0) @ expected)
        assert gains[word] == pytest.approx(shared / (mean + mean**2 / 0.3), rel=0.05)


def test_pairs_are_those_of_the_dense_matrix_whatever_the_threads_and_blocks() -> None:
    matrix, law, means = _released(), NoiseLaw(1.0), np.ones(12)
    cells = _cells(matrix)
    found = pair_sums_of([cells], means, law, threads=1).covariance()
    others = [
        pair_sums_of([cells], means, law, threads=3),
        pair_sums_of(cells.blocks(7), means, law, threads=2),
    ]
    assert all(np.array_equal(found, other.covariance()) for other in others)
    read, gains = expected_counts(means, law)
    dense = np.take_along_axis(read, np.clip(matrix, 0, 40).T, axis=1) / gains[:, None]
    assert np.allclose(found, np.cov(dense, bias=True))
