"""Experiments bound epsilon from below: near a true claim, never above it; above a false one."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.privacy.audit import black_box
from sottovoce.privacy.audit.black_box import (
    AuditSubject,
    Neighbours,
    audit_noise,
    lower_bound,
    neighbours,
)
from sottovoce.privacy.audit.sampler import audit_mechanism
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.sampler import two_sided_sampler
from sottovoce.release.audit import FixedKeystream


class FixedNoise:
    """The exact sampler under a fixed key, so that the test repeats."""

    def __init__(self, rate: Fraction, seed: int = 1) -> None:
        self._sampler, self._source = two_sided_sampler(rate), FixedKeystream(seed)

    def __call__(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        out = counts.copy()
        self._sampler.add_to(out.reshape(-1), self._source)
        return out


# The usual number of draws for a claim of 0.05 is that of one word under the second claim, too.
CLAIMS = [
    (1, "0.05", 1 << 23),
    pytest.param(1, "0.05", None, marks=pytest.mark.long),
    (10, "0.5", None),
    (2, "2", None),
    (4, "5", None),
]


@pytest.mark.parametrize(("n", "epsilon", "trials"), CLAIMS)
def test_a_true_claim_holds_and_is_nearly_reached(n: int, epsilon: str, trials: int | None) -> None:
    claim = LimitedPrecision(n, epsilon)
    report = audit_noise(claim, FixedNoise(claim.rate), trials=trials)
    assert report.holds, str(report)
    for finding in report.findings:
        assert finding.tightness is not None
        if finding.claim is not None and 0.05 <= finding.claim <= 5:
            assert finding.tightness >= 0.9, str(finding)


@pytest.mark.parametrize(("n", "epsilon"), [(1, "0.05"), (1, "0.5"), (2, "5")])
def test_a_violation_by_five_percent_is_caught(
    n: int, epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any pair that is not kept refutes a claim, so that one pair is enough."""
    claim = LimitedPrecision(n, epsilon)
    monkeypatch.setattr(black_box, "neighbours", lambda n: neighbours(n)[1:2])
    assert not audit_noise(claim, FixedNoise(claim.rate * Fraction(105, 100))).holds


def test_more_noise_than_claimed_is_no_confirmation() -> None:
    """A lower bound far below the claim shows an experiment without power, or other noise."""
    claim = LimitedPrecision(1, 1)
    report = audit_noise(claim, FixedNoise(claim.rate * Fraction(8, 10)))
    assert not report.holds
    assert "too far below" in str(report)


def test_words_that_share_a_column_are_counted_together() -> None:
    """Noise that is right for one word but doubled by a map of weight two is caught."""
    claim = LimitedPrecision(2, 1)
    noise = FixedNoise(claim.rate)
    doubled = lower_bound(
        AuditSubject((0, 0), lambda counts: noise(2 * counts) // 2),
        Neighbours("weight two", (2, 2), (3, 3)),
        trials=1 << 20,
        alarm=1e-6,
    )
    assert doubled > 1.5


def test_no_difference_gives_no_bound() -> None:
    subject = AuditSubject((0, 1), FixedNoise(Fraction(1)))
    silent = lower_bound(subject, Neighbours("same column", (1, 1), (1, 2)), 1 << 12, 1e-6)
    assert silent < 1
    constant = AuditSubject((0,), np.zeros_like)
    assert lower_bound(constant, Neighbours("one", (0,), (1,)), 1 << 12, 1e-6) <= 0


def test_neighbours_lie_at_the_distances_their_names_say() -> None:
    distances = {pair.name: pair.distance for pair in neighbours(5)}
    assert distances == {
        "one word": 1,
        "N words": 5,
        "N + 1 words": 6,
        "inside one column": 5,
        "a replaced passage": 4,
    }
    assert all(min(pair.left + pair.right) >= 0 for n in (1, 2, 9) for pair in neighbours(n))


def test_the_whole_audit_of_a_mechanism_holds() -> None:
    assert audit_mechanism(LimitedPrecision(2, 1), trials=1 << 16).holds


def test_the_audit_of_a_weaker_noise_than_claimed_does_not_hold() -> None:
    assert not audit_mechanism(LimitedPrecision(2, 1), noise_rate=1, trials=1 << 16).holds
