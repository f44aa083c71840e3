"""Baselines do what the paper compares with, and claim no more than they keep."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sottovoce_lab.release.figure_1 import LocalGeometricBaseline, ProjectionBaseline, cut_lengths

from sottovoce.errors import ParameterError
from sottovoce.privacy.guarantee import LocalPrivacy, NoGuarantee
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


def test_plain_local_privacy_spreads_epsilon_over_twice_the_cap() -> None:
    baseline = LocalGeometricBaseline(10_000, length_cap=5)
    assert baseline.guarantee == LocalPrivacy(10_000, 5)
    assert baseline.guarantee.rate == Fraction(1000)
    np.testing.assert_array_equal(
        baseline.release(COUNTS).toarray(), cut_lengths(COUNTS, 5).toarray()
    )


def test_laplace_noise_has_its_scale() -> None:
    noise = LaplaceBaseline(rate=0.5).release(np.zeros(200_000, dtype=np.int64))
    assert noise.std() == pytest.approx(np.sqrt(2) / 0.5, rel=0.02)
    assert abs(noise.mean()) < 0.05


def test_the_estimate_from_a_sketch_is_right_on_average() -> None:
    estimates = [ProjectionBaseline(4, 3, seed=seed).release(COUNTS) for seed in range(3000)]
    np.testing.assert_allclose(np.mean(estimates, axis=0), COUNTS.toarray(), atol=0.4)


def test_a_sketch_has_the_dimensions_asked_for_and_no_epsilon() -> None:
    baseline = ProjectionBaseline(4, 2)
    assert baseline.sketch(COUNTS).shape == (4, 2)
    assert isinstance(baseline.guarantee, NoGuarantee)
    with pytest.raises(ParameterError, match="dimensions"):
        ProjectionBaseline(4, 0)
