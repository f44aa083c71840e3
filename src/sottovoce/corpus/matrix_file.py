"""Count matrices on disk, written row block by row block.

The file is what ``scipy.sparse.load_npz`` reads. Its three arrays are spilled beside it while the
blocks come in, so memory does not grow with the number of rows.
"""

import os
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.errors import CorpusError

Dtype: TypeAlias = Literal["<i4", "<i8"]

_COPY_BYTES = 1 << 20


def write_matrix(
    path: Path, blocks: Iterable[sparse.csr_array], width: int, *, dtype: Dtype = "<i4"
) -> tuple[int, int]:
    """Write the blocks, one under another; return the number of rows and of non-zeros.

    ``path`` grows as it is written: give the temporary name of a ``whole_file``. A count that
    ``dtype`` cannot hold is an error.
    """
    with TemporaryDirectory(dir=path.parent, prefix=".spill.") as spill:
        parts = {name: Path(spill, name) for name in ("data", "indices", "indptr")}
        rows, cells = _spill(parts, blocks, dtype)
        with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
            _store_file(archive, "data", parts["data"], dtype, cells)
            _store_file(archive, "indices", parts["indices"], "<i4", cells)
            _store_file(archive, "indptr", parts["indptr"], "<i8", rows + 1)
            _store(archive, "format", np.array(b"csr"))
            _store(archive, "shape", np.array([rows, width], np.int64))
    return rows, cells


def matrix_bytes(matrix: sparse.csr_array) -> bytes:
    """The file of a matrix in memory, with 64 bits a count."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _store(archive, "data", matrix.data.astype("<i8"))
        _store(archive, "indices", matrix.indices.astype("<i4"))
        _store(archive, "indptr", matrix.indptr.astype("<i8"))
        _store(archive, "format", np.array(b"csr"))
        _store(archive, "shape", np.array(matrix.shape, np.int64))
    return buffer.getvalue()


def _spill(
    parts: dict[str, Path], blocks: Iterable[sparse.csr_array], dtype: Dtype
) -> tuple[int, int]:
    rows = cells = 0
    with (
        parts["data"].open("wb") as data,
        parts["indices"].open("wb") as indices,
        parts["indptr"].open("wb") as indptr,
    ):
        indptr.write(np.int64(0).tobytes())
        for block in blocks:
            data.write(_narrow_counts(block.data, dtype).tobytes())
            indices.write(block.indices.astype("<i4").tobytes())
            indptr.write((block.indptr[1:].astype("<i8") + cells).tobytes())
            rows += block.shape[0]
            cells += block.nnz
    return rows, cells


def _narrow_counts(counts: NDArray[np.integer], dtype: Dtype) -> NDArray[np.integer]:
    narrow: NDArray[np.integer] = counts.astype(dtype)
    if not np.array_equal(narrow, counts):
        raise CorpusError(f"a count does not fit into {np.dtype(dtype).itemsize * 8} bits.")
    return narrow


def _store_file(archive: zipfile.ZipFile, name: str, part: Path, dtype: str, size: int) -> None:
    header = {"descr": dtype, "fortran_order": False, "shape": (size,)}
    with archive.open(_entry(name), "w", force_zip64=True) as out, part.open("rb") as source:
        np.lib.format.write_array_header_2_0(out, header)
        while chunk := source.read(_COPY_BYTES):
            out.write(chunk)
    os.truncate(part, 0)


def _store(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    with archive.open(_entry(name), "w") as out:
        np.lib.format.write_array(out, array, allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    # A fixed date, so that the same counts give the same bytes.
    return zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
