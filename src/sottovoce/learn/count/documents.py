"""Documents that are counted, from a file, a frame, rows or lists: text, and what there is beside.

Beside its text a document may have a label, a user (whose documents are bounded) and an id (what
tells it from another one of the same words). Rows without a text are left out; where a column is
wanted, so are those without a value in it, and whoever reads is told how many. A holder without any
document counts along: to refuse it would tell one document from none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.arrays import Flags
from sottovoce.corpus.read.bytes import as_bytes, repair_strings
from sottovoce.corpus.read.corpus import Corpus, Source, reader_for
from sottovoce.corpus.read.tally import ReadOptions, Skip, Tally
from sottovoce.errors import InputError, MissingColumnError
from sottovoce.learn._examples import list_values
from sottovoce.learn.documents import Documents, Skipped, group_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_PAIR = 2
_NAME_IT = (
    "Whoever holds it must name it: text=, label=, user= or id= of count_together, or the same in "
    "[texts] of a peer's party.toml."
)


@dataclass(frozen=True)
class CountedColumns:
    """What a holder's columns are called; None: there is none of that kind to read.

    Attributes:
        text: of the texts.
        label: of the labels.
        user: of the users.
        id: of the documents' ids.
    """

    text: str = "text"
    label: str | None = None
    user: str | None = None
    id: str | None = None

    @property
    def named_columns(self) -> dict[str, str]:
        """Our names of the columns that are read, with the holder's."""
        named = {"text": self.text, "label": self.label, "user": self.user, "id": self.id}
        return {ours: name for ours, name in named.items() if name is not None}

    @property
    def schema(self) -> pa.Schema:
        """Of what is read: every column of it must be there."""
        return _whole(self.named_columns)


def counted_documents(
    given: object,
    columns: CountedColumns,
    skipped: Skipped,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> Documents:
    """What one holder has, in any of the forms that a holder comes in."""
    if isinstance(given, Documents):
        return given
    if _is_pair(given):
        texts, labels = cast("tuple[Iterable[str], ArrayLike]", given)
        return _of_texts(list_values(texts), labels, columns)
    if isinstance(given, str | PathLike) or hasattr(given, "__arrow_c_stream__"):
        return read_counted(cast("Source", given), columns, skipped, options)
    rows = list(given) if isinstance(given, Iterable) else [given]
    if all(isinstance(each, str) for each in rows):
        return _of_texts(cast("list[str]", rows), None, columns)
    return read_counted(_of_rows(rows), columns, skipped, options)


def read_counted(
    source: Source, columns: CountedColumns, skipped: Skipped, options: ReadOptions
) -> Documents:
    """Documents of a file or a frame."""
    named = ReadOptions(
        format=options.format, header=options.header, columns={**columns.named_columns}
    )
    schema = columns.schema
    try:
        reader = reader_for(source, schema, named)
        corpus = Corpus(reader, schema, _to_rows, named, may_be_empty=True)
        table = corpus.read_all()
    except MissingColumnError as error:
        raise MissingColumnError(error.missing, _NAME_IT) from None
    skipped.add(corpus.tally, 0)
    found = {name: table.column(name).to_pylist() for name in columns.named_columns}
    texts = tuple(found["text"])
    labels = tuple(found["label"]) if "label" in found else None
    users = group_numbers(np.array(found["user"], object), len(texts)) if "user" in found else None
    ids = tuple(found["id"]) if "id" in found else None
    return Documents(texts, labels, users, ids)


def _of_texts(
    texts: Sequence[str], labels: "ArrayLike | None", columns: CountedColumns
) -> Documents:
    if not texts:
        return Documents((), () if columns.label is not None else None, np.zeros(0, np.int64))
    found = Documents.from_texts(texts, labels if columns.label is not None else None)
    if broken := sum(not _is_unicode(each) for each in found.texts):
        raise InputError(
            f"texts must be Unicode, got {broken} of {len(found)} with half a character (a lone "
            "surrogate); leave these out."
        )
    lacking = [name for name in ("user", "id") if getattr(columns, name) is not None]
    if columns.label is not None and found.labels is None:
        lacking.insert(0, "label")
    if lacking:
        raise InputError(
            f"a holder's texts must come with a column for each of {', '.join(lacking)}: give a "
            "file, a frame or dictionaries."
        )
    return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_pair(given: object) -> bool:
    if not isinstance(given, tuple | list) or len(given) != _PAIR:
        return False
    return isinstance(given[0], Iterable) and not isinstance(given[0], str | Mapping)


def _of_rows(rows: list[object]) -> pa.Table:
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "a holder must be a file's path, a data frame, texts, (texts, labels) or rows that are "
            "dictionaries."
        )
    try:
        return pa.Table.from_pylist([dict(cast("Mapping[str, object]", row)) for row in rows])
    except UnicodeEncodeError:
        raise InputError(
            "texts must be Unicode, got half a character (a lone surrogate) in a holder's rows; "
            "leave those rows out."
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            "a column must hold one kind of value in all of a holder's rows."
        ) from None


_REASONS = {"text": Skip.TEXT, "user": Skip.USER}


def _to_rows(raw: pa.RecordBatch, _zone: str, tally: Tally) -> pa.RecordBatch:
    names = raw.schema.names
    columns = [repair_strings(as_bytes(raw.column(name))) for name in names]
    keep = np.ones(raw.num_rows, bool)
    for name, column in zip(names, columns, strict=True):
        lacking = _lacking(column, empty=name != "text")
        tally.skip(_REASONS.get(name, Skip.TYPE), int((lacking & keep).sum()))
        keep &= ~lacking
    tally.rows_kept += int(keep.sum())
    kept = [column.filter(pa.array(keep)) for column in columns]
    return pa.RecordBatch.from_arrays(kept, schema=_whole(names))


def _lacking(column: pa.Array, *, empty: bool) -> Flags:
    """Where a column has no value; in some an empty one is none."""
    if empty:
        column = pc.if_else(pc.equal(column, ""), None, column)
    found: Flags = column.is_null().to_numpy(zero_copy_only=False)
    return found


def _whole(names: Iterable[str]) -> pa.Schema:
    return pa.schema([pa.field(name, pa.string(), nullable=False) for name in names])
