"""Released counts in many files, which as many workers wrote: how they lie, and how they are read.

A sharded release has no `counts.npz` but a folder `counts-TOKEN` of Parquet files, the shards, and
`shards.json` (format "sottovoce-shards", version 1), which the card names by its hash. It holds:

- `documents`, `columns`: the released shape; `noise_rate`: that of the card;
- `shards`: for each shard, in the order of its documents, its `name`, the number of its `first`
  document, how many `documents` and `cells` (not 0) it has, its `bytes` and its `sha256`.

A shard has a row for each document: its number (`document`, 64 bits), which `columns` are not 0, in
ascending order, and the `counts` there (lists of 32 bits). Whoever reads Parquet reads shards.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.read.footers import read_row_groups
from sottovoce.errors import InputError
from sottovoce.files import file_digest, small_text
from sottovoce.privacy.audit.findings import AuditReport, join_reports
from sottovoce.release.audit import audit_cells
from sottovoce.release.card import ReleaseCard
from sottovoce.release.counts import Counts
from sottovoce.release.folder import SHARD_FOLDERS, SHARDS_FILE

FORMAT = "sottovoce-shards"
VERSION = 1
ROWS = pa.schema(
    {"document": pa.int64(), "columns": pa.list_(pa.int32()), "counts": pa.list_(pa.int32())}
)
_NAME = re.compile(r"counts-[0-9a-f]{16}/[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.parquet")
_LARGEST_LIST = 1 << 28
_LARGEST_COUNT = (1 << 31) - 1
_BATCH_CELLS = 1 << 22
# Counts of more cells are audited in parts.
_PART_CELLS = 1 << 25
_FIRST_ROWS, _MOST_FIRST = 8, 1 << 12


@dataclass(frozen=True)
class Shard:
    """One file of released counts: whose they are, and what its bytes must be."""

    name: str
    first: int
    documents: int
    cells: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardList:
    """What `shards.json` says."""

    documents: int
    columns: int
    noise_rate: str
    shards: tuple[Shard, ...]

    @property
    def folder(self) -> str:
        """The folder that all shards are in."""
        return self.shards[0].name.partition("/")[0]

    def as_json(self) -> str:
        """The text of `shards.json`."""
        fields = {"format": FORMAT, "version": VERSION, **asdict(self)}
        return json.dumps(fields, indent=1, sort_keys=True) + "\n"


class _Written(msgspec.Struct):
    """The fields of `shards.json` and their kinds."""

    format: Literal["sottovoce-shards"]
    version: Literal[1]
    documents: int
    columns: int
    noise_rate: str
    shards: list[Shard]


def list_shards(documents: int, columns: int, noise_rate: str, found: Sequence[Shard]) -> ShardList:
    """The shards that were ``found``, in order, if each document is in one of them and no other."""
    shards = sorted((each for each in found if each.documents), key=lambda each: each.first)
    ends = np.cumsum([0, *(each.documents for each in shards)])
    follow = [each.first for each in shards] == ends[:-1].tolist()
    together = {each.name.partition("/")[0] for each in shards}
    named = len({each.name for each in shards}) == len(shards)
    sound = all(_is_sound(each, columns) for each in shards)
    if not (shards and follow and ends[-1] == documents and len(together) == 1 and named and sound):
        raise InputError(
            f"the shards do not hold each of the {documents:,} documents once; they are not whole."
        )
    return ShardList(documents, columns, noise_rate, tuple(shards))


def _is_sound(shard: Shard, columns: int) -> bool:
    return bool(
        _NAME.fullmatch(shard.name)
        and 0 <= shard.cells <= shard.documents * columns
        and shard.bytes > 0
        and re.fullmatch("[0-9a-f]{64}", shard.sha256)
    )


def read_list(path: Path) -> ShardList:
    """The list of shards at ``path``, or an error that says what is wrong with it."""
    try:
        text = small_text(path, _LARGEST_LIST, "a list of shards")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a list of shards.") from None
    return list_in(text, str(path))


def list_in(text: str, place: str) -> ShardList:
    """The list of shards in a text that was found at a ``place``."""
    try:
        fields = msgspec.json.decode(text, type=_Written)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InputError(f"{place} is not a list of shards.") from None
    found = list_shards(fields.documents, fields.columns, fields.noise_rate, fields.shards)
    if found.as_json() != text:
        raise InputError(f"{place} is not a list of shards as they are written.")
    return found


def shard_rows(first: int, counts: Counts) -> Iterator[pa.RecordBatch]:
    """Documents from number ``first`` on as rows of a shard, some at a time."""
    if (
        counts.nnz
        and not -_LARGEST_COUNT <= counts.data.min() <= counts.data.max() <= _LARGEST_COUNT
    ):
        raise InputError("a released count has more than 32 bits; release it on one machine.")
    height = max(1, _BATCH_CELLS // max(1, counts.shape[1]))
    for begin in range(0, counts.shape[0], height):
        yield _rows_of(first + begin, counts[begin : begin + height])


def _rows_of(first: int, counts: Counts) -> pa.RecordBatch:
    counts.sort_indices()
    ends = pa.array(counts.indptr.astype(np.int32))
    arrays = [
        pa.array(np.arange(first, first + counts.shape[0], dtype=np.int64)),
        pa.ListArray.from_arrays(ends, pa.array(counts.indices.astype(np.int32))),
        pa.ListArray.from_arrays(ends, pa.array(counts.data.astype(np.int32))),
    ]
    return pa.record_batch(arrays, schema=ROWS)


def describe_shard(name: str, content: bytes | pa.Buffer) -> Shard:
    """What is to be listed of a shard that lies there with this ``content``."""
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        numbers = file.read(columns=["document"])["document"].to_numpy()
        cells = sum(
            len(chunk.values)
            for batch in file.iter_batches(columns=["columns"])
            for chunk in (batch.column(0),)
        )
    first = int(numbers[0]) if numbers.size else 0
    if (numbers != np.arange(first, first + numbers.size)).any():
        raise InputError("the documents of a shard are not in their order; try again.")
    digest = hashlib.sha256(content).hexdigest()
    return Shard(name, first, int(numbers.size), cells, len(content), digest)


@dataclass(frozen=True)
class ShardedCounts:
    """Released counts in shards; ``blocks`` reads from the first row on, as often as wanted."""

    folder: Path
    listed: ShardList

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and columns."""
        return self.listed.documents, self.listed.columns

    @property
    def nnz(self) -> int:
        """Cells that are not 0."""
        return sum(shard.cells for shard in self.listed.shards)

    def blocks(self, rows: int) -> Iterator[Counts]:
        """The counts, so many rows at a time."""
        waiting: list[Counts] = []
        for part in self._parts(rows):
            waiting.append(part)
            while sum(each.shape[0] for each in waiting) >= rows:
                together = _stack_counts(waiting)
                yield together[:rows]
                waiting = [together[rows:]] if together.shape[0] > rows else []
        if waiting:
            yield _stack_counts(waiting)

    def whole(self) -> Counts:
        """All of them, in memory."""
        return next(self.blocks(max(1, self.listed.documents)))

    def check(self, card: ReleaseCard) -> None:
        """Refuse shards that are not what was listed, and any beside them."""
        if self.listed.noise_rate != card.noise_rate:
            raise InputError(f"{SHARDS_FILE} tells of other noise than the card.")
        names = {each.name for each in self.folder.iterdir()} - {self.listed.folder}
        if strange := sum(SHARD_FOLDERS.fullmatch(name) is not None for name in names):
            raise InputError(
                f"{self.folder} holds {strange} folders of shards that its card does not name, "
                "which may have another noise of the same documents; remove them, and publish none."
            )
        for shard in self.listed.shards:
            path = self.folder / shard.name
            if not path.is_file() or file_digest(path) != shard.sha256:
                raise InputError(f"{path} is missing or not what {SHARDS_FILE} says; restore it.")

    def audit(self, card: ReleaseCard) -> AuditReport:
        """What can be seen in counts that may be longer than memory: some rows at a time.

        Rows that share their noise are looked for within each part; and in one more, of the first
        rows of every shard, where a keystream that was used twice begins again.
        """
        height = max(1, _PART_CELLS // card.columns)
        parts = -(-card.documents // height)
        begins = [shard.first for shard in self.listed.shards]
        parts += len(begins) > 1
        found: list[AuditReport] = []
        kept: list[Counts] = []
        at = 0
        for block in self.blocks(height):
            found.append(audit_cells(card, block, parts))
            kept += [block[b - at : b - at + _FIRST_ROWS] for b in begins if at <= b < at + height]
            at += block.shape[0]
        if len(begins) > 1:
            first = sparse.csr_array(sparse.vstack(kept[:_MOST_FIRST], format="csr"))
            found.append(audit_cells(card, first, parts))
        return join_reports(found)

    def _parts(self, rows: int) -> Iterator[Counts]:
        for shard in self.listed.shards:
            try:
                yield from self._read(shard, rows)
            except (OSError, pa.ArrowException):
                raise InputError(
                    f"{self.folder / shard.name} is not a shard of a release."
                ) from None

    def _read(self, shard: Shard, rows: int) -> Iterator[Counts]:
        with pq.ParquetFile(self.folder / shard.name) as file:
            self._refuse_other(file, shard)
            turn = shard.first
            for batch in file.iter_batches(min(rows, _rows_at_once(self.listed.columns))):
                yield block_of(batch, self.listed.columns, turn)
                turn += batch.num_rows

    def _refuse_other(self, file: pq.ParquetFile, shard: Shard) -> None:
        """Refuse a file of other rows, or of more cells than its shape can hold, unread."""
        names = {field.name: field.type for field in file.schema_arrow}
        kinds = {name: _kind(kind) for name, kind in names.items()}
        right = kinds == {field.name: _kind(field.type) for field in ROWS}
        if not right or file.metadata.num_rows != shard.documents:
            raise InputError(f"{self.folder / shard.name} is not a shard of this release.")
        with (self.folder / shard.name).open("rb") as raw:
            values = sum(group.chunks[1].values for group in read_row_groups(raw, file.metadata))
        # An empty list takes the place of a value.
        if values > shard.cells + shard.documents:
            raise InputError(f"{self.folder / shard.name} holds more than its shape can hold.")


def read_shards(folder: Path) -> ShardedCounts:
    """The counts of a sharded release in ``folder``."""
    return ShardedCounts(folder, read_list(folder / SHARDS_FILE))


def block_of(batch: pa.RecordBatch, width: int, first: int | None = None) -> Counts:
    """The counts in some rows of a shard; their documents are numbered from ``first``, if given."""
    numbers, columns, counts = (batch.column(name) for name in ROWS.names)
    starts, where = _flat(columns)
    others, data = _flat(counts)
    right = (
        (first is None or _are_from(first, numbers))
        and bool((starts == others).all())
        and (not where.size or bool(where.min() >= 0 and where.max() < width))
    )
    if not right:
        raise InputError("a shard holds other documents or columns than it should.")
    return sparse.csr_array((data.astype(np.int64), where, starts), shape=(batch.num_rows, width))


def _are_from(first: int, numbers: pa.Array) -> bool:
    expected = np.arange(first, first + len(numbers))
    return numbers.null_count == 0 and bool((numbers.to_numpy() == expected).all())


def _kind(kind: pa.DataType) -> str:
    """A type by its name: what the elements of lists are called differs between writers."""
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)


def _rows_at_once(columns: int) -> int:
    return max(1, _BATCH_CELLS // columns)


def _flat(lists: pa.ListArray) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each list begins, and what is in all of them."""
    ends = lists.offsets.to_numpy().astype(np.int64)
    values = lists.flatten()
    if lists.null_count or values.null_count:
        raise InputError("a shard has documents without counts.")
    return ends - ends[0], values.to_numpy()


def _stack_counts(parts: list[Counts]) -> Counts:
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))
