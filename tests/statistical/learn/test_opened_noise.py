"""The opened total less the plain sum follows the law of exactly the shares that are in it."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from scipy import stats
from support.counts import counting

from sottovoce.arrays import Integers
from sottovoce.privacy.opened_noise import SharesLaw
from sottovoce.privacy.shares import NoiseShare
from sottovoce.release.audit import FixedKeystream

WORDS = tuple(f"w{at}" for at in range(900))
# Of five peers with drop = 2: after their keys, or once all have each other's shares.
LOST = [{}, {"peer4": 5}, {"peer1": 3, "peer3": 5}]
Noise = Callable[[dict[str, int]], Integers]


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> Noise:
    seeds = count()
    monkeypatch.setattr(
        NoiseShare, "_make_source", staticmethod(lambda: FixedKeystream(next(seeds)))
    )

    def drawn(lost: dict[str, int]) -> Integers:
        run = counting(5, WORDS, what="pairs", votes=2, epsilon=Fraction(2), drop=2)
        counted = run.run(lost=lost)
        assert set(counted.survivors) == set(run.peers) - set(lost)
        assert counted.law == SharesLaw(1, shares=5 - len(lost), among=3)
        return counted.totals - run.plain(counted.survivors)

    return drawn


def p_value(values: Integers, law: SharesLaw) -> float:
    """Of the chi-square test against ``law``, far values together in one bin a side."""
    edge = int(np.argmax(law.at_least(np.arange(law.reach)) * values.size < 20))
    bins = np.arange(-edge, edge + 1)
    expected = law.probability(bins)
    expected[0] = expected[-1] = law.at_least(edge)
    seen = np.bincount(np.clip(values, -edge, edge) + edge, minlength=bins.size)
    return float(stats.chisquare(seen, expected * values.size / expected.sum()).pvalue)


@pytest.mark.parametrize("lost", LOST, ids=["nobody lost", "one lost", "all that may be lost"])
def test_the_noise_is_that_of_those_who_are_left(noise: Noise, lost: dict[str, int]) -> None:
    values = noise(lost)
    left = 5 - len(lost)
    assert p_value(values, SharesLaw(1, shares=left, among=3)) > 1e-3
    # A rate that is 2% off is told from it, and so is one share more or less.
    assert p_value(values, SharesLaw("0.98", shares=left, among=3)) < 1e-6
    assert p_value(values, SharesLaw("1.02", shares=left, among=3)) < 1e-6
    assert p_value(values, SharesLaw(1, shares=left - 1, among=3)) < 1e-6
