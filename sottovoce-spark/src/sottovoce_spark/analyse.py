"""A sharded release read on Spark: its shards are checked, and added up, where they lie.

Every worker sums the rows of its shards, for each column and each pair of columns: a table of K x K
numbers. These are added up in a tree, so that the driver gets few of them, whatever the number of
documents. All sums are of whole numbers below 2^53, so that no order of adding rounds: they are,
bit for bit, those of one machine (``release.analysis._moments``).
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import InputError, ParameterError
from sottovoce.release.analysis.moments import add_block, check_columns
from sottovoce.release.counts import Counts
from sottovoce.release.folder import CARD_FILE, SHARDS_FILE, verified_card
from sottovoce.release.release import Release, release_in
from sottovoce_spark._output import Spark, translate_errors
from sottovoce_spark._read import added_up, literally
from sottovoce_spark._store import SparkStore, found_shards
from sottovoce_spark.session import apply_settings
from sottovoce_spark.shards import ShardList, block_of, read_list

_SUMS = "totals binary, products binary"
_BATCH_ROWS = 1024


@dataclass(frozen=True, eq=False)
class SparkRows:
    """Released counts that stay on a cluster, and are added up there."""

    session: Spark
    address: str
    listed: ShardList
    partitions: int | None = None
    """In how many parts the shards are added up; None: one for each core."""

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and columns."""
        return self.listed.documents, self.listed.columns

    def sums(self, columns: Integers | None, *, pairs: bool) -> tuple[Floats, Floats]:
        """Sums over the documents, and of products by pairs of columns where they are asked for."""
        kept = self.listed.columns if columns is None else len(columns)
        if pairs:
            check_columns(kept)
        adding = Adding(self.listed.columns, columns, pairs)
        files = [f"{self.address}/{shard.name}" for shard in self.listed.shards]
        parts = self.partitions or max(2, int(self.session.sparkContext.defaultParallelism))
        side = kept if pairs else 0
        with (
            translate_errors("add up the shards"),
            apply_settings(self.session, batch_rows=_BATCH_ROWS),
        ):
            rows = self.session.read.parquet(*map(literally, files)).coalesce(parts)
            reported = rows.mapInArrow(partial(sum_rows, adding), _SUMS)
            totals, products = added_up(reported, totals="<f8", products="<f8")
        return totals, products.reshape(side, side)

    def blocks(self, rows: int) -> Iterator[Counts]:
        """Refused: one after the other they would all pass the driver."""
        raise ParameterError(
            "topics, classifiers and labels read documents one by one, which is not offered on "
            f"Spark (asked for {rows:,} rows); copy the release to a machine that holds it."
        )

    def whole(self) -> Counts:
        """Refused likewise."""
        return next(self.blocks(self.listed.documents))


@dataclass(frozen=True)
class Adding:
    """What a task is to add up: sums of (some) columns, and of their products by pairs or not."""

    width: int
    columns: Integers | None
    pairs: bool

    def nothing(self) -> tuple[Floats, Floats]:
        """The sums of no rows."""
        kept = self.width if self.columns is None else len(self.columns)
        side = kept if self.pairs else 0
        return np.zeros(kept), np.zeros((side, side))

    def add(self, block: Counts, totals: Floats, products: Floats) -> None:
        """Add those of some rows."""
        if self.pairs:
            add_block(block, self.columns, totals, products)
        else:
            totals += np.asarray(block.sum(axis=0), np.float64)


def sum_rows(adding: Adding, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The sums of the rows that one task was given."""
    totals, products = adding.nothing()
    for batch in rows:
        adding.add(block_of(batch, adding.width), totals, products)
    packed = {"totals": [totals.tobytes()], "products": [products.tobytes()]}
    yield pa.RecordBatch.from_pydict(packed)


def release_on_spark(session: Spark, address: str, partitions: int | None = None) -> Release:
    """The sharded release at ``address``, wherever Spark reads; its shards must be as listed."""
    store = SparkStore(session, address)
    with translate_errors(f"read {address}"), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in store.names():
            if not file.startswith(("counts", ".")):
                (folder / file).write_bytes(store.read(file) or b"")
        card = verified_card(folder, with_shards=False)
        if SHARDS_FILE not in card.files:
            raise InputError(f"{address} is not in shards; leave out --engine spark.")
        listed = read_list(folder / SHARDS_FILE)
        rows = SparkRows(session, store.address, listed, partitions)
        if (listed.documents, listed.columns) != (card.documents, card.columns):
            raise InputError(f"{SHARDS_FILE} tells of another shape than {CARD_FILE}.")
        _check(session, store, listed)
        return release_in(folder, card, rows)


def _check(session: Spark, store: SparkStore, listed: ShardList) -> None:
    """Refuse shards that are missing or not what was listed; workers read and hash them."""
    found = found_shards(session, f"{store.address}/{listed.folder}", listed.folder)
    if tuple(found) != listed.shards:
        raise InputError(
            f"the shards of {store.address} are missing or not what {SHARDS_FILE} says; restore "
            "them."
        )
