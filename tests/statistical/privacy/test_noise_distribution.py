"""A million draws fit the law they claim, and not one 2% away (chi-square, fixed keys)."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import chisquare

from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.sampler import geometric_sampler, two_sided_sampler
from sottovoce.release.audit import FixedKeystream

DRAWS = 1_000_000
RATES = ["5", "1", "0.5", "0.05", "0.0001"]
FLOOR = 1e-4
CEILING = 1e-9


def two_sided(rate: float, values: NDArray[np.int64]) -> NDArray[np.float64]:
    alpha = np.exp(-rate)
    return np.asarray((1 - alpha) / (1 + alpha) * alpha ** np.abs(values))


def one_sided(rate: float, values: NDArray[np.int64]) -> NDArray[np.float64]:
    here = (1 - np.exp(-rate)) * np.exp(-rate * np.maximum(values, 0))
    return np.asarray(np.where(values >= 0, here, 0))


def fit(
    draws: NDArray[np.int64],
    pmf: Callable[[float, NDArray[np.int64]], NDArray[np.float64]],
    rate: float,
) -> float:
    """The p-value of a chi-square test over at most 200 bins of about equal expectation."""
    reach = int(30 / rate) + 2
    support = np.arange(-reach, reach + 1)
    expected = pmf(rate, support) * draws.size
    edges = _bins(expected)
    observed = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=support.size)
    seen, meant = np.add.reduceat(observed, edges), np.add.reduceat(expected, edges)
    return float(chisquare(seen, meant * seen.sum() / meant.sum()).pvalue)


def _bins(expected: NDArray[np.float64]) -> NDArray[np.intp]:
    """Where bins start: whenever another two-hundredth, or else 50 draws, are full."""
    share = max(50.0, float(expected.sum()) / 200)
    after = np.cumsum(expected)
    full = np.flatnonzero(np.diff(np.floor(after / share), prepend=0.0) > 0) + 1
    return np.append(0, full[after[-1] - after[full - 1] >= 50])


@pytest.mark.parametrize("rate", RATES)
def test_two_sided_draws_fit_their_rate_and_no_other(rate: str) -> None:
    draws = two_sided_sampler(Fraction(rate)).draw(DRAWS, FixedKeystream(1))
    assert fit(draws, two_sided, float(rate)) > FLOOR
    assert fit(draws, two_sided, float(rate) * 1.02) < CEILING
    assert fit(draws, two_sided, float(rate) / 1.02) < CEILING


@pytest.mark.parametrize("rate", RATES)
def test_geometric_draws_fit_their_rate_and_no_other(rate: str) -> None:
    draws = geometric_sampler(Fraction(rate)).draw(DRAWS, FixedKeystream(2))
    assert draws.min() >= 0
    assert fit(draws, one_sided, float(rate)) > FLOOR
    assert fit(draws, one_sided, float(rate) * 1.02) < CEILING


class Repeatable(GeometricMechanism):
    """The mechanism under a fixed key, so that the test repeats."""

    _make_source = staticmethod(lambda: FixedKeystream(3))


@pytest.mark.parametrize("threshold", [None, 1, 2])
@pytest.mark.parametrize("rate", ["3", "0.5"])
def test_dense_and_sparse_agree_in_distribution(rate: str, threshold: int | None) -> None:
    """Zero cells and stored cells alike; a rate 2% off is told apart on the same draws."""
    counts = np.zeros((1000, 1000), dtype=np.int64)
    counts[:, ::5] = 2
    sparse = Repeatable(rate).sparse(csr_array(counts), threshold=threshold, threads=1).toarray()
    for stored in (0, 2):
        got = sparse[counts == stored]
        assert agree(got, stored, threshold, float(rate)) > FLOOR
        assert agree(got, stored, threshold, float(rate) * 1.02) < FLOOR


def agree(values: NDArray[np.int64], stored: int, threshold: int | None, rate: float) -> float:
    support = np.arange(-12, 13)
    expected = two_sided(rate, support - stored)
    if threshold is not None:
        expected = np.where(support >= threshold, expected, 0)
    expected[support == 0] += 1 - expected.sum()
    observed = np.bincount(values[np.abs(values) <= 12] + 12, minlength=25)
    observed[12] += values.size - observed.sum()
    kept = expected * values.size >= 50
    seen = np.append(observed[kept], observed[~kept].sum())
    meant = np.append(expected[kept], expected[~kept].sum()) * values.size
    positive = meant > 0
    return float(chisquare(seen[positive], meant[positive]).pvalue)


def test_stored_and_zero_cells_are_independent_of_their_place() -> None:
    """The last row and column are noised as often as the first."""
    empty: csr_array = csr_array((400, 400), dtype=np.int64)
    out = Repeatable("3").sparse(empty, threads=1)
    for axis in (0, 1):
        nonzero = np.count_nonzero(out.toarray(), axis=axis)
        quarters = nonzero.reshape(4, 100).sum(axis=1)
        assert chisquare(quarters).pvalue > FLOOR
