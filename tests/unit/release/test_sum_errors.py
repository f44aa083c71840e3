"""What a dry run says of sums is what noise does to them."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from sottovoce.privacy.mechanism import geometric_noise
from sottovoce.release.counts import checked_counts
from sottovoce.release.quote import SumErrors

ROWS, COLUMNS = 40, 50


@pytest.fixture(scope="module")
def totals_of_nothing() -> np.ndarray:
    """Totals of 200 releases of empty rows, one line each."""
    empty = checked_counts(sparse.csr_array((ROWS, COLUMNS), dtype=int))
    return np.array([geometric_noise(empty, Fraction(1, 2)).sum(axis=0) for _ in range(200)])


def test_the_error_of_a_total_is_that_of_releases(totals_of_nothing: np.ndarray) -> None:
    errors = SumErrors(ROWS, COLUMNS, Fraction(1, 2))
    assert totals_of_nothing.std() == pytest.approx(errors.word, rel=0.03)
    assert totals_of_nothing.std() != pytest.approx(
        SumErrors(ROWS, COLUMNS, Fraction(3, 5)).word, rel=0.03
    )


def test_noise_alone_seldom_reaches_the_smallest_total(totals_of_nothing: np.ndarray) -> None:
    errors = SumErrors(ROWS, COLUMNS, Fraction(1, 2))
    fooled = (totals_of_nothing.max(axis=1) >= errors.smallest_total).mean()
    one_column = SumErrors(ROWS, 1, Fraction(1, 2)).smallest_total
    assert fooled <= 0.075
    assert (totals_of_nothing.max(axis=1) >= one_column).mean() > 0.5


def test_half_the_rate_costs_four_times_the_documents() -> None:
    few, many = SumErrors(1000, 9, Fraction(1, 10)), SumErrors(4000, 9, Fraction(1, 20))
    assert many.word / many.rows == pytest.approx(few.word / few.rows, rel=0.01)
