"""What an adversary who knows the law of the noise makes of a count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sottovoce.loop.adversary import expected_count, posterior_counts
from sottovoce.privacy.mechanism import GeometricMechanism

FAR = 4000


def by_summation(z: int, alpha: float, q: float) -> float:
    counts = np.arange(FAR)
    logs = counts * np.log(q) + np.abs(z - counts) * np.log(alpha)
    weights = np.exp(logs - logs.max())
    return float((counts * weights).sum() / weights.sum())


@given(z=st.integers(-30, 60), rate=st.floats(0.05, 6.0), mean=st.floats(1e-4, 8.0))
def test_the_expected_count_is_that_of_bayes_rule(z: int, rate: float, mean: float) -> None:
    q = mean / (1 + mean)
    found = expected_count(np.array([z]), np.exp(-rate), np.array([q]))[0]
    assert found == pytest.approx(by_summation(z, np.exp(-rate), q), rel=1e-3, abs=1e-6)


def test_knowing_the_noise_estimates_better_than_reading_the_counts_as_they_are() -> None:
    generator = np.random.default_rng(3)
    true = generator.geometric(0.8, size=(20_000, 3)) - 1
    rate = 0.5
    noisy = sparse.csr_array(GeometricMechanism("0.5").dense(true))
    told = posterior_counts(noisy, rate).toarray()
    clipped = np.maximum(noisy.toarray(), 0)
    # Both are compared as orders of the documents, which is what an adversary needs.
    for column in range(3):
        assert (
            np.corrcoef(told[:, column], true[:, column])[0, 1]
            >= (np.corrcoef(clipped[:, column], true[:, column])[0, 1])
        )
        error = np.mean((told[:, column] - true[:, column]) ** 2)
        assert error < np.mean((clipped[:, column] - true[:, column]) ** 2) / 2


def test_empty_and_negative_cells_tell_nothing() -> None:
    noisy = sparse.csr_array(np.array([[0, -3, 5], [1, 0, 0]]))
    told = posterior_counts(noisy, 1.0).toarray()
    assert told[0, 1] == 0
    assert told[0, 2] > told[1, 0] > 0


def test_the_release_is_left_as_it_was_for_whoever_reads_it_next() -> None:
    published = np.array([[0, -3, 5, 1], [1, 0, -1, 2]])
    noisy = sparse.csr_array(published)
    posterior_counts(noisy, 1.0)
    assert (noisy.toarray() == published).all()
