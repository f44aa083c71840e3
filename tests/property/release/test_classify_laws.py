"""Laws of the classifiers of releases: names and orders mean nothing to them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.bayes import PrivateNaiveBayes, positive_means
from sottovoce.release.classify.features import BitFeature, ExpectedCells

SEEDS = st.integers(0, 2**32 - 1)
RATES = st.floats(0.05, 5.0)


def _released(seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    codes = np.arange(24) % 3
    return generator.integers(-3, 6, (24, 5)) + 2 * (codes[:, None] == np.arange(5)), codes


@settings(max_examples=8, deadline=None)
@given(SEEDS, RATES, st.permutations(range(3)))
def test_other_names_for_the_classes_permute_the_probabilities(
    seed: int, rate: float, names: list[int]
) -> None:
    cells, codes = _released(seed)
    renamed = np.array(names)[codes]
    first = PrivateNaiveBayes(rate).fit(cells, codes).predict_proba(np.abs(cells))
    second = PrivateNaiveBayes(rate).fit(cells, renamed).predict_proba(np.abs(cells))
    assert second[:, names] == pytest.approx(first, rel=1e-4, abs=1e-7)


@settings(max_examples=8, deadline=None)
@given(SEEDS, RATES)
def test_the_order_of_words_and_of_documents_means_nothing(seed: int, rate: float) -> None:
    cells, codes = _released(seed)
    generator = np.random.default_rng(seed)
    rows, columns = generator.permutation(24), generator.permutation(5)
    plain = PrivateNaiveBayes(rate).fit(cells, codes)
    mixed = PrivateNaiveBayes(rate).fit(cells[rows][:, columns], codes[rows])
    for one, other in (
        (plain.predict_proba(np.abs(cells)), mixed.predict_proba(np.abs(cells)[:, columns])),
        (plain.predict_proba_released(cells), mixed.predict_proba_released(cells[:, columns])),
    ):
        assert other == pytest.approx(one, rel=1e-6, abs=1e-9)


@settings(max_examples=12, deadline=None)
@given(SEEDS, RATES)
def test_released_cells_at_or_below_zero_all_say_the_same(seed: int, rate: float) -> None:
    cells, codes = _released(seed)
    fitted = PrivateNaiveBayes(rate).fit(cells, codes)
    lower = np.where(cells <= 0, cells - 7, cells)
    clipped = np.maximum(cells, 0)
    assert np.array_equal(
        fitted.predict_proba_released(lower), fitted.predict_proba_released(clipped)
    )


@settings(max_examples=30, deadline=None)
@given(RATES, st.floats(0.001, 20))
def test_a_higher_cell_never_says_less(rate: float, mean: float) -> None:
    law = NoiseLaw(rate)
    table = ExpectedCells.tabulate(law, np.array([mean]), BitFeature(law), 12).table[0]
    assert (np.diff(table) >= -1e-9).all()
    assert table[0] >= 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=8), st.floats(1e-6, 4))
def test_shrunk_means_are_positive_and_keep_their_order(means: list[float], noise: float) -> None:
    given_means = np.array(means)
    shrunk = positive_means(given_means, noise)
    assert (shrunk > 0).all()
    assert np.isfinite(shrunk).all()
    order = np.argsort(given_means, kind="stable")
    assert (np.diff(shrunk[order]) >= -1e-9).all()


def test_stored_zeros_and_dense_input_are_the_same_release() -> None:
    cells, codes = _released(0)
    dense = PrivateNaiveBayes(1.0).fit(cells, codes).predict_proba(np.abs(cells))
    stored = sparse.csr_array(cells + 1)
    stored.data -= 1
    assert np.array_equal(
        dense, PrivateNaiveBayes(1.0).fit(stored, codes).predict_proba(np.abs(cells))
    )
