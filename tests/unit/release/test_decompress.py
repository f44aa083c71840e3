"""Multinomial decompression and its means."""

import numpy as np
import pytest
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.compression import decompress as module
from sottovoce.release.compression.decompress import (
    DRAWS_PER_WORD,
    expected_counts,
    multinomial_counts,
)
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts

pytestmark = pytest.mark.kernel

MAP = WordMap(np.array([0, 1, 0, 1, 2]), 4)  # column 3 has no word
PRIOR = np.array([1.0, 2.0, 3.0, 2.0, 5.0])


def noisy(rows: list[list[int]]) -> Counts:
    return sparse.csr_array(np.array(rows, dtype=np.int64))


def drawn_of(compressed: Counts, prior: Floats = PRIOR, seed: int = 0) -> Counts:
    return multinomial_counts(compressed, MAP, prior, np.random.default_rng(seed))


def test_expected_counts_share_by_the_prior_and_drop_negative_columns() -> None:
    counts = expected_counts(noisy([[4, 8, -3, 0], [0, -1, 7, 0]]), MAP, PRIOR)
    assert counts.toarray().tolist() == [[1, 4, 3, 4, 0], [0, 0, 0, 0, 7]]


def test_drawn_counts_keep_the_sum_of_every_positive_column() -> None:
    compressed = noisy([[4, 8, -3, 0], [0, -1, 7, 0], [0, 0, 0, 0], [2000, 1, 0, 0]])
    drawn = drawn_of(compressed)
    assert drawn.dtype == np.int64
    assert drawn.has_sorted_indices
    assert (drawn @ MAP.matrix).toarray().tolist() == np.maximum(compressed.toarray(), 0).tolist()


def test_noise_in_a_column_without_words_decompresses_to_nothing() -> None:
    assert drawn_of(noisy([[0, 0, 0, 9]])).nnz == 0
    assert expected_counts(noisy([[0, 0, 0, 9]]), MAP, PRIOR).nnz == 0
    later = drawn_of(noisy([[0, 0, 0, 9], [0, 0, 1, 0]]))
    assert later.toarray().tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]


def test_a_word_without_prior_is_never_drawn() -> None:
    prior = np.array([0.0, 2.0, 3.0, 0.0, 5.0])
    for count in (3, 100 * DRAWS_PER_WORD):
        drawn = drawn_of(noisy([[count, count, 0, 0]] * 20), prior)
        assert drawn[:, [0, 3]].nnz == 0


def test_a_seed_gives_the_same_draws_on_any_number_of_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROWS_PER_TASK", 3)
    compressed = noisy([[5, 9, 2, 0]] * 10)
    monkeypatch.setattr(module, "available_cores", lambda: 1)
    one = drawn_of(compressed, seed=5)
    monkeypatch.setattr(module, "available_cores", lambda: 3)
    three = drawn_of(compressed, seed=5)
    assert one.toarray().tolist() == three.toarray().tolist()
    assert len({tuple(row) for row in one.toarray().tolist()}) > 3


def test_the_order_in_which_threads_run_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_PER_TASK", 3)
    monkeypatch.setattr(module, "available_cores", lambda: 4)
    compressed = noisy([[5, 9, 2, 0]] * 10)
    forwards = drawn_of(compressed, seed=5)
    monkeypatch.setattr(
        module, "on_threads", lambda tasks: [task() for task in reversed(tasks)][::-1]
    )
    backwards = drawn_of(compressed, seed=5)
    assert forwards.toarray().tolist() == backwards.toarray().tolist()


def test_a_corpus_without_documents_decompresses_to_none() -> None:
    empty = sparse.csr_array((0, 4), dtype=np.int64)
    assert drawn_of(empty).shape == (0, 5)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (np.zeros(5), "a prior of zeros tells nothing"),
        (np.array([0.0, 1, 0, 1, 1]), "got 1 of 4 columns with a prior of zeros"),
        (np.array([1.0, -1, 1, 1, 1]), "finite and >= 0"),
        (np.array([1.0, np.nan, 1, 1, 1]), "finite and >= 0"),
        (np.ones(4), r"5 numbers, one per word, got shape \(4,\)"),
    ],
)
def test_a_prior_that_cannot_share_is_refused(prior: Floats, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        drawn_of(noisy([[1, 1, 1, 1]]), prior)
    with pytest.raises(ParameterError, match=message):
        expected_counts(noisy([[1, 1, 1, 1]]), MAP, prior)


def test_compressed_counts_of_another_map_are_refused() -> None:
    with pytest.raises(CorpusError, match="must have 4 columns"):
        drawn_of(noisy([[1, 1]]))
