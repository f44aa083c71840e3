"""What counts as a count matrix, without scikit-learn in front."""

from typing import Any

import numpy as np
import pytest

from sottovoce.errors import CorpusError
from sottovoce.release.counts import checked_counts


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, 2], "documents by words, got 1 axes"),
        ([["a"]], "counts must be numbers"),
        ([[1j]], "counts must be numbers"),
        ([[np.nan]], "must be finite"),
        ([[0.5]], "got fractions"),
        ([[-2]], "must be >= 0"),
    ],
)
def test_what_is_no_count_is_refused(matrix: Any, message: str) -> None:  # noqa: ANN401  # bad
    with pytest.raises(CorpusError, match=message):
        checked_counts(matrix)


def test_noise_may_make_counts_negative_but_not_too_large() -> None:
    assert checked_counts([[-2, 0]], signed=True).toarray().tolist() == [[-2, 0]]
    with pytest.raises(CorpusError, match=r"at most 2\^40"):
        checked_counts([[-(2**41)]], signed=True)


def test_whole_floats_become_integers_and_the_input_stays_as_it_was() -> None:
    given = np.array([[1.0, 0.0]])
    assert checked_counts(given).dtype == np.int64
    assert given.dtype == np.float64
