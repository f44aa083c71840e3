"""What a peer brings: texts or rows of numbers, their labels, and which document each is of.

`read_labelled` reads labelled texts from a peer's files, `sentences` cuts documents by a rule that
fits in one line. Documents are counted and held out (see `data_digest`), not rows: several rows may
be of one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.read.bytes import as_bytes, repair_strings
from sottovoce.corpus.read.corpus import Corpus, Source, open_documents, reader_for
from sottovoce.corpus.read.tally import ReadOptions, Skip, Tally
from sottovoce.errors import DataError, InputError
from sottovoce.learn._examples import Rows, checked_rows, label_names, list_values

# After a mark that ends a sentence and the space behind it, or at a line's end.
_ENDS = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])\s+|[\r\n]+")


def sentences(text: str) -> list[str]:
    """The sentences of a text: they end with . ! ? or the like before a space, or with a line.

    Abbreviations end a sentence too: the rule knows no language. Parts without a character but
    space are left out.
    """
    return [part.strip() for part in _ENDS.split(text) if part.strip()]


@dataclass
class Skipped:
    """Rows that were read, and why some were left out.

    Attributes:
        rows: how many were read.
        reasons: how many were left out, for each reason.
    """

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


@dataclass(frozen=True, repr=False)
class Documents:
    """Texts with their labels; never printed.

    Attributes:
        texts: one a row.
        labels: a name for each; None where they are to be classified.
        groups: which document each text is of, if several texts (sentences) are of one; where
            documents are counted, whose each is.
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
        labels = None if self.labels is None else tuple(self.labels[i] for i in at)
        groups = None if self.groups is None else self.groups[at]
        ids = None if self.ids is None else tuple(self.ids[i] for i in at)
        return Documents(tuple(self.texts[i] for i in at), labels, groups, ids)

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
    groups: Integers | None = field(default=None)

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
        labels = None if self.labels is None else tuple(self.labels[i] for i in at)
        groups = None if self.groups is None else self.groups[at]
        return replace(self, rows=self.rows[at], labels=labels, groups=groups)


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


# The id of a document is read as the reader reads users' names: text or a whole number.
_SENTENCES = pa.schema(
    [
        pa.field("text", pa.string(), nullable=False),
        pa.field("label", pa.string()),
        pa.field("user", pa.string(), nullable=False),
    ]
)


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
    named = replace(options, columns={**options.columns, "user": document})
    return Corpus(reader_for(source, _SENTENCES, named), _SENTENCES, _to_sentences, named)


def _with_labels(table: pa.Table) -> pa.Table:
    kept = np.array([bool(label) for label in table.column("label").to_pylist()], bool)
    if not kept.any():
        raise DataError(
            "a peer must have at least 1 labelled document, got none; name the column of labels: "
            "--label of learn audit, label in [texts] of party.toml, in Python label='NAME' of "
            "train, or columns={'label': 'NAME'} of ReadOptions."
        )
    return table.filter(pa.array(kept))


def _to_sentences(raw: pa.RecordBatch, _zone: str, tally: Tally) -> pa.RecordBatch:
    text, document = (repair_strings(as_bytes(raw.column(name))) for name in ("text", "user"))
    named = "label" in raw.schema.names
    label = (
        repair_strings(as_bytes(raw.column("label"))) if named else pa.nulls(len(text), pa.string())
    )
    lacking_text, lacking_id = (
        column.is_null().to_numpy(zero_copy_only=False) for column in (text, document)
    )
    tally.skip(Skip.TEXT, int(lacking_text.sum()))
    tally.skip(Skip.USER, int((lacking_id & ~lacking_text).sum()))
    keep = ~(lacking_text | lacking_id)
    tally.rows_kept += int(keep.sum())
    rows = [column.filter(pa.array(keep)) for column in (text, label, document)]
    return pa.RecordBatch.from_arrays(rows, schema=_SENTENCES)
