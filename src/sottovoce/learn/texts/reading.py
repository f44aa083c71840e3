"""A peer's labelled texts from its files."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from sottovoce.corpus.reading import Corpus, ReadOptions, Skip, Tally, open_documents
from sottovoce.corpus.reading.formats.choose import Source, reader_for
from sottovoce.corpus.reading.strings import as_bytes, repaired
from sottovoce.learn.texts.documents import Documents, NoDocumentsError

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
) -> Documents:
    """Texts and labels from a file (CSV, TSV, JSONL, Parquet) or a data frame.

    ``options.columns`` maps ``text`` and ``label`` to the file's names. Rows without a label are
    left out where labels are wanted. ``document`` names a column with the id of the document that
    each row is a sentence of.
    """
    given = options or ReadOptions()
    if document is None:
        table = open_documents(source, options=given).read_all()
    else:
        named = replace(given, columns={**given.columns, "user": document})
        reader = reader_for(source, _SENTENCES, named)
        table = Corpus(reader, _SENTENCES, _to_sentences, named).read_all()
    if labelled:
        table = _with_labels(table)
    labels = table.column("label").to_pylist() if labelled else None
    groups = None if document is None else table.column("user").to_pylist()
    return Documents.of(table.column("text").to_pylist(), labels, groups)


def _with_labels(table: pa.Table) -> pa.Table:
    kept = np.array([bool(label) for label in table.column("label").to_pylist()], bool)
    if not kept.any():
        raise NoDocumentsError(
            "a peer must have at least 1 labelled document, got none; name the column of labels: "
            "label in [texts] of party.toml, or in Python columns={'label': 'NAME'}."
        )
    return table.filter(pa.array(kept))


def _to_sentences(raw: pa.RecordBatch, _zone: str, tally: Tally) -> pa.RecordBatch:
    text, document = (repaired(as_bytes(raw.column(name))) for name in ("text", "user"))
    named = "label" in raw.schema.names
    label = repaired(as_bytes(raw.column("label"))) if named else pa.nulls(len(text), pa.string())
    lacking_text, lacking_id = (
        column.is_null().to_numpy(zero_copy_only=False) for column in (text, document)
    )
    tally.skip(Skip.TEXT, int(lacking_text.sum()))
    tally.skip(Skip.USER, int((lacking_id & ~lacking_text).sum()))
    keep = ~(lacking_text | lacking_id)
    tally.rows_kept += int(keep.sum())
    rows = [column.filter(pa.array(keep)) for column in (text, label, document)]
    return pa.RecordBatch.from_arrays(rows, schema=_SENTENCES)
