"""Count matrices as a release takes them: whole, finite and in CSR, one row per document.

`counts.npz` of a released folder, read block by block: it may be longer than memory.

The file is an archive of three arrays, as `scipy.sparse.save_npz` writes it. Data and columns are
read side by side, so that so many rows are in memory at a time and no more.
"""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.read.bytes import Growth
from sottovoce.errors import CorpusError, InputError, ParameterError

Counts: TypeAlias = "sparse.csr_array[np.int64, tuple[int, int]]"
Weights: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
Matrix: TypeAlias = "ArrayLike | sparse.spmatrix | sparse.sparray"

LARGEST_COUNT = 2**40  # a sum over eight million words still fits 64 bits


# Below it the compiler is not loaded for the checks.
_MANY_CELLS = 1 << 20


def checked_counts(matrix: Matrix, *, signed: bool = False, threads: int | None = None) -> Counts:
    """Return ``matrix`` as a CSR array of 64-bit integers, or say why it holds no counts.

    A ``signed`` matrix may hold negative counts: noise makes them. What already is as it should be
    is not copied, so the result is to be read, not changed.
    """
    rows = _as_csr(matrix)
    low = _check_values(rows.data, signed=signed, threads=threads)
    # An array of unsigned integers or of floats is whole by now, so that this loses nothing.
    whole = sparse.csr_array(rows.astype(np.int64, copy=False))
    if _in_order(whole, threads) and (low > 0 or whole.data.all()):
        return whole
    whole = whole.copy()
    whole.sum_duplicates()
    whole.eliminate_zeros()
    return whole


def checked_width(counts: Counts, width: int, *, what: str) -> None:
    """Refuse counts that do not have one column for each of ``width``."""
    if counts.shape[1] != width:
        raise CorpusError(
            f"the counts must have {width} columns, one per {what}, got {counts.shape[1]}."
        )


def _as_csr(matrix: Matrix) -> "sparse.csr_array[np.float64, tuple[int, int]]":
    dense_or_sparse: Any = matrix
    if not sparse.issparse(dense_or_sparse):
        dense_or_sparse = np.asarray(dense_or_sparse)
    if dense_or_sparse.ndim != 2:  # noqa: PLR2004  # a matrix has two axes
        raise CorpusError(
            f"counts must be a matrix of documents by words, got {dense_or_sparse.ndim} axes."
        )
    if dense_or_sparse.dtype.kind not in "iufb":
        raise CorpusError(f"counts must be numbers, got elements of type {dense_or_sparse.dtype}.")
    return sparse.csr_array(dense_or_sparse)


def _in_order(counts: Counts, threads: int | None) -> bool:
    """Whether each row names its columns in order, none twice; scipy is told, who would look again.

    Where a matrix is large, scipy's looking on one thread would be a tenth of a release.
    """
    if counts.nnz < _MANY_CELLS:
        return bool(counts.has_canonical_format)
    from sottovoce.privacy.mechanism import in_column_order  # noqa: PLC0415 - loads the compiler

    right = in_column_order(counts, threads)
    if right:
        counts.has_canonical_format = True
    return right


def _extremes(values: NDArray[np.float64], threads: int | None) -> tuple[float, float]:
    if values.size < _MANY_CELLS or values.dtype.kind == "f":
        return values.min(), values.max()
    from sottovoce.privacy.mechanism import extremes  # noqa: PLC0415 - loads the compiler

    return extremes(values, threads)


def _check_values(values: NDArray[np.float64], *, signed: bool, threads: int | None) -> float:
    """Refuse what is no count; the smallest value, 0 where there is none."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise CorpusError(
                "counts must be finite, got NaN or infinity; drop or repair those rows."
            )
        if not np.equal(values, np.rint(values)).all():
            raise CorpusError("counts must be whole numbers, got fractions; give raw word counts.")
    if not values.size:
        return 0
    low, high = _extremes(values, threads)
    if not signed and low < 0:
        raise CorpusError("Negative values in data: counts must be >= 0.")
    if max(int(high), -int(low)) > LARGEST_COUNT:
        raise CorpusError("counts must be at most 2^40.")
    return float(low)


class ReleasedRows(Protocol):
    """Released counts that may be longer than memory: they come in blocks of rows."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def blocks(self, rows: int) -> Iterator[Counts]: ...


_CHUNK_BYTES = 1 << 24
_FORMS = {"data": "<i8", "indices": "<i4", "indptr": "<i8"}
_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    MemoryError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
)


@dataclass(frozen=True)
class CountsFile:
    """Released counts on disk; ``blocks`` reads them from the first row on, as often as wanted."""

    path: Path

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Documents and columns."""
        with self._archive() as archive, archive.open("shape.npy") as file:
            rows, columns = np.lib.format.read_array(file, allow_pickle=False).tolist()
        return int(rows), int(columns)

    @cached_property
    def pointers(self) -> Integers:
        """Where each row begins among the cells, and where the last ends."""
        with self._archive() as archive, _open_array(archive, "indptr") as (file, size):
            pointers: Integers = _read(file, "indptr", size).astype(np.int64)
        rows = self.shape[0]
        if pointers.size != rows + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any():
            raise InputError(f"{self.path} is not a matrix of counts.")
        return pointers

    @property
    def nnz(self) -> int:
        """Cells that are not 0."""
        return int(self.pointers[-1])

    def blocks(self, rows: int) -> Iterator[Counts]:
        """The counts, so many rows at a time."""
        pointers, (height, width) = self.pointers, self.shape
        with self._archive() as archive, ExitStack() as open_files:
            data, cells = open_files.enter_context(_open_array(archive, "data"))
            columns, named = open_files.enter_context(_open_array(archive, "indices"))
            if not cells == named == pointers[-1]:
                raise InputError(f"{self.path} is not a matrix of counts.")
            for first in range(0, height, rows):
                own = pointers[first : first + rows + 1]
                size = int(own[-1] - own[0])
                found = _read(data, "data", size), _read(columns, "indices", size)
                yield self._block(*found, own - own[0], width)

    def _block(
        self, data: NDArray[np.integer], columns: NDArray[np.integer], own: Integers, width: int
    ) -> Counts:
        if columns.size and not (columns.min() >= 0 and columns.max() < width):
            raise InputError(f"{self.path} names columns that are not there.")
        return sparse.csr_array((data, columns, own), shape=(own.size - 1, width))

    def whole(self) -> Counts:
        """All of them, in memory."""
        return next(self.blocks(max(1, self.shape[0])))

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            growth = Growth(self.path)
            with zipfile.ZipFile(self.path) as archive:
                growth.add(sum(each.file_size for each in archive.infolist()))
                yield archive
        except InputError:
            raise
        except _UNREADABLE:
            raise InputError(f"{self.path} is not a matrix of counts.") from None


@contextmanager
def _open_array(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[IO[bytes], int]]:
    """One array of the archive from its first number on, and how many it has."""
    with archive.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        headers = {(1, 0): np.lib.format.read_array_header_1_0}
        read_header = headers.get(version, np.lib.format.read_array_header_2_0)
        shape, fortran, dtype = read_header(file)
        if len(shape) != 1 or fortran or dtype != np.dtype(_FORMS[name]):
            raise InputError(
                f"the {name} of the counts must be {_FORMS[name]} in one row, got {dtype}."
            )
        if shape[0] * dtype.itemsize > archive.getinfo(f"{name}.npy").file_size:
            raise InputError(f"the {name} of the counts claim more numbers than there are.")
        yield file, int(shape[0])


def _read(file: IO[bytes], name: str, size: int) -> NDArray[np.integer]:
    numbers = np.empty(size, np.dtype(_FORMS[name]))
    room = numbers.view(np.uint8)
    while room.size:
        chunk = file.read(min(room.size, _CHUNK_BYTES))
        if not chunk:
            raise EOFError
        room[: len(chunk)] = np.frombuffer(chunk, np.uint8)
        room = room[len(chunk) :]
    return numbers


def checked_prior(prior: Floats, words: int) -> Floats:
    """``prior`` as ``words`` finite frequencies >= 0 that are not all zero."""
    frequencies = np.asarray(prior, dtype=np.float64)
    if frequencies.shape != (words,):
        raise ParameterError(
            f"a prior must be {words} numbers, one per word, got shape {frequencies.shape}."
        )
    if not np.isfinite(frequencies).all() or frequencies.min() < 0:
        raise ParameterError("a prior's frequencies must be finite and >= 0; clip noisy ones.")
    if not frequencies.any():
        raise ParameterError("a prior of zeros tells nothing; give frequencies > 0.")
    return frequencies
