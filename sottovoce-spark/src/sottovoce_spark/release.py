"""Release on Spark: counted, noised and written by the workers, spent and kept by the same ledger.

The order is the embedded one's: the spend is committed, then noise is drawn, then what was drawn is
kept, and only what is kept is published (``sharded_job``). Counts never come together in
one place: workers write them as shards, through Spark, to wherever Spark writes. The corpus and the
request have the names they have on one machine, so that every engine meets the same budget. For
that the driver reads the texts once, as a stream that it hashes and forgets; one worker does so
with the true counts.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from sottovoce.corpus.read.tally import ReadOptions, Tally
from sottovoce.corpus.schema import DOCUMENTS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules, load_stop_words
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.files import output_folder
from sottovoce.privacy.ledger.documents import DocumentSet
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.privacy.noise_law import zero_cell_chance
from sottovoce.release.card import ReleaseCard
from sottovoce.release.counts import Counts
from sottovoce.release.inputs import (
    CorpusIdentity,
    CountedDocuments,
    CountsElsewhere,
    ReleaseInputs,
)
from sottovoce.release.job import Job
from sottovoce.release.plan import ReleasePlan, refuse_pairs
from sottovoce_spark import _noise, _read
from sottovoce_spark._noise import (
    FOUND,
    NOISED,
    Block,
    BlockName,
    Counting,
    NoiseTask,
    noise_blocks,
    write_shards,
)
from sottovoce_spark._output import Spark, translate_errors
from sottovoce_spark._read import tally_of
from sottovoce_spark._store import found_shards, store_at
from sottovoce_spark.assess import on_disk
from sottovoce_spark.session import apply_settings
from sottovoce_spark.sharded_job import Drawing, LocalStore, ReleaseStore, release_to_shards
from sottovoce_spark.shards import Shard

_BLOCK_ROWS = 4096
# The driver hashes the texts of a part at a time, so parts are small.
_PART_BYTES = 2 << 20
_SHARD_CELLS = 1 << 24
_ROW_GROUP_BYTES = 8 << 20


@dataclass(frozen=True, eq=False)
class SparkDocuments:
    """Documents that were counted on Spark, and how they are noised there."""

    documents: CountedDocuments
    declarations: tuple[str, ...]
    tally: Tally
    out: str
    """Where the release is to lie."""
    session: Spark
    counted: Spark
    """Spark's table of blocks."""
    blocks: dict[BlockName, Block]

    def check(self, plan: ReleasePlan) -> str:
        """Refuse, before anything is spent, what only one machine draws."""
        if plan.settings.prior == "local":
            raise ParameterError("--prior local is not offered on Spark; use --engine embedded.")
        return ""

    def release(self, job: Job, ledger: Ledger) -> ReleaseCard:
        """Spend, draw and publish ``job`` where it is to lie."""
        store = store_at(self.session, self.out)
        with translate_errors("draw noise"):
            return release_to_shards(job, ledger, store, SparkWriters(self, store))


@dataclass(frozen=True, eq=False)
class SparkWriters:
    """The workers, as writers of shards into one store."""

    remote: SparkDocuments
    store: ReleaseStore

    def store_at(self, address: str) -> ReleaseStore:
        """The folder at ``address``."""
        return store_at(self.remote.session, address)

    def draw(self, drawing: Drawing, plan: ReleasePlan, folder: str) -> list[Shard]:
        """Noise all blocks, and write them; whichever attempt of a task ends first."""
        work = self.work(drawing, plan)
        chance = zero_cell_chance(plan.noise.rate, plan.noise.threshold)
        rows = max(1, int(_SHARD_CELLS / max(1.0, plan.columns * chance)))
        if isinstance(self.store, LocalStore):
            return self._write_shards(work, self.store.folder / folder, rows)
        noised = self.remote.counted.mapInArrow(partial(noise_blocks, work), NOISED)
        settings = {"maxRecordsPerFile": rows, "parquet.block.size": _ROW_GROUP_BYTES}
        noised.write.options(**settings).parquet(self._address(folder))
        return self.find_shards(folder)

    def _write_shards(self, work: NoiseTask, folder: Path, rows: int) -> list[Shard]:
        """Let the workers write a shared folder themselves: Java takes ten times as long."""
        output_folder(folder).chmod(0o700)
        writing = partial(write_shards, work, str(folder), rows)
        found = self.remote.counted.mapInArrow(writing, FOUND).collect()
        shards = [Shard(**row.asDict()) for row in found]
        if any(not (folder.parent / shard.name).is_file() for shard in shards):
            raise InputError(
                f"the workers wrote into another {folder.parent} than the driver's: give a folder "
                "that they share, or an address."
            )
        return shards

    def work(self, drawing: Drawing, plan: ReleasePlan) -> NoiseTask:
        """What each task is told."""
        return NoiseTask.from_plan(drawing.secret, self.remote.blocks, drawing.maps, plan)

    def find_shards(self, folder: str) -> list[Shard]:
        """The shards that lie in ``folder``, read back from there by the workers."""
        return found_shards(self.remote.session, self._address(folder), folder)

    def frequencies_from(self, prior: str) -> Counts:
        """What frequencies are bought from: sums over all documents, where they are bought."""
        width = len(self.remote.documents.vocabulary)
        if prior == "public":
            return sparse.csr_array((1, width), dtype=np.int64)
        of_parts = self.remote.counted.mapInArrow(
            partial(_noise.total_counts, width), _noise.TOTALS
        )
        (total,) = _read.added_up(of_parts, totals="<i8")
        return sparse.csr_array(total.reshape(1, -1))

    def _address(self, folder: str) -> str:
        return f"{self.store.address.rstrip('/')}/{folder}"


@contextmanager
def counted_documents(
    session: Spark, inputs: ReleaseInputs, address: str, out: str, *, block_rows: int = _BLOCK_ROWS
) -> Iterator[SparkDocuments]:
    """The documents at ``address``, counted; they stay on the workers for the block."""
    vocabulary, counting = _counting(inputs)
    with translate_errors(f"release {address}"), ExitStack() as kept:
        kept.enter_context(
            apply_settings(session, None, batch_rows=block_rows, part_bytes=_PART_BYTES)
        )
        reading = inputs.reading
        rows = _read.read_rows(session, address, DOCUMENTS, reading, with_origin=True)
        counts = rows.mapInArrow(partial(_noise.count_blocks, counting), _noise.BLOCKS).persist(
            on_disk()
        )
        kept.callback(counts.unpersist)
        tally = _tally(counts)
        declared = inputs.declarations(vocabulary) + inputs.left_out(_Tallied(tally))
        declared += inputs.vouched_declarations()
        if not tally.rows_kept:
            raise CorpusError(f"no usable row: {tally}.")
        counted = counts.where("number >= 0")
        found, blocks = _digest_blocks(counted, len(vocabulary))
        kind = _read.format_of(address, reading)
        corpus, charged = _identity(session, rows, replace(reading, format=kind))
        documents = CountedDocuments(found, vocabulary, corpus, documents=charged)
        yield SparkDocuments(documents, declared, tally, out, session, counted, blocks)


@dataclass(frozen=True)
class _Tallied:
    tally: Tally


def _counting(inputs: ReleaseInputs) -> tuple[Vocabulary, Counting]:
    """Refuse what is not offered here, before Spark reads anything."""
    if inputs.vocabulary is None:
        raise ParameterError("a release on Spark needs a --vocabulary; choose words beforehand.")
    if inputs.user_documents is not None:
        raise ParameterError("--user-documents is not offered on Spark; use --engine embedded.")
    if inputs.labelled:
        raise ParameterError("--labels is not offered on Spark; use --engine embedded.")
    vocabulary = inputs.vocabulary
    inputs.declarations(vocabulary)
    refuse_pairs(vocabulary.terms)
    rules = TokenRules(stop_words=load_stop_words(inputs.stop_words))
    return vocabulary, Counting(vocabulary, rules, inputs.reading.max_line_bytes)


def _tally(counts: Spark) -> Tally:
    from pyspark.sql import functions as sql  # noqa: PLC0415 - an extra

    tallies = counts.where("number < 0").select(sql.posexplode("tally").alias("what", "amount"))
    sums = {row[0]: row[1] for row in tallies.groupBy("what").sum("amount").collect()}
    return tally_of(np.array([sums[what] for what in sorted(sums)], np.int64))


def _digest_blocks(counted: Spark, width: int) -> tuple[CountsElsewhere, dict[BlockName, Block]]:
    """The hashes that name the request, and where each block stands; one worker does it."""
    ordered = counted.coalesce(1).sortWithinPartitions(*_noise.NAMES)
    *rows, whole = ordered.mapInArrow(_noise.digest_blocks, _noise.DIGESTED).collect()
    blocks = {
        BlockName(*(row[name] for name in _noise.NAMES)): Block(place, row["first"], row["digest"])
        for place, row in enumerate(rows)
    }
    data, columns, pointers = whole["digest"].split()
    shape = (int(whole["first"]), width)
    return CountsElsewhere(shape, int(whole["start"]), (data, columns, pointers)), blocks


def _identity(session: Spark, rows: Spark, reading: ReadOptions) -> tuple[str, DocumentSet]:
    """The corpus's name and documents, from its texts: a stream through the driver, hashed."""
    identity = CorpusIdentity()
    for file in sorted(rows.inputFiles(), key=_noise.file_order):
        one = _read.read_rows(session, _read.address_of_file(file), DOCUMENTS, reading)
        texts = one.mapInArrow(partial(_noise.texts_of, reading.max_line_bytes), _noise.TEXTS)
        for row in _read.rows_by_part(session, texts):
            identity.add(bytes(row["lengths"]), bytes(row["texts"]))
    return identity.digest(), identity.documents()
