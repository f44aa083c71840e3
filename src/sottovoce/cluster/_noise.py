"""Noise drawn on the workers, of which each block of documents has one, however often it is tried.

A task may run twice: its worker died, was slow, or was taken for dead. Each attempt draws under a
fresh key of its own worker's operating system, into a file that only it knows; then it claims the
block's name for that file by a hard link, which the file system gives to one attempt only. Whoever
comes later finds the name taken, draws nothing or throws away what it drew, and reports the file of
the first. The driver takes just what was reported, by hash, and the ledger keeps that.

The folder of these parts lies beside the ledger's outputs, on a file system that the driver and all
workers share. It is private and lives no longer than one run: a run that died leaves parts that
nobody has seen, and the next run removes them. A task of a dead run finds its folder gone.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import sparse

from sottovoce._files import PRIVATE_MODE, file_digest
from sottovoce.cluster._blocks import BlockName, matrix_of
from sottovoce.corpus._matrix_file import matrix_bytes
from sottovoce.errors import InputError, LedgerError
from sottovoce.release._counts import Counts
from sottovoce.release._plan import ColumnNoise
from sottovoce.release.compression import WordMap
from sottovoce.release.compression._grouped import in_row_order

PARTS = "place int, sha256 string"


@dataclass(frozen=True)
class Block:
    """A block as the driver knows it."""

    place: int
    first_document: int
    digest: str


@dataclass(frozen=True)
class NoiseTask:
    """All that a task needs to noise the blocks it is given; nothing of it is secret."""

    folder: str
    blocks: Mapping[BlockName, Block]
    maps: tuple[bytes, ...]
    """The column of each word, 32 bits each, for each group of documents."""
    columns: int
    rate: str
    threshold: int | None
    constant_work: bool

    @property
    def noise(self) -> ColumnNoise:
        """The noise of the release."""
        return ColumnNoise(Fraction(self.rate), self.threshold, self.constant_work)

    def compressed(self, counts: Counts, first_document: int) -> Counts:
        """Each document through the map of its place in the corpus."""
        maps, groups = self.word_maps(), len(self.maps)
        parts = [
            maps[(first_document + turn) % groups].compress(counts[turn::groups])
            for turn in range(min(groups, counts.shape[0]))
        ]
        return parts[0] if groups == 1 else in_row_order(parts, groups)

    def word_maps(self) -> tuple[WordMap, ...]:
        """The public maps."""
        return tuple(WordMap(np.frombuffer(each, np.int32), self.columns) for each in self.maps)


def noise_blocks(drawing: NoiseTask, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each block's place, and the hash of the one file that holds its noised counts."""
    words = len(drawing.maps[0]) // np.dtype(np.int32).itemsize
    for batch in rows:
        for row in batch.to_pylist():
            block = drawing.blocks.get(BlockName.of(row["file"], row["start"], row["number"]))
            if block is None or block.digest != row["digest"]:
                raise InputError("the documents changed while they were being released; try again.")
            counts = matrix_of(row, words)
            sha256 = noise_once(drawing, block, counts)
            yield pa.record_batch(
                {"place": pa.array([block.place], pa.int32()), "sha256": pa.array([sha256])}
            )


def noise_once(drawing: NoiseTask, block: Block, counts: Counts) -> str:
    """The hash of the block's part, drawn by this attempt unless another was first."""
    final = part_file(Path(drawing.folder), block.place)
    if not final.exists():
        compressed = drawing.compressed(counts, block.first_document)
        claim(final, matrix_bytes(drawing.noise.added_to(compressed, threads=1)))
    return file_digest(final)


def claim(final: Path, content: bytes) -> bool:
    """Give ``final`` this content, unless it has one; whether it was this attempt's."""
    own = final.with_name(f".{final.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_MODE), "wb") as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())
        # A link is made or refused in one step, whoever else is trying.
        os.link(own, final)
    except FileExistsError:
        return False
    except OSError as error:
        raise LedgerError(
            f"a worker cannot write its part beside the ledger: {error.strerror}; the ledger's "
            "folder must be on a file system that the driver and all workers share."
        ) from None
    finally:
        own.unlink(missing_ok=True)
    return True


def collected(folder: Path, manifest: Mapping[int, str]) -> Counts:
    """The parts that were reported, in order: these bytes or none."""
    blocks = []
    for place in range(len(manifest)):
        content = part_file(folder, place).read_bytes()
        if hashlib.sha256(content).hexdigest() != manifest.get(place):
            raise LedgerError("a part of the release is not what its worker reported; try again.")
        blocks.append(sparse.csr_array(sparse.load_npz(BytesIO(content))))
    return sparse.csr_array(sparse.vstack(blocks, dtype=np.int64))


def part_file(folder: Path, place: int) -> Path:
    """The one file of a block."""
    return folder / f"{place}.npz"
