"""What a peer brings: texts or rows of numbers, their labels, and which document each is of.

Several rows may be of one document; documents are counted and held out, not rows. A digest is
HMAC-SHA256 under a secret that the peer shows nobody: without it no document can be guessed from
one. It says whether two documents, or two collections in any order, are the same.

**Held out.** A peer chooses itself which documents it keeps for evaluation, and the same every
time. Whoever proposes a training says what fraction is held out. If it could say which documents,
two trainings whose choices differ by one would open that one: their sums' difference. So

- documents stand in an order that a secret of the peer's own decides, and nobody else knows;
- the order is of the documents alone: the same data are held out in every training, and a choice of
  more documents holds every smaller one;
- the number of documents is a multiple of `BLOCK`, at least one block, and at least one is left:
  two fractions either mean the same documents or differ by `BLOCK` of them or more.

Proof of the last: the choice for n documents and a fraction f is the first ``BLOCK * b`` of the
order, b a whole number; two choices of b and c blocks differ by ``BLOCK * |b - c|`` documents.
"""

import hashlib
import hmac
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.read.bytes import as_bytes, repair_strings
from sottovoce.corpus.read.corpus import Corpus, Source, open_documents, reader_for
from sottovoce.corpus.read.tally import ReadOptions, Skip, Tally
from sottovoce.errors import DataError, InputError, MissingColumnError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows, label_names, list_values
from sottovoce.learn.support import FEWEST_DOCUMENTS
from sottovoce.learn.wire.codec import Value, encode_value

# After a mark that ends a sentence and the space behind it, or at a line's end.
_ENDS = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])\s+|[\r\n]+")


def sentences(text: str) -> list[str]:
    """The sentences of a text: they end with . ! ? or the like before a space, or with a line.

    Abbreviations end a sentence too: the rule knows no language.
    """
    return [part.strip() for part in _ENDS.split(text) if part.strip()]


@dataclass(frozen=True, repr=False)
class Documents:
    """Texts with their labels; never printed.

    Attributes:
        texts: one a row.
        labels: a name for each; None for those to be classified.
        groups: which document each sentence is of; where documents are counted, whose each is.
        ids: what each document is called, if it has a name of its own.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    groups: Integers | None = None
    ids: tuple[str, ...] | None = None

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], labels: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Texts, a label each, and the id of each text's document."""
        own = list_values(texts)
        if not own:
            raise DataError("a peer must have at least 1 document, got none.")
        if others := sum(not isinstance(text, str) for text in own):
            raise InputError(
                f"documents must be texts; got something else among them, {others} of {len(own)}: "
                "leave out the rows without a text."
            )
        return cls(tuple(own), label_names(labels, len(own)), group_numbers(groups, len(own)))

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, chosen: NDArray[np.bool_]) -> "Documents":
        """Some of them."""
        at = np.flatnonzero(chosen)
        groups = None if self.groups is None else self.groups[at]
        ids = _some(self.ids, at)
        return Documents(tuple(self.texts[i] for i in at), _some(self.labels, at), groups, ids)

    def split(self) -> "Documents":
        """Each sentence with its document's label and its document's number."""
        if self.groups is not None:
            return self
        parts = [sentences(text) for text in self.texts]
        sizes = [len(part) for part in parts]
        labels = self.labels and tuple(
            label for label, size in zip(self.labels, sizes, strict=True) for _ in range(size)
        )
        groups = np.repeat(np.arange(len(parts)), sizes)
        texts = tuple(sentence for part in parts for sentence in part)
        if not texts:
            raise DataError("a peer must have at least 1 sentence, got none.")
        return Documents(texts, labels, groups)


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of numbers with their labels; never printed.

    Attributes:
        rows: m by the peer's own columns.
        labels: a name for each row; None where they are to be classified.
        columns: the names of the peer's columns; none where it has all of the run's.
        groups: which document each row is of, if several are of one.
    """

    rows: Floats
    labels: tuple[str, ...] | None = None
    columns: tuple[str, ...] = ()
    groups: Integers | None = None

    @classmethod
    def from_rows(
        cls, rows: Rows, labels: ArrayLike | None = None, columns: Sequence[str] = ()
    ) -> Self:
        """Rows, a label each, and the names of the columns."""
        matrix = checked_rows(rows)
        return cls(matrix, label_names(labels, len(matrix)), tuple(columns))

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, chosen: NDArray[np.bool_]) -> "Table":
        """Some of them."""
        at = np.flatnonzero(chosen)
        groups = None if self.groups is None else self.groups[at]
        return replace(self, rows=self.rows[at], labels=_some(self.labels, at), groups=groups)


def _some(names: tuple[str, ...] | None, at: NDArray[np.intp]) -> tuple[str, ...] | None:
    return None if names is None else tuple(names[i] for i in at)


Examples: TypeAlias = Documents | Table


def group_numbers(groups: ArrayLike | None, rows: int) -> Integers | None:
    """Documents' ids as numbers in the order of their first rows."""
    if groups is None:
        return None
    found: NDArray[Any] = np.asarray(groups)
    if found.shape != (rows,):
        raise InputError(f"document ids must be one per row, {rows} of them, got {found.shape}.")
    first: dict[Any, int] = {}
    return np.array([first.setdefault(each, len(first)) for each in found.tolist()], np.int64)


_REASONS = {"text": Skip.TEXT, "user": Skip.USER}


@dataclass
class Skipped:
    """How many rows were read, and how many were left out for each reason."""

    rows: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, read: Tally, unlabelled: int) -> None:
        """What a reader tells, and how many of the rows that it kept have no label."""
        self.rows += read.rows_read
        self.reasons.update({str(reason): rows for reason, rows in read.skipped.items()})
        if unlabelled:
            self.reasons["missing label"] += unlabelled

    def __str__(self) -> str:
        reasons = ", ".join(f"{rows} {reason}" for reason, rows in self.reasons.most_common())
        return f"rows were skipped, of {self.rows} rows: {reasons}"


@dataclass(frozen=True)
class HolderColumns:
    """What a holder's columns are called; None: it has our name, or there is none to read."""

    text: str | None = None
    label: str | None = None
    user: str | None = None
    id: str | None = None

    @property
    def given_names(self) -> dict[str, str | int]:
        """Our names of the columns that are called something, with the holder's."""
        return {ours: name for ours, name in vars(self).items() if name is not None}


def read_labelled(
    source: Source,
    *,
    options: ReadOptions | None = None,
    labelled: bool = True,
    document: str | int | None = None,
    skipped: Skipped | None = None,
) -> Documents:
    """Texts and labels from a file (CSV, TSV, JSONL, Parquet) or a data frame.

    ``options.columns`` maps ``text`` and ``label`` to the file's names. Rows without a label are
    left out where labels are wanted. ``document`` names a column with the id of the document that
    each row is a sentence of. ``skipped`` hears of rows that were left out.
    """
    corpus = _open_source(source, options or ReadOptions(), document)
    read = corpus.read_all()
    table = _with_labels(read) if labelled else read
    if skipped is not None:
        skipped.add(corpus.tally, read.num_rows - table.num_rows)
    labels = table.column("label").to_pylist() if labelled else None
    groups = None if document is None else table.column("user").to_pylist()
    return Documents.from_texts(table.column("text").to_pylist(), labels, groups)


def _open_source(source: Source, options: ReadOptions, document: str | int | None) -> Corpus:
    if document is None:
        return open_documents(source, options=options)
    # The id of a document is read as the reader reads users' names: text or a whole number.
    named = replace(options, columns={**options.columns, "user": document})
    schema = _schema("text", "label", "user", may_lack="label")
    return Corpus(reader_for(source, schema, named), schema, _keep_whole(schema), named)


def _schema(*names: str, may_lack: str = "") -> pa.Schema:
    return pa.schema([pa.field(name, pa.string(), nullable=name == may_lack) for name in names])


def _with_labels(table: pa.Table) -> pa.Table:
    kept = np.array([bool(label) for label in table.column("label").to_pylist()], bool)
    if not kept.any():
        raise DataError(
            "a peer must have at least 1 labelled document, got none; name the column of labels: "
            "--label of learn audit, label in [texts] of party.toml, in Python label='NAME' of "
            "train, or columns={'label': 'NAME'} of ReadOptions."
        )
    return table.filter(pa.array(kept))


def read_counted(
    source: Source,
    columns: HolderColumns,
    skipped: Skipped,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> Documents:
    """Documents that are counted, of a file, a frame or rows: text, and what is named beside it.

    A document may have a label, a user (whose documents are bounded) and an id (what tells it from
    another one of the same words). Rows without a value in a named column are left out. There may
    be no document at all: to refuse none would tell one document from none.
    """
    named = {"text": "text", **columns.given_names}
    schema = _schema(*named)
    options = ReadOptions(format=options.format, header=options.header, columns=named)
    try:
        reader = reader_for(source, schema, options)
        whole = _keep_whole(schema, empty=False)
        corpus = Corpus(reader, schema, whole, options, may_be_empty=True)
        table = corpus.read_all()
    except MissingColumnError as error:
        remedy = (
            "Whoever holds it must name it: text=, label=, user= or id= of count_together, or the "
            "same in [texts] of a peer's party.toml."
        )
        raise MissingColumnError(error.missing, remedy) from None
    skipped.add(corpus.tally, 0)
    found = {name: table.column(name).to_pylist() for name in named}
    texts = tuple(found["text"])
    labels = tuple(found["label"]) if "label" in found else None
    users = group_numbers(np.array(found["user"], object), len(texts)) if "user" in found else None
    ids = tuple(found["id"]) if "id" in found else None
    return Documents(texts, labels, users, ids)


def _keep_whole(
    schema: pa.Schema, *, empty: bool = True
) -> Callable[[pa.RecordBatch, str, Tally], pa.RecordBatch]:
    """Keep rows that have what they need; unless ``empty`` will do, only a text may be empty."""

    def keep(raw: pa.RecordBatch, _zone: str, tally: Tally) -> pa.RecordBatch:
        kept, columns = np.ones(raw.num_rows, bool), []
        for each in schema:
            named = each.name in raw.schema.names
            lacks = pa.nulls(raw.num_rows, pa.string())
            column = repair_strings(as_bytes(raw.column(each.name))) if named else lacks
            columns.append(column)
            if not (empty or each.name == "text"):
                column = pc.if_else(pc.equal(column, ""), None, column)
            lacking = column.is_null().to_numpy(zero_copy_only=False) & (not each.nullable)
            tally.skip(_REASONS.get(each.name, Skip.TYPE), int((lacking & kept).sum()))
            kept &= ~lacking
        tally.rows_kept += int(kept.sum())
        rows = [column.filter(pa.array(kept)) for column in columns]
        return pa.RecordBatch.from_arrays(rows, schema=schema)

    return keep


FEWEST_SECRET_BYTES = 16
_DOCUMENT, _COLLECTION = "document", "collection"


def keyed_digest(secret: bytes, purpose: str, *parts: Value) -> bytes:
    """HMAC-SHA256 of ``parts`` under a peer's secret, for one purpose."""
    if len(secret) < FEWEST_SECRET_BYTES:
        raise ParameterError(
            f"a secret for digests must have at least {FEWEST_SECRET_BYTES} bytes, got "
            f"{len(secret)}."
        )
    return hmac.digest(secret, encode_value((purpose, *parts)), "sha256")


def document_numbers(examples: Examples) -> NDArray[np.int64]:
    """Which document each row is of: as said, or one each."""
    if examples.groups is None:
        return np.arange(len(examples))
    return np.unique(examples.groups, return_inverse=True)[1].astype(np.int64)


def document_digests(examples: Examples, secret: bytes) -> tuple[bytes, ...]:
    """A digest of each document with its labels, in the order of `document_numbers`.

    Two copies of a document have the same digest. Rows of one document count in their order.
    """
    numbers = document_numbers(examples)
    rows: list[list[Value]] = [[] for _ in range(int(numbers.max(initial=-1)) + 1)]
    for number, row in zip(numbers.tolist(), _rows(examples), strict=True):
        rows[number].append(row)
    return tuple(keyed_digest(secret, _DOCUMENT, tuple(each)) for each in rows)


def numbered_digests(examples: Examples, secret: bytes) -> tuple[bytes, ...]:
    """As `document_digests`, but the second copy of a document has another than the first."""
    seen: Counter[bytes] = Counter()
    found = []
    for digest in document_digests(examples, secret):
        found.append(keyed_digest(secret, "copy", digest, seen[digest]))
        seen[digest] += 1
    return tuple(found)


def data_digest(examples: Examples, secret: bytes) -> bytes:
    """One digest of all documents with their labels, whatever their order."""
    return keyed_digest(secret, _COLLECTION, tuple(sorted(document_digests(examples, secret))))


def _rows(examples: Examples) -> Iterator[Value]:
    """Each row with its label, if it has one."""
    labels = examples.labels or [None] * len(examples)
    contents = examples.texts if isinstance(examples, Documents) else _numbers(examples)
    for content, label in zip(contents, labels, strict=True):
        yield (content, () if label is None else (label,))


def _numbers(table: Table) -> Iterator[Value]:
    """Each row's numbers by the names of their columns, where these have names."""
    order = sorted(range(len(table.columns)), key=table.columns.__getitem__)
    names = hashlib.sha256(encode_value(tuple(table.columns[k] for k in order))).digest()
    rows = table.rows[:, order] if order else table.rows
    for row in (rows + 0.0).astype("<f8"):  # adding makes one zero of two
        yield (row.tobytes(), names)


# The proposer's own threshold does not move it: choices by two thresholds could differ by one.
BLOCK = FEWEST_DOCUMENTS


def held_out(examples: Examples, fraction: float, secret: bytes) -> NDArray[np.bool_]:
    """Which rows a peer keeps for evaluation: those of whole documents, in blocks of them."""
    if not fraction:
        return np.zeros(len(examples), bool)
    digests = numbered_digests(examples, secret)
    number = held_out_count(len(digests), fraction)
    chosen = np.zeros(len(digests), bool)
    chosen[sorted(range(len(digests)), key=digests.__getitem__)[:number]] = True
    rows: NDArray[np.bool_] = chosen[document_numbers(examples)]
    return rows


def held_out_count(documents: int, fraction: float) -> int:
    """How many documents are held out: the nearest number of whole blocks, one at least."""
    if documents < 2 * BLOCK:
        raise DataError(
            f"a peer must have at least {2 * BLOCK} documents to hold some out, got {documents}; "
            "give it more, or train with held_out = 0."
        )
    blocks = max(1, math.floor(documents * fraction / BLOCK + 0.5))
    return BLOCK * min(blocks, documents // BLOCK - 1)
