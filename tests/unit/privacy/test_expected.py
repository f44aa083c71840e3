"""Figures shown before a release agree with the noise drawn."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.noise_law import expected_nonzeros, noise_deviation, zero_cell_chance


@pytest.mark.parametrize("rate", ["2", "0.1"])
def test_the_deviation_is_that_of_the_draws(rate: str) -> None:
    draws = GeometricMechanism(rate).noise(500_000)
    assert noise_deviation(rate) == pytest.approx(draws.std(), rel=0.03)


@pytest.mark.parametrize(("rate", "threshold"), [("2", None), ("1", 2), ("0.5", None)])
def test_the_size_is_that_of_the_output(rate: str, threshold: int | None) -> None:
    empty = csr_array((500, 1000), dtype=np.int64)
    out = GeometricMechanism(rate).sparse(empty, threshold=threshold)
    expected = expected_nonzeros(500_000, 0, rate, threshold)
    assert out.nnz == pytest.approx(expected, rel=0.05)
    assert zero_cell_chance(rate, threshold) == pytest.approx(expected / 500_000, rel=0.01)
