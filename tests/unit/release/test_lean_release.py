"""A release needs room for its columns and its output, and little else."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from sottovoce.privacy import _sparse_noise as sparse_noise
from sottovoce.privacy._sparse_noise import SparseNoise
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.counts import Counts, checked_counts

DENSE, SPARSE = "1/2", "5"


def some_counts() -> Counts:
    return csr_array(np.arange(60, dtype=np.int64).reshape(6, 10) % 7)


def test_counts_that_are_in_order_are_not_copied() -> None:
    counts = some_counts()
    assert np.shares_memory(checked_counts(counts).data, counts.data)


def test_counts_that_are_not_in_order_are_put_in_order_on_a_copy() -> None:
    messy = csr_array((np.array([1, 0, 2]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert checked_counts(messy).toarray().tolist() == [[0, 3]]
    assert messy.data.tolist() == [1, 0, 2]
    assert messy.indices.tolist() == [1, 0, 1]


@pytest.mark.kernel
@pytest.mark.parametrize("rate", [DENSE, SPARSE])
def test_one_long_document_is_released_on_several_threads(
    rate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.privacy.mechanism._CELLS_PER_THREAD", 10)
    long = csr_array((1, 3000), dtype=np.int64)
    out = GeometricMechanism(rate).sparse(long, threads=2)
    assert out.shape == (1, 3000)
    assert 0 < out.nnz < 3000


@pytest.mark.kernel
@pytest.mark.parametrize("block", [1, 25, 1 << 18])
def test_blocks_of_any_height_make_up_the_same_rows(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a rate of 500 there is next to no noise, so that the rows must come back as they were."""
    monkeypatch.setattr(sparse_noise, "_BLOCK_CELLS", block)
    counts = some_counts()
    for chance in (Fraction(0), Fraction(1, 8)):
        monkeypatch.setattr(sparse_noise, "_DENSE_CHANCE", chance)
        out = GeometricMechanism(500).sparse(counts, threads=1)
        np.testing.assert_array_equal(out.toarray(), counts.toarray())


@pytest.mark.kernel
@pytest.mark.parametrize("rate", [DENSE, SPARSE])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("expected", [1, 20, 60])
def test_an_output_larger_than_expected_finds_room(
    rate: str, threads: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.privacy.mechanism._CELLS_PER_THREAD", 10)
    monkeypatch.setattr(SparseNoise, "room_for", lambda _self, _rows: expected)
    monkeypatch.setattr(sparse_noise, "_BLOCK_CELLS", 3)
    counts = some_counts() * 1000
    out = GeometricMechanism(rate).sparse(counts, threads=threads)
    assert out.has_canonical_format
    assert abs(out - counts).max() < 200
