"""Raw columns, as a file gave them, into posts and documents; each row not kept is counted."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus._schema import BATCH_BYTES, BATCH_ROWS, DOCUMENTS, POSTS
from sottovoce.corpus.read._strings import as_bytes, byte_lengths, is_string_like, repaired, strict
from sottovoce.corpus.read._tally import Skip, Tally
from sottovoce.corpus.read._times import is_time_like, to_instants
from sottovoce.errors import CorpusError

Mask = npt.NDArray[np.bool_]


def check_types(raw: pa.Schema, where: str) -> None:
    """Refuse a column whose type can never become what it is wanted for."""
    for field in raw:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if not _fits(field.name, kind):
            raise CorpusError(
                f"{where}: the column mapped to {field.name} has type {field.type}; "
                f"it must be {_WANTED[field.name]}. Convert it first."
            )


def _fits(name: str, kind: pa.DataType) -> bool:
    if name == "time":
        return is_time_like(kind)
    if is_string_like(kind) or pa.types.is_null(kind):
        return True
    if pa.types.is_integer(kind):
        return name != "text"
    if pa.types.is_boolean(kind):
        return name in {"label", "sensitive"}
    return pa.types.is_floating(kind) and name == "grade"


_WANTED = {
    "user": "a string or an integer",
    "topic": "a string or an integer",
    "persona": "a string or an integer",
    "sensitive": "a boolean",
    "grade": "a number",
    "time": "a timestamp, a date, a string or a number",
    "text": "a string",
    "label": "a string, an integer or a boolean",
}


def bounded(raw: pa.RecordBatch, max_text_bytes: int, tally: Tally) -> Iterator[pa.RecordBatch]:
    """Cut into batches of at most BATCH_ROWS rows and about BATCH_BYTES; drop what is too long."""
    sizes = np.zeros(raw.num_rows, np.int64)
    for column in raw.columns:
        sizes += byte_lengths(column).to_numpy(zero_copy_only=False)
    too_long = sizes > max_text_bytes
    if too_long.any():
        tally.skip(Skip.LONG, int(too_long.sum()))
        raw, sizes = raw.filter(pa.array(~too_long)), sizes[~too_long]
    ends = np.cumsum(sizes)
    start = 0
    while start < raw.num_rows:
        before = ends[start - 1] if start else 0
        fitting = int(np.searchsorted(ends, before + BATCH_BYTES, side="right"))
        end = min(max(fitting, start + 1), start + BATCH_ROWS)
        yield raw.slice(start, end - start)
        start = end


def to_posts(raw: pa.RecordBatch, zone: str, tally: Tally) -> pa.RecordBatch:
    encoded = as_bytes(raw.column("user"))
    user = strict(encoded)
    time = to_instants(raw.column("time"), zone)
    text, changed = _text(raw.column("text"))
    missing_user = _mask(pc.equal(pc.binary_length(encoded), 0).fill_null(True))
    keep = _keep(
        {
            Skip.USER: missing_user,
            Skip.USER_BYTES: _mask(user.is_null()),
            Skip.TIME: _mask(time.is_null()),
            Skip.TEXT: _mask(text.is_null()),
        },
        tally,
    )
    return _kept([user, time, text], POSTS, keep, changed, tally)


def to_documents(raw: pa.RecordBatch, _zone: str, tally: Tally) -> pa.RecordBatch:
    text, changed = _text(raw.column("text"))
    keep = _keep({Skip.TEXT: _mask(text.is_null())}, tally)
    named = "label" in raw.schema.names
    label = repaired(as_bytes(raw.column("label"))) if named else pa.nulls(len(text), pa.string())
    return _kept([text, label], DOCUMENTS, keep, changed, tally)


def _text(column: pa.Array) -> tuple[pa.Array, Mask]:
    encoded = as_bytes(column)
    text = repaired(encoded)
    changed = pc.not_equal(text.cast(pa.binary()), encoded).fill_null(False)
    return text, _mask(changed)


def _mask(booleans: pa.Array) -> Mask:
    mask: Mask = booleans.to_numpy(zero_copy_only=False)
    return mask


def _keep(faults: dict[Skip, Mask], tally: Tally) -> Mask:
    """Rows without a fault; a row with several is counted under the first."""
    keep = np.ones(len(next(iter(faults.values()))), np.bool_)
    for reason, faulty in faults.items():
        tally.skip(reason, int((keep & faulty).sum()))
        keep &= ~faulty
    return keep


def _kept(
    columns: list[pa.Array], schema: pa.Schema, keep: Mask, changed: Mask, tally: Tally
) -> pa.RecordBatch:
    tally.repaired += int((changed & keep).sum())
    tally.rows_kept += int(keep.sum())
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    return batch if keep.all() else batch.filter(pa.array(keep))
