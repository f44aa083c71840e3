"""Documents counted where they lie: blocks of rows that know their place in the corpus.

The order of the documents is that of the files by their names, and of the rows in each file; so one
file gives the order it gives on one machine. A block is named by its file, by where in the file its
part begins, and by its number in that part. True counts stay on the workers; what leaves them is
noised (``_noise``) or hashed.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.columns import split_batch, to_documents
from sottovoce.corpus.read.tally import Tally
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.inputs import CountsElsewhere, lengths_and_bytes
from sottovoce_spark._states import TALLIES, tally_counts

BLOCKS = (
    "file string, start bigint, number bigint, digest string, lengths binary, columns binary, "
    "data binary, tally array<bigint>"
)
NAMES = ("file", "start", "number")
DIGESTED = "file string, start bigint, number bigint, digest string, first bigint"
TEXTS = "lengths binary, texts binary"
TOTALS = "totals binary"
_NO_BLOCK = -1


class Counting(NamedTuple):
    """How documents are counted."""

    vocabulary: Vocabulary
    rules: TokenRules
    longest_text: int


class BlockName(NamedTuple):
    """What a block is called; names sort as their documents do."""

    file: str
    """The file's address, as `file_order` writes it."""
    start: int
    number: int


def file_order(address: str) -> str:
    """What files are ordered by, however their addresses are written."""
    return unquote(urlsplit(address).path)


def count_blocks(counting: Counting, raw: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A block of counts for each batch of one stretch of a file; and at last what was left out."""
    tally = Tally()
    waiting: list[tuple[str, int]] = []

    def texts() -> Iterator[pa.Array]:
        for batch in raw:
            place = _origin(batch)
            for part in split_batch(batch.select(["text"]), counting.longest_text, tally):
                documents = to_documents(part, "UTC", tally)
                if documents.num_rows:
                    waiting.append(place)
                    yield documents["text"]

    matrices = count_batches(texts(), counting.vocabulary, counting.rules, threads=1)
    for number, matrix in enumerate(matrices):
        yield block_row(*waiting.pop(), number, checked_counts(matrix))
    yield _tally_block(tally)


def texts_of(longest_text: int, raw: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The texts as the hash that names the corpus takes them."""
    tally = Tally()
    for batch in raw:
        for part in split_batch(batch.select(["text"]), longest_text, tally):
            lengths, texts = lengths_and_bytes(to_documents(part, "UTC", tally)["text"])
            yield pa.record_batch(
                {"lengths": pa.array([lengths], pa.binary()), "texts": pa.array([texts])}
            )


def digest_blocks(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The name, hash and first document of each block, of all blocks in order; and at last of all.

    Of all: how many cells there are (``start``), the three hashes of the whole matrix and how many
    documents (``first``).
    """
    digest = CountsDigest()
    for batch in rows:
        for row in batch.to_pylist():
            named = {name: row[name] for name in (*NAMES, "digest")}
            yield pa.RecordBatch.from_pylist([{**named, "first": digest.rows}])
            digest.add(*arrays_of(row))
    whole = digest.counts(0)
    total = {"file": "", "start": whole.nnz, "number": _NO_BLOCK, "digest": " ".join(whole.digests)}
    yield pa.RecordBatch.from_pylist([{**total, "first": digest.rows}])


def total_counts(width: int, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How often each word occurs in the blocks that one task was given."""
    total = np.zeros(width, np.int64)
    for batch in rows:
        for row in batch.to_pylist():
            total += np.asarray(matrix_of(row, width).sum(axis=0)).ravel()
    yield pa.record_batch({"totals": pa.array([total.tobytes()], pa.binary())})


def matrix_of(row: dict[str, bytes], width: int) -> Counts:
    """The counts in a block."""
    lengths, columns, data = arrays_of(row)
    pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return sparse.csr_array((data, columns, pointers), shape=(lengths.size, width))


def arrays_of(
    row: dict[str, bytes],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """How many words each document of a block has, their columns and their counts."""
    lengths, data = np.frombuffer(row["lengths"], np.int64), np.frombuffer(row["data"], np.int64)
    return lengths, np.frombuffer(row["columns"], np.int32), data


def _origin(batch: pa.RecordBatch) -> tuple[str, int]:
    """The stretch of a file that a batch is from; there is one, or rows would lose their order."""
    files, starts = batch["file"].unique(), batch["start"].unique()
    if len(files) > 1 or len(starts) > 1:
        raise InputError("Spark gave rows of several files in one part; their order would be lost.")
    return file_order(files[0].as_py()), starts[0].as_py()


def block_row(file: str, start: int, number: int, counts: Counts) -> pa.RecordBatch:
    """A block as a row."""
    lengths = np.diff(counts.indptr).astype(np.int64).tobytes()
    columns = counts.indices.astype(np.int32).tobytes()
    arrays = {"lengths": lengths, "columns": columns, "data": counts.data.tobytes()}
    digest = hashlib.sha256(b"".join(arrays.values())).hexdigest()
    name = {"file": file, "start": start, "number": number, "digest": digest}
    return pa.RecordBatch.from_pylist([{**name, **arrays, "tally": [0] * TALLIES}])


def _tally_block(tally: Tally) -> pa.RecordBatch:
    name = {"file": "", "start": 0, "number": _NO_BLOCK, "digest": ""}
    arrays = dict.fromkeys(("lengths", "columns", "data"), b"")
    return pa.RecordBatch.from_pylist([{**name, **arrays, "tally": tally_counts(tally)}])


class CountsDigest:
    """Hashes of a matrix's arrays, from blocks of its rows in order."""

    def __init__(self) -> None:
        self._data, self._columns, self._pointers = (hashlib.sha256() for _ in range(3))
        self._pointers.update(np.zeros(1, np.int64).tobytes())
        self.rows = self.nnz = 0

    def add(
        self, lengths: NDArray[np.int64], columns: NDArray[np.integer], data: NDArray[np.int64]
    ) -> None:
        """Take in the next rows: how long each is, their columns and counts."""
        self._pointers.update((self.nnz + np.cumsum(lengths)).astype(np.int64).tobytes())
        self._columns.update(columns.astype(np.int64).tobytes())
        self._data.update(data.tobytes())
        self.rows += lengths.size
        self.nnz += int(lengths.sum())

    def counts(self, width: int) -> CountsElsewhere:
        """What must be known of the whole matrix."""
        hashes = (self._data, self._columns, self._pointers)
        data, columns, pointers = (each.hexdigest() for each in hashes)
        return CountsElsewhere((self.rows, width), self.nnz, (data, columns, pointers))
