"""Each negative control is flagged, and its sound twin is not."""

import numpy as np
import pytest

from sottovoce.privacy.audit.findings import (
    audit_freshness,
    audit_porous_support,
)
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.trial import LaplaceBaseline


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
