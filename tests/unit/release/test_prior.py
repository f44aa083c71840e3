"""Where frequencies come from and what they cost."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.compression import frequency
from sottovoce.release.compression.frequency import CentralPrior, LocalPrior
from sottovoce.release.counts import Counts

COUNTS: Counts = sparse.csr_array(np.array([[2, 0, 1], [3, 0, 0]]))
RATE = Fraction(1, 10)


def add_one(counts: Counts, rate: Fraction) -> Counts:
    assert rate == RATE
    return sparse.csr_array(counts.toarray() + 1)


def take_five(counts: Counts, rate: Fraction) -> Counts:
    return sparse.csr_array(counts.toarray() - 5)


def test_a_local_prior_adds_noise_to_every_document_and_a_central_one_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert CentralPrior(RATE).frequencies(COUNTS, add_one).tolist() == [6, 1, 2]
    assert LocalPrior(RATE).frequencies(COUNTS, add_one).tolist() == [7, 2, 3]
    monkeypatch.setattr(frequency, "ROWS_AT_ONCE", 1)
    assert LocalPrior(RATE).frequencies(COUNTS, add_one).tolist() == [7, 2, 3]


@pytest.mark.parametrize("kind", [LocalPrior, CentralPrior])
def test_noise_never_leaves_a_frequency_below_one(kind: type[LocalPrior | CentralPrior]) -> None:
    assert kind(RATE).frequencies(COUNTS, take_five).min() == 1


@pytest.mark.parametrize("rate", [0.1, 0, Fraction(-1, 2), True, "1"])
def test_a_rate_that_is_not_exact_and_positive_is_refused(rate: Any) -> None:  # noqa: ANN401  # bad
    with pytest.raises(ParameterError, match="rate must be"):
        LocalPrior(rate)


def test_noise_that_changes_the_width_is_refused() -> None:
    with pytest.raises(CorpusError, match="3 columns"):
        CentralPrior(RATE).frequencies(COUNTS, lambda counts, _: counts[:, :2])
