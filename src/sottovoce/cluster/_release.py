"""Release on Spark: counted and noised on the workers, spent and kept by the same ledger.

The order is the embedded one's: the spend is committed, then noise is drawn, then what was drawn is
kept, and only what is kept is published. The corpus and the request have the names they have on one
machine, so that every engine meets the same budget, and a request that either engine has answered
is answered again by the same bytes. For that the driver reads the texts once, as a stream that it
hashes and forgets, and so it does with the counts.
"""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from sottovoce.cluster._assess import on_disk
from sottovoce.cluster._blocks import (
    BLOCKS,
    NAMES,
    TEXTS,
    BlockName,
    Counting,
    arrays_of,
    count_blocks,
    file_order,
    matrix_of,
    texts_of,
)
from sottovoce.cluster._noise import PARTS, Block, NoiseTask, collected, noise_blocks
from sottovoce.cluster._output import Spark, told
from sottovoce.cluster._read import address_of_file, format_of, read_rows
from sottovoce.cluster._session import tuned
from sottovoce.cluster._states import tally_of
from sottovoce.corpus._schema import DOCUMENTS
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.corpus.read._tally import ReadOptions, Tally
from sottovoce.corpus.words._rules import TokenRules, load_stop_words
from sottovoce.errors import CorpusError, LedgerError, ParameterError
from sottovoce.privacy.ledger import Ledger
from sottovoce.release._counts import Counts
from sottovoce.release._inputs import CorpusIdentity, CountedDocuments, CountsDigest, ReleaseInputs
from sottovoce.release._job import Job
from sottovoce.release._plan import Released, ReleasePlan, maps_of, refuse_pairs

_BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class SparkDocuments:
    """Documents that were counted on Spark, and how they are noised there."""

    documents: CountedDocuments
    declared: tuple[str, ...]
    tally: Tally
    counted: Spark
    """Spark's table of blocks."""
    blocks: dict[BlockName, Block]

    def check(self, plan: ReleasePlan) -> None:
        """Refuse, before anything is spent, what only one machine draws."""
        if plan.settings.prior == "local":
            raise ParameterError("--prior local is not offered on Spark; use --engine embedded.")

    def draw(self, job: Job, ledger: Ledger) -> Released:
        """Draw the noise of ``job``, once for each document; for `release_to_folder`."""
        plan = job.plan
        with told("draw noise"), _staging(ledger, job.request.id) as folder:
            frequencies = plan.buy_frequencies(self._frequencies_from(plan.settings.prior))
            maps = maps_of(plan.fitted(frequencies))
            drawing = NoiseTask(
                folder=str(folder),
                blocks=self.blocks,
                maps=tuple(each.column.astype(np.int32).tobytes() for each in maps),
                columns=plan.columns,
                rate=str(plan.noise.rate),
                threshold=plan.noise.threshold,
                constant_work=plan.noise.constant_work,
            )
            manifest = self._noised(drawing)
            return Released(collected(folder, manifest), maps, frequencies)

    def _noised(self, drawing: NoiseTask) -> dict[int, str]:
        """What the workers reported: Spark passes on one report for each part of its table."""
        reported = self.counted.mapInArrow(partial(noise_blocks, drawing), PARTS).collect()
        manifest = {row["place"]: row["sha256"] for row in reported}
        if len(reported) != len(manifest) or set(manifest) != set(range(len(self.blocks))):
            raise LedgerError("the workers did not report each part of the release once.")
        return manifest

    def _frequencies_from(self, prior: str) -> Counts:
        """What frequencies are bought from: sums over all documents, where they are bought."""
        width = len(self.documents.vocabulary)
        if prior == "public":
            return sparse.csr_array((1, width), dtype=np.int64)
        total = np.zeros(width, np.int64)
        for row in self.counted.toLocalIterator(prefetchPartitions=True):
            total += np.asarray(matrix_of(row.asDict(), width).sum(axis=0)).ravel()
        return sparse.csr_array(total.reshape(1, -1))


@contextmanager
def counted_documents(
    session: Spark,
    inputs: ReleaseInputs,
    address: str,
    *,
    block_rows: int = _BLOCK_ROWS,
) -> Iterator[SparkDocuments]:
    """The documents at ``address``, counted; they stay on the workers for the block."""
    vocabulary, counting = _counting(inputs)
    with told(f"release {address}"), ExitStack() as kept:
        kept.enter_context(tuned(session, None, batch_rows=block_rows))
        reading = inputs.reading
        rows = read_rows(session, address, DOCUMENTS, reading, with_origin=True)
        counts = rows.mapInArrow(partial(count_blocks, counting), BLOCKS).persist(on_disk())
        kept.callback(counts.unpersist)
        tally = _tally(counts)
        declared = inputs.declarations(vocabulary) + inputs.left_out(_Tallied(tally))
        declared += inputs.vouched()
        if not tally.rows_kept:
            raise CorpusError(f"no usable row: {tally}.")
        counted = counts.where("number >= 0")
        digest, blocks = _digested(counted)
        kind = format_of(address, reading)
        identity = _identity(session, rows, replace(reading, format=kind))
        documents = CountedDocuments(
            digest.counts(len(vocabulary)),
            vocabulary,
            identity.digest(),
            documents=identity.documents(),
        )
        yield SparkDocuments(documents, declared, tally, counted, blocks)


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


def _digested(counted: Spark) -> tuple[CountsDigest, dict[BlockName, Block]]:
    """The hashes that name the request, and where each block stands; block by block, in order."""
    names = sorted(
        (BlockName.of(row["file"], row["start"], row["number"]), row["digest"])
        for row in counted.select(*NAMES, "digest").collect()
    )
    places = {name: place for place, (name, _) in enumerate(names)}
    digest = CountsDigest()
    blocks: dict[BlockName, Block] = {}
    waiting: dict[int, tuple[BlockName, Spark]] = {}
    for row in counted.toLocalIterator(prefetchPartitions=True):
        name = BlockName.of(row["file"], row["start"], row["number"])
        waiting[places[name]] = (name, row)
        while len(blocks) in waiting:
            turn, found = waiting.pop(len(blocks))
            blocks[turn] = Block(len(blocks), digest.rows, found["digest"])
            digest.add(*arrays_of(found.asDict()))
    return digest, blocks


def _identity(session: Spark, rows: Spark, reading: ReadOptions) -> CorpusIdentity:
    """The corpus's name and documents, from its texts: a stream through the driver, hashed."""
    identity = CorpusIdentity()
    for file in sorted(rows.inputFiles(), key=file_order):
        one = read_rows(session, address_of_file(file), DOCUMENTS, reading)
        texts = one.mapInArrow(partial(texts_of, reading.max_line_bytes), TEXTS)
        for row in texts.toLocalIterator(prefetchPartitions=True):
            identity.add(bytes(row["lengths"]), bytes(row["texts"]))
    return identity


@contextmanager
def _staging(ledger: Ledger, request: str) -> Iterator[Path]:
    """A private folder for the parts of one run; what earlier runs left unseen is removed."""
    outputs = ledger.path.with_name(f"{ledger.path.name}.outputs")
    stem = f".parts-{request[:32]}"
    for dead in outputs.glob(f"{stem}-*"):
        shutil.rmtree(dead)
    folder = outputs / f"{stem}-{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise LedgerError(f"cannot write to {outputs}: {error.strerror}.") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
