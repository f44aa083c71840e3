"""What counts as a count matrix, in memory and read block by block from a file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sottovoce.corpus.matrix_file import matrix_bytes
from sottovoce.errors import CorpusError, InputError
from sottovoce.release.counts import CountsFile, checked_counts

ROWS = sparse.csr_array(np.array([[0, -2, 3], [0, 0, 0], [1, 0, 0], [0, 4, -1], [7, 0, 2]]))


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


def stored(folder: Path, matrix: sparse.csr_array = ROWS) -> CountsFile:
    path = folder / "counts.npz"
    path.write_bytes(matrix_bytes(matrix))
    return CountsFile(path)


@pytest.mark.parametrize("rows", [1, 2, 5, 9])
def test_blocks_are_the_rows_in_their_order(tmp_path: Path, rows: int) -> None:
    file = stored(tmp_path)
    blocks = list(file.blocks(rows))
    assert file.shape == ROWS.shape
    assert [block.shape[0] for block in blocks] == [
        min(rows, 5 - first) for first in range(0, 5, rows)
    ]
    np.testing.assert_array_equal(sparse.vstack(blocks).toarray(), ROWS.toarray())
    np.testing.assert_array_equal(file.whole().toarray(), ROWS.toarray())


def test_what_scipy_compressed_is_read_too(tmp_path: Path) -> None:
    wide = ROWS.copy()
    wide.indptr = wide.indptr.astype(np.int64)
    sparse.save_npz(tmp_path / "counts.npz", wide, compressed=True)
    whole = CountsFile(tmp_path / "counts.npz").whole()
    np.testing.assert_array_equal(whole.toarray(), ROWS.toarray())


def beyond() -> sparse.csr_array:
    matrix = ROWS.copy()
    matrix.indices[0] = 99
    return matrix


def shuffled() -> sparse.csr_array:
    matrix = ROWS.copy()
    matrix.indptr[2] = 5
    return matrix


@pytest.mark.parametrize("matrix", [beyond(), shuffled()], ids=["columns", "rows"])
def test_cells_that_are_not_there_are_refused(tmp_path: Path, matrix: sparse.csr_array) -> None:
    file = stored(tmp_path, matrix)
    with pytest.raises(InputError, match=r"not there|not a matrix of counts"):
        list(file.blocks(2))


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    file = stored(tmp_path)
    file.path.write_bytes(file.path.read_bytes()[:-30])
    with pytest.raises(InputError, match="not a matrix of counts"):
        file.whole()


def test_counts_that_are_no_whole_numbers_are_refused(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "counts.npz", ROWS.astype(float))
    with pytest.raises(InputError, match=r"must be <i"):
        CountsFile(tmp_path / "counts.npz").whole()
