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

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.errors import InputError
from sottovoce.files import whole_file
from sottovoce.privacy.exact import read_kept
from sottovoce.release.compression.maps import in_row_order
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts
from sottovoce.release.plan import ColumnNoise, ReleasePlan
from sottovoce_spark._blocks import BlockName, matrix_of
from sottovoce_spark.repeatable import RepeatableMechanism
from sottovoce_spark.shards import ROWS, describe_shard, shard_rows

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
