"""Topics of releases longer than memory: what reading them takes, and that nothing is lost."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.counts import Counts
from sottovoce.release.topics import estimator
from sottovoce.release.topics._expected import block_cells, pair_sums_of, positive_cells
from sottovoce.release.topics._refine import noise_share
from sottovoce.release.topics.estimator import PrivateTopics

RATE, WORDS = 1.0, 40


def _released(documents: int, seed: int = 0) -> Counts:
    drawn = np.random.default_rng(seed)
    theta = np.repeat(np.eye(2), documents // 2, axis=0) * 12
    topics = np.kron(np.eye(2), np.full((1, WORDS // 2), 2 / WORDS))
    noise = drawn.geometric(-np.expm1(-RATE), (2, documents, WORDS))
    return sparse.csr_array(drawn.poisson(theta @ topics) + noise[0] - noise[1])


@dataclass(frozen=True)
class RepeatedRows:
    """The same few rows over and over, never in memory together."""

    block: Counts
    times: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.block.shape[0] * self.times, self.block.shape[1]

    def blocks(self, rows: int) -> Iterator[Counts]:
        assert rows == self.block.shape[0]
        yield from (self.block.copy() for _ in range(self.times))


@dataclass(frozen=True)
class LongRelease:
    """A release whose rows come block by block."""

    rows: RepeatedRows
    law: NoiseLaw
    is_compressed: bool = False


def _peak(times: int, block: Counts) -> int:
    topics = PrivateTopics(2, max_iter=1, most_cells=30_000, threads=1)
    tracemalloc.start()
    topics.fit(LongRelease(RepeatedRows(block, times), NoiseLaw(RATE)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_reading_ten_times_the_documents_takes_no_more_memory() -> None:
    block = _released(4096)
    _peak(1, block)  # compiling kernels takes memory too
    few, many = _peak(2, block), _peak(20, block)
    assert many < few + block.data.nbytes / 2


@pytest.mark.parametrize("threads", [1, 3])
def test_pairs_are_the_same_by_products_of_matrices_as_one_by_one(threads: int) -> None:
    cells, means = block_cells(_released(2100)), np.full(WORDS, 0.3)
    assert cells.density > 0.25
    products = pair_sums_of([cells], means, NoiseLaw(RATE), threads=threads)
    single = pair_sums_of(cells.blocks(1000), means, NoiseLaw(RATE), threads=threads)
    again = pair_sums_of([cells], means, NoiseLaw(RATE), threads=2)
    assert np.allclose(products.covariance(), single.covariance(), atol=1e-12)
    assert np.array_equal(products.covariance(), again.covariance())


def test_cells_of_a_block_in_any_order_and_split_are_read_as_one() -> None:
    rows = np.array([[3, 0, -2], [0, 0, 0], [-1, 4, 1]])
    loose = sparse.csr_array(
        (np.array([-2, 1, 2, 4, 1, -1]), np.array([2, 0, 0, 1, 2, 0]), np.array([0, 3, 3, 6])),
        shape=(3, 3),
    )
    cells = block_cells(loose)
    assert cells.pointers.tolist() == [0, 1, 1, 3]
    assert (cells.words.tolist(), cells.values.tolist()) == ([0, 1, 2], [3, 4, 1])
    assert cells.totals.tolist() == rows.sum(axis=0).tolist()
    assert cells.row_variance == pytest.approx(rows.sum(axis=1).var())


def test_the_variance_of_lengths_is_that_of_all_blocks_together() -> None:
    matrix = np.random.default_rng(0).poisson(2.0, (5000, 3)) + np.arange(5000)[:, None] // 2500
    found = positive_cells(sparse.csr_array(matrix), most=10**6)
    assert found.row_variance == pytest.approx(matrix.sum(axis=1).var())


def test_pairs_of_noise_are_known_as_noise_and_those_of_topics_are_not() -> None:
    even = np.ones(WORDS)
    found = {
        name: pair_sums_of([block_cells(counts)], even / 4, NoiseLaw(RATE)).covariance()
        for name, counts in (("topics", _released(4000)), ("noise", _noise(4000)))
    }
    assert noise_share(found["noise"], even, 4000) > 0.9
    assert noise_share(found["topics"], even, 4000) < 0.5


def _noise(documents: int) -> Counts:
    noise = np.random.default_rng(1).geometric(-np.expm1(-RATE), (2, documents, WORDS))
    return sparse.csr_array(noise[0] - noise[1])


def test_topics_of_noise_are_drawn_further_to_the_words_of_all() -> None:
    least = {}
    for name, counts in (("topics", _released(4000)), ("noise", _noise(4000))):
        reader = PrivateTopics(2, rate=RATE, reader="pairs").fit(counts)
        least[name] = float((reader.components_ / reader.frequencies_).min())
    assert least["topics"] == pytest.approx(0.05, abs=0.02)
    assert least["noise"] > 0.2


def test_many_documents_are_swept_over_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = _released(20), _released(80)
    monkeypatch.setattr(estimator, "_WORK", 50 * int((few.data > 0).sum()))
    sweeps = [
        PrivateTopics(2, rate=RATE, max_iter=40).fit(counts).n_iter_ for counts in (few, many)
    ]
    assert sweeps[0] == 40
    assert 8 <= sweeps[1] < 20
