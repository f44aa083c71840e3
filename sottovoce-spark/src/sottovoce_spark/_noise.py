"""Noise drawn on the workers, the same however often a block of documents is tried.

A task may run twice: its worker died, was slow, or was taken for dead. The noise of a block follows
from the release's secret and from the block: its place, its documents' true counts, the maps and
the noise they get (``repeatable``). So every attempt writes the same rows. When the driver
dies, the secret is lost, and whatever was written is removed before another is drawn
(``sharded_job``): there are never two noises of one document.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.columns import split_batch, to_documents
from sottovoce.corpus.read.tally import Tally
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError
from sottovoce.files import whole_file
from sottovoce.privacy.exact import read_kept
from sottovoce.release.compression.maps import in_row_order
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.inputs import CountsElsewhere, lengths_and_bytes
from sottovoce.release.plan import ColumnNoise, ReleasePlan
from sottovoce_spark._read import TALLIES, tally_counts
from sottovoce_spark.repeatable import RepeatableMechanism
from sottovoce_spark.shards import ROWS, describe_shard, shard_rows

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


NOISED = "document bigint, columns array<int>, counts array<int>"
FOUND = "name string, first bigint, documents bigint, cells bigint, bytes bigint, sha256 string"


@dataclass(frozen=True)
class Block:
    """A block as the driver knows it."""

    place: int
    first_document: int
    digest: str


@dataclass(frozen=True)
class NoiseTask:
    """All that a task needs to noise the blocks it is given."""

    secret: bytes = field(repr=False)
    """What the noise follows from: as private as the true counts that a task is given."""
    blocks: Mapping[BlockName, Block]
    maps: tuple[bytes, ...]
    """The column of each word, 32 bits each, for each group of documents."""
    columns: int
    rate: str
    threshold: int | None
    constant_work: bool

    @classmethod
    def from_plan(
        cls,
        secret: bytes,
        blocks: Mapping[BlockName, Block],
        maps: Iterable[WordMap],
        plan: ReleasePlan,
    ) -> "NoiseTask":
        """What each task is told of a release by ``plan``."""
        columns = tuple(each.column.astype(np.int32).tobytes() for each in maps)
        noise = plan.noise
        told = (str(noise.rate), noise.threshold, noise.constant_work)
        return cls(secret, blocks, columns, plan.columns, *told)

    @property
    def noise(self) -> ColumnNoise:
        """The noise of the release."""
        return ColumnNoise(read_kept(self.rate, "rate"), self.threshold, self.constant_work)

    def purpose(self, block: Block) -> bytes:
        """A hash of all that the noise of ``block`` is added to, and how."""
        noise = (self.rate, self.threshold, self.constant_work, self.columns, self._maps_digest)
        facts = [block.place, block.first_document, block.digest, *noise]
        return hashlib.sha256(json.dumps(facts).encode()).digest()

    def add_noise(self, block: Block, counts: Counts) -> Counts:
        """What is released of ``block``, whose true counts are ``counts``."""
        compressed = self.compress_counts(counts, block.first_document)
        mechanism = RepeatableMechanism(self.rate, self.secret, self.purpose(block))
        return self.noise.added_to(compressed, mechanism=mechanism)

    def compress_counts(self, counts: Counts, first_document: int) -> Counts:
        """Each document through the map of its place in the corpus."""
        groups = len(self.maps)
        maps = [WordMap(np.frombuffer(each, np.int32), self.columns) for each in self.maps]
        parts = [
            maps[(first_document + turn) % groups].compress(counts[turn::groups])
            for turn in range(min(groups, counts.shape[0]))
        ]
        return parts[0] if groups == 1 else in_row_order(parts, groups)

    @cached_property
    def _maps_digest(self) -> str:
        return hashlib.sha256(b"".join(self.maps)).hexdigest()


def noise_blocks(drawing: NoiseTask, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a shard: the noised documents of each block."""
    for first, noised in _noised_blocks(drawing, rows):
        yield from shard_rows(first, noised)


def write_shards(
    drawing: NoiseTask, folder: str, height: int, rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The same, written by the worker itself into a folder that driver and workers share.

    A shard has about ``height`` documents and is named by its first; whoever writes it again writes
    the same bytes. What is listed of each is reported.
    """
    waiting: list[pa.RecordBatch] = []
    for first, noised in _noised_blocks(drawing, rows):
        waiting += shard_rows(first, noised)
        if sum(batch.num_rows for batch in waiting) >= height:
            yield _write_shard(Path(folder), waiting)
            waiting = []
    if waiting:
        yield _write_shard(Path(folder), waiting)


def _write_shard(folder: Path, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    name = f"part-{batches[0]['document'][0].as_py():012}.parquet"
    buffer = pa.BufferOutputStream()
    with pq.ParquetWriter(buffer, ROWS, compression="snappy") as writer:
        for batch in batches:
            writer.write_batch(batch)
    content = buffer.getvalue()
    try:
        with whole_file(folder / name, private=True) as temporary:
            temporary.write_bytes(content)
    except InputError:
        raise InputError(
            f"a worker cannot write into {folder}; it must be on a file system that the driver and "
            "all workers share, or an address that Spark writes to."
        ) from None
    return pa.RecordBatch.from_pylist([vars(describe_shard(f"{folder.name}/{name}", content))])


def _noised_blocks(
    drawing: NoiseTask, rows: Iterable[pa.RecordBatch]
) -> Iterator[tuple[int, Counts]]:
    words = len(drawing.maps[0]) // np.dtype(np.int32).itemsize
    for batch in rows:
        for row in batch.to_pylist():
            block = drawing.blocks.get(BlockName(row["file"], row["start"], row["number"]))
            if block is None or block.digest != row["digest"]:
                raise InputError("the documents changed while they were being released; try again.")
            yield block.first_document, drawing.add_noise(block, matrix_of(row, words))


def describe_shards(folder: str, files: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What is to be listed of each file of ``folder``, from its bytes as they lie there."""
    for batch in files:
        for path, content in zip(batch["path"], batch["content"], strict=True):
            name = f"{folder}/{path.as_py().rpartition('/')[2]}"
            yield pa.RecordBatch.from_pylist([vars(describe_shard(name, content.as_buffer()))])
