"""Counts go in and come out as integers, whole, in shape, and under fresh noise each time."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from sottovoce.errors import InputError, ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy
from sottovoce.privacy.mechanism import LARGEST_COUNT, GeometricMechanism
from sottovoce.release.audit import FixedKeystream

pytestmark = pytest.mark.kernel


def some_counts() -> NDArray[np.int64]:
    counts = np.zeros((6, 5), dtype=np.int64)
    counts[0, 2], counts[2, :], counts[5, 0], counts[5, 4] = 3, [1, 2, 3, 4, 5], 9, 7
    return counts


def test_the_mechanism_knows_what_it_promises() -> None:
    assert GeometricMechanism("0.5").guarantee == LimitedPrecision(2, 1)
    assert GeometricMechanism.giving(LimitedPrecision(4, 2)).rate == Fraction(1, 2)
    assert GeometricMechanism.giving(LocalPrivacy(2, 10)).rate == Fraction(1, 10)


@pytest.mark.parametrize("threshold", [None, 1, 4])
def test_next_to_no_noise_leaves_the_counts(threshold: int | None) -> None:
    """At rate 500 a draw is not 0 with probability 10^-217."""
    counts, mechanism = some_counts(), GeometricMechanism(500)
    expected = np.where(counts >= (threshold or 0), counts, 0)
    np.testing.assert_array_equal(mechanism.dense(counts, threshold=threshold), expected)
    out = mechanism.sparse(csr_array(counts), threshold=threshold)
    np.testing.assert_array_equal(out.toarray(), expected)


@pytest.mark.parametrize("rate", ["0.1", "4"])
def test_sparse_output_is_canonical_and_has_no_stored_zero(rate: str) -> None:
    out = GeometricMechanism(rate).sparse(csr_array(some_counts()))
    assert out.has_canonical_format
    assert out.shape == (6, 5)
    assert out.nnz == np.count_nonzero(out.toarray())


def test_unsorted_or_repeated_entries_are_put_in_order_on_a_copy() -> None:
    messy = csr_array((np.array([1, 5, 2]), np.array([3, 1, 3]), np.array([0, 3])), shape=(1, 4))
    messy.has_canonical_format = False
    out = GeometricMechanism(500).sparse(messy)
    assert out.toarray().tolist() == [[0, 5, 0, 3]]
    assert messy.nnz == 3


def test_the_input_is_left_alone() -> None:
    counts = some_counts()
    GeometricMechanism("0.1").dense(counts)
    sparse = csr_array(counts)
    GeometricMechanism("0.1").sparse(sparse)
    np.testing.assert_array_equal(counts, some_counts())
    np.testing.assert_array_equal(sparse.toarray(), some_counts())


def test_sparse_noise_repeats_neither_between_threads_nor_between_calls() -> None:
    mechanism, zeros = GeometricMechanism("1/2"), csr_array((1 << 14, 64), dtype=np.int64)
    calls = [mechanism.sparse(zeros, threads=2).toarray() for _ in range(2)]
    halves = [half.tobytes() for drawn in calls for half in np.split(drawn, 2)]
    assert len(set(halves)) == 4


@pytest.mark.parametrize("threads", [0, -1])
def test_a_number_of_threads_that_is_none_is_refused(threads: int) -> None:
    mechanism, counts = GeometricMechanism(1), np.ones((2, 2), np.int64)
    with pytest.raises(ParameterError, match="threads must be > 0"):
        mechanism.sparse(csr_array(counts), threads=threads)
    with pytest.raises(ParameterError, match="threads must be > 0"):
        mechanism.dense(counts, threads=threads)


def test_several_threads_share_no_noise() -> None:
    noise = GeometricMechanism(1).noise(1 << 19, threads=2)
    half = noise.size // 2
    assert not np.array_equal(noise[:half], noise[half:])


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_an_empty_matrix_comes_back_empty(shape: tuple[int, int]) -> None:
    for rate in ("0.1", "4"):
        out = GeometricMechanism(rate).sparse(csr_array(shape, dtype=np.int64))
        assert out.shape == shape
        assert out.nnz == 0
    assert GeometricMechanism(1).dense(np.zeros(shape, dtype=np.int64)).shape == shape


def test_what_is_not_a_count_is_refused() -> None:
    mechanism = GeometricMechanism(1)
    with pytest.raises(InputError, match="must be integers, got float64"):
        mechanism.dense(np.array([0.5]))
    with pytest.raises(InputError, match="between"):
        mechanism.dense(np.array([LARGEST_COUNT + 1]))
    with pytest.raises(InputError, match="CSR"):
        mechanism.sparse(csc_array(some_counts()))  # type: ignore[arg-type]  # the point
    with pytest.raises(InputError, match="columns"):
        mechanism.sparse(csr_array((1, 1 << 31), dtype=np.int64))


@pytest.mark.parametrize("threshold", [0, -1])
def test_a_threshold_below_one_is_refused(threshold: int) -> None:
    mechanism = GeometricMechanism(1)
    with pytest.raises(ParameterError, match="threshold"):
        mechanism.sparse(csr_array(some_counts()), threshold=threshold)
    with pytest.raises(ParameterError, match="threshold"):
        mechanism.dense(some_counts(), threshold=threshold)


class Counted(FixedKeystream):
    """A fixed keystream that counts the bytes drawn from it."""

    drawn = 0

    def fill(self, out: NDArray[np.uint8]) -> None:
        Counted.drawn += out.size
        super().fill(out)


class Watched(GeometricMechanism):
    """The mechanism under a key that is fixed, so that runs can be compared."""

    _make_source = staticmethod(lambda: Counted(5))


def test_dense_work_and_noise_do_not_depend_on_the_counts() -> None:
    counts = np.random.default_rng(0).integers(0, 1000, (300, 100))
    results = []
    for secret in (np.zeros_like(counts), counts):
        Counted.drawn = 0
        results.append((Watched("0.1").dense(secret) - secret, Counted.drawn))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert results[0][1] == results[1][1] > 0


def test_sparse_memory_follows_the_output_not_the_cells() -> None:
    """Ten million cells, dense 80 MB, of which a few thousand come out."""
    empty = csr_array((1000, 10_000), dtype=np.int64)
    mechanism = GeometricMechanism(8)
    mechanism.sparse(empty)
    tracemalloc.start()
    out = mechanism.sparse(empty)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert out.nnz > 5000
    assert peak < 200 * out.nnz + 1_000_000
