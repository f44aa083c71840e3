"""Baselines do what the paper compares with, and claim no more than they keep."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sottovoce_lab.release.figure_1 import cut_lengths

from sottovoce.errors import ParameterError
from sottovoce.release.trial import LaplaceBaseline

COUNTS = csr_array(np.array([[3, 0, 4, 1], [0, 0, 0, 0], [0, 9, 0, 2], [1, 1, 0, 0]]))


def test_rows_are_cut_in_column_order() -> None:
    assert cut_lengths(COUNTS, 5).toarray().tolist() == [
        [3, 0, 2, 0],
        [0, 0, 0, 0],
        [0, 5, 0, 0],
        [1, 1, 0, 0],
    ]


def test_short_rows_are_left_alone() -> None:
    np.testing.assert_array_equal(cut_lengths(COUNTS, 100).toarray(), COUNTS.toarray())
    with pytest.raises(ParameterError):
        cut_lengths(COUNTS, 0)


def test_laplace_noise_has_its_scale() -> None:
    noise = LaplaceBaseline(rate=0.5).release(np.zeros(200_000, dtype=np.int64))
    assert noise.std() == pytest.approx(np.sqrt(2) / 0.5, rel=0.02)
    assert abs(noise.mean()) < 0.05
