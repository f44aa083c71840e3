"""Baselines do what the paper compares with and claim no more than they keep; audits tell them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sottovoce_lab.release.figure_1 import cut_lengths

from sottovoce.errors import ParameterError
from sottovoce.privacy.audit.findings import audit_freshness, audit_porous_support
from sottovoce.privacy.mechanism import GeometricMechanism
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


@pytest.mark.parametrize("rate", ["5", "0.5", "0.01"])
def test_our_noise_repeats_no_block(rate: str) -> None:
    mechanism = GeometricMechanism(rate)
    assert audit_freshness(mechanism.rate, mechanism.noise).holds


def test_float_outputs_are_mostly_within_reach_of_their_own_count() -> None:
    """Otherwise the support check would call everything porous."""
    noise = LaplaceBaseline(rate=0.5)
    outputs = noise.release(np.full(1000, 3))
    assert noise.reachable(outputs, 3).mean() > 0.999


def test_a_neighbour_at_no_distance_shares_the_support() -> None:
    assert audit_porous_support(LaplaceBaseline(rate=0.5), count=1, neighbour=1).holds


def test_float_noise_claims_no_guarantee() -> None:
    assert "rule a neighbouring document out" in str(LaplaceBaseline(rate=1.0).guarantee)
