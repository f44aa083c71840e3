"""Which column of a file holds what, and raw columns into posts and documents.

Columns are found by the caller's names, or by ours; each row that is not kept is counted.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read.bytes import (
    as_bytes,
    byte_lengths,
    is_string_like,
    repair_strings,
    strict,
)
from sottovoce.corpus.read.tally import ReadOptions, Skip, Tally
from sottovoce.corpus.read.times import is_time_like, to_instants
from sottovoce.corpus.schema import BATCH_BYTES, BATCH_ROWS, DOCUMENTS, POSTS
from sottovoce.errors import CorpusError, MissingColumnError, ParameterError

NAMES_SHOWN = 20
# A first row with none of these may be somebody's text rather than a header, and is not shown.
_NAMES = """
    anonid author author_id body category class comment content created created_at date
    datetime document grade id label message name persona post post_id product query querytime
    raw review sensitive source src subject text time timestamp title topic tweet user user_id
    userid username week when
"""
_KNOWN_NAMES = frozenset(_NAMES.split())
# One or two short words: anything else in a first row may be somebody's text, not a column name.
_NAME_LIKE = re.compile(r"[^\W\d][\w.:-]{0,39}( [\w.:-]{1,40})?")


# Fields whose column the calls of the verbs take by a keyword of the same name.
_KEYWORDS = frozenset({"user", "time", "text"})


def locate(
    schema: pa.Schema,
    options: ReadOptions,
    found: Sequence[str],
    where: str,
    *,
    surely_names: bool = False,
) -> dict[str, int]:
    """The position in ``found`` of each field of ``schema``; a nullable field may be absent.

    What is ``surely_names`` is no first row, which might be somebody's text.
    """
    check_mapping(schema, options)
    places = {
        field.name: _place(field, options, found, where, surely_names=surely_names)
        for field in schema
    }
    return {name: place for name, place in places.items() if place is not None}


def check_mapping(schema: pa.Schema, options: ReadOptions) -> None:
    """Refuse a mapping for something that is not read."""
    if unknown := set(options.columns) - set(schema.names):
        turned = [
            f"{options.columns[name]}={name}"
            for name in sorted(unknown)
            if options.columns[name] in schema.names
        ]
        hint = f" Our name comes first: write {','.join(turned)}." if turned else ""
        raise ParameterError(
            f"columns may map {', '.join(schema.names)}; got {', '.join(sorted(unknown))}.{hint}"
        )


def _place(
    field: pa.Field, options: ReadOptions, found: Sequence[str], where: str, *, surely_names: bool
) -> int | None:
    wanted = options.columns.get(field.name, field.name)
    if isinstance(wanted, int):
        return _checked_position(field.name, wanted, len(found), where)
    places = [place for place, name in enumerate(found) if name == wanted]
    places = places or [place for place, name in enumerate(found) if _is_same_name(name, wanted)]
    if len(places) > 1:
        raise CorpusError(
            f"{where} has {len(places)} columns named {wanted!r}; "
            f"map {field.name} by position: {_how(field.name, places[0])}."
        )
    if places:
        return places[0]
    if field.nullable and field.name not in options.columns:
        return None
    described, unnamed = _describe_columns(found, surely_names=surely_names)
    missing = f"{where} has no column {wanted!r} for {field.name}; {described}"
    raise MissingColumnError(missing, f"{unnamed}Map it: {_how(field.name, 'NAME')}.")


def _is_same_name(name: str, wanted: str) -> bool:
    """Whether a column's name is the one wanted but for capitals and blanks around it."""
    return name.strip().casefold() == wanted.casefold()


def _how(field: str, column: str | int) -> str:
    mapping = f"columns={{{field!r}: {column!r}}} of ReadOptions"
    if field in _KEYWORDS:
        calls = f"{field}={column!r} of assess_posts and release_counts"
        return f"--fields {field}={column}, or in Python {calls}, or {mapping}"
    return f"--fields {field}={column}, or in Python {mapping}"


def _checked_position(name: str, position: int, columns: int, where: str) -> int:
    if 0 <= position < columns:
        return position
    raise CorpusError(
        f"{where} has {columns} columns, counted from 0; {name} was mapped to column {position}."
    )


def _describe_columns(found: Sequence[str], *, surely_names: bool) -> tuple[str, str]:
    """What a file has, and what to do if its first row is no header."""
    plain = [name for name in found if _NAME_LIKE.fullmatch(name.strip())]
    named = any(name.strip().lower() in _KNOWN_NAMES for name in found)
    if (surely_names and plain) or (named and len(plain) == len(found)):
        shown = ", ".join(plain[:NAMES_SHOWN])
        more = len(found) - len(plain[:NAMES_SHOWN])
        return f"it has: {shown}{f' and {more} more' if more else ''}.", ""
    columns = "1 column" if len(found) == 1 else f"{len(found)} columns"
    if surely_names:
        return f"it has {columns} (not shown).", ""
    if found and len(plain) == len(found):
        described = f"it has {columns}, and none of its first row is a name we know (not shown)."
    else:
        described = (
            f"it has {columns} and its first row does not look like column names (not shown)."
        )
    return described, (
        "If the file has no header row, name all columns: --header a,b,c, or in Python "
        "header=('a', 'b', 'c'). "
    )


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


def split_batch(raw: pa.RecordBatch, max_text_bytes: int, tally: Tally) -> Iterator[pa.RecordBatch]:
    """Cut into batches of at most BATCH_ROWS rows and about BATCH_BYTES; drop what is too long."""
    sizes = _row_bytes(raw)
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


def _row_bytes(raw: pa.RecordBatch) -> npt.NDArray[np.int64]:
    sizes = np.zeros(raw.num_rows, np.int64)
    for column in raw.columns:
        sizes += byte_lengths(column).to_numpy(zero_copy_only=False)
    return sizes


def unfolded_bytes(raw: pa.RecordBatch) -> int:
    """What the texts of a batch come to, those kept once in a dictionary counted in each row."""
    return int(_row_bytes(raw).sum())


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
    return _keep_rows([user, time, text], POSTS, keep, changed, tally)


def to_documents(raw: pa.RecordBatch, _zone: str, tally: Tally) -> pa.RecordBatch:
    text, changed = _text(raw.column("text"))
    keep = _keep({Skip.TEXT: _mask(text.is_null())}, tally)
    named = "label" in raw.schema.names
    label = (
        repair_strings(as_bytes(raw.column("label"))) if named else pa.nulls(len(text), pa.string())
    )
    return _keep_rows([text, label], DOCUMENTS, keep, changed, tally)


def _text(column: pa.Array) -> tuple[pa.Array, Mask]:
    encoded = as_bytes(column)
    text = repair_strings(encoded)
    before, after = encoded.buffers()[-1], text.buffers()[-1]
    if before and after and before.address == after.address:
        # The letters are where they were: nothing had to be repaired.
        return text, np.zeros(len(text), np.bool_)
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


def _keep_rows(
    columns: list[pa.Array], schema: pa.Schema, keep: Mask, changed: Mask, tally: Tally
) -> pa.RecordBatch:
    tally.repaired += int((changed & keep).sum())
    tally.rows_kept += int(keep.sum())
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    return batch if keep.all() else batch.filter(pa.array(keep))
