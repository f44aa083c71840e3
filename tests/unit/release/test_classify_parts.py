"""What the classifiers of releases are made of, against brute force."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats
from sklearn.linear_model import LogisticRegression

from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.bayes import positive_means, shrunk_ratios
from sottovoce.release.classify.features import (
    SIZE,
    BitFeature,
    BurstFeature,
    CellLikelihoods,
    ExpectedCells,
    feature_of,
)
from sottovoce.release.classify.inputs import Labelled, calibration
from sottovoce.release.classify.logistic import SoftmaxProblem

RATES = (0.1, 0.5, 2.0, 5.0)
NOISE = np.arange(-400, 401)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", ["bits", "bursts", "counts"])
def test_a_feature_is_unbiased_and_has_the_stated_noise(kind: str, rate: float) -> None:
    law = NoiseLaw(rate)
    feature = feature_of(kind, law)
    probabilities = law.probability(NOISE)
    for count in (0, 1, 2, 7):
        cells = sparse.csr_array((count + NOISE)[None, :])
        stored, shift = feature.estimate(cells)
        values = stored.toarray()[0] + shift
        mean = float(probabilities @ values)
        assert mean == pytest.approx(float(feature.of_counts(np.array(count))), abs=1e-9)
        variance = float(probabilities @ (values - mean) ** 2)
        if kind == "bursts" and count:
            continue
        if kind == "counts" or count <= 1:
            assert variance == pytest.approx(feature.variance, rel=1e-6)
        else:
            assert variance <= feature.variance * (1 + 1e-9)


def test_bursts_are_bits_where_no_token_follows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.release.classify.features.BURST", 0.0)
    law, cells = NoiseLaw(0.4), sparse.csr_array([[-1, 0, 1, 9]])
    (bursts, shift), (bits, same) = (f(law).estimate(cells) for f in (BurstFeature, BitFeature))
    assert bursts.toarray() == pytest.approx(bits.toarray())
    assert shift == pytest.approx(same)
    assert BurstFeature(law).variance == pytest.approx(law.variance / 2)


@pytest.mark.parametrize("mean", [-0.5, 0.0, 0.02, 1.5])
def test_a_mean_of_words_is_the_posterior_mean_under_an_exponential_prior(mean: float) -> None:
    means, variance = np.array([mean, 0.8, 0.1, 0.9]), 0.04
    typical = means.mean()

    def density(m: float) -> float:
        return float(np.exp(-m / typical - (mean - m) ** 2 / (2 * variance)))

    total = integrate.quad(density, 0, 5)[0]
    expected = integrate.quad(lambda m: m * density(m), 0, 5)[0] / total
    assert positive_means(means, variance)[0] == pytest.approx(expected, rel=1e-6)


def test_ratios_without_noise_are_those_seen() -> None:
    base = np.array([0.5, 1.0, 2.0])
    ratios = np.array([[0.5, 1.0, 2.0], [1.5, 1.0, 0.4]])
    shrunk = shrunk_ratios(ratios * base, np.full((2, 3), 1e-4), base)
    assert shrunk == pytest.approx(ratios, rel=0.1)  # as fine as the grid


def test_ratios_that_are_all_noise_become_one() -> None:
    base, variance = np.full(2_000, 0.5), 0.01
    seen = base + np.random.default_rng(0).normal(0, 0.1, (3, base.size))

    def away(assumed: float) -> float:
        ratios = shrunk_ratios(seen, np.full(seen.shape, assumed), base)
        return float(np.abs(np.log(ratios)).mean())

    assert away(variance) < 0.03
    # Planted: half of the noise's variance takes noise for meaning.
    assert away(variance / 2) > 0.06


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", ["bits", "bursts", "counts"])
def test_what_a_cell_says_is_the_expectation_under_bursty_counts(kind: str, rate: float) -> None:
    law, means = NoiseLaw(rate), np.array([0.01, 0.4, 3.0])
    feature = feature_of(kind, law)
    table = ExpectedCells.tabulate(law, means, feature, 6)
    counts = np.arange(1_000)
    for word, mean in enumerate(means):
        prior = stats.nbinom.pmf(counts, SIZE, SIZE / (SIZE + mean))
        for cell in (-3, 0, 1, 4, 6):
            joint = prior * law.probability(cell - counts)
            expected = float(joint @ feature.of_counts(counts) / joint.sum())
            assert table.table[word, max(cell, 0)] == pytest.approx(expected, rel=1e-6)


def test_scores_at_expected_features_are_the_plain_product() -> None:
    law = NoiseLaw(1.0)
    table = ExpectedCells.tabulate(law, np.array([0.2, 0.5]), BitFeature(law), 3)
    cells = sparse.csr_array([[0, 2], [-4, 9], [1, 0]])
    weights, intercepts = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([0.1, 0.2])
    places = np.clip(cells.toarray(), 0, 3)
    features = table.table[np.arange(2), places]
    assert table.scores(cells, weights, intercepts) == pytest.approx(
        features @ weights + intercepts
    )


@pytest.mark.parametrize("rate", RATES)
def test_the_likelihood_of_cells_is_that_of_clipped_noisy_counts(rate: float) -> None:
    law, means, largest = NoiseLaw(rate), np.array([[0.3, 2.0]]), 4
    tables = CellLikelihoods.tabulate(law, means, largest).tables
    assert np.exp(tables).sum(axis=2) == pytest.approx(1, abs=1e-9)
    counts = np.arange(1_000)
    for word in range(2):
        prior = stats.nbinom.pmf(counts, SIZE, SIZE / (SIZE + means[0, word]))
        below = prior @ law.probability(np.arange(-1_500, 1)[:, None] - counts).sum(axis=0)
        assert np.exp(tables[0, word, 0]) == pytest.approx(below, rel=1e-6)
        assert np.exp(tables[0, word, 3]) == pytest.approx(
            prior @ law.probability(3 - counts), rel=1e-6
        )


def test_a_document_s_likelihood_is_the_product_over_its_cells() -> None:
    law = NoiseLaw(0.7)
    likelihoods = CellLikelihoods.tabulate(law, np.array([[0.3, 2.0], [1.0, 0.1]]), 4)
    cells = np.array([[0, 3], [-2, 7], [1, 1]])
    expected = [
        [
            sum(table[word, np.clip(row[word], 0, 4)] for word in range(2))
            for table in likelihoods.tables
        ]
        for row in cells
    ]
    assert likelihoods.scores(sparse.csr_array(cells)) == pytest.approx(np.array(expected))


def test_the_solver_agrees_with_scikit_learn() -> None:
    generator = np.random.default_rng(1)
    rows = generator.poisson(0.7, (300, 12)).astype(float)
    codes = (rows[:, :3] + generator.normal(0, 0.8, (300, 3))).argmax(axis=1)
    shift = np.linspace(0, 0.1, 12)
    problem = SoftmaxProblem(sparse.csr_array(rows - shift), shift, codes, np.zeros(3))
    (fit,) = problem.path(np.zeros((12, 3)), [3.0])
    peer = LogisticRegression(C=1 / 3, fit_intercept=False, tol=1e-8, max_iter=500)
    peer.fit(rows, codes)
    assert pytest.approx(peer.coef_, abs=0.02) == fit.weights.T


def test_a_high_price_keeps_the_weights_where_they_were() -> None:
    generator = np.random.default_rng(2)
    rows = sparse.csr_array(generator.poisson(1.0, (60, 4)).astype(float))
    centre = generator.normal(size=(4, 2))
    problem = SoftmaxProblem(rows, np.zeros(4), np.arange(60) % 2, np.zeros(2))
    (fit,) = problem.path(centre, [1e8])
    assert fit.weights == pytest.approx(centre, abs=1e-3)


def test_scores_that_are_too_sure_are_cooled() -> None:
    generator = np.random.default_rng(3)
    sure = generator.normal(0, 1, (4_000, 2))
    probabilities = np.exp(sure[:, 1]) / np.exp(sure).sum(axis=1)
    codes = (generator.random(4_000) < probabilities).astype(np.int64)
    assert calibration(5 * sure, np.zeros(2), codes).temperature == pytest.approx(0.2, abs=0.03)


def test_every_document_is_held_out_once_and_classes_keep_their_shares() -> None:
    codes = np.array([0] * 31 + [1] * 9)
    fold = Labelled(sparse.csr_array((40, 1), dtype=np.int64), codes, 2).folds(0)
    assert np.bincount(fold[codes == 0]).tolist() in ([10, 11, 10], [11, 10, 10], [10, 10, 11])
    assert np.bincount(fold[codes == 1]).tolist() == [3, 3, 3]
