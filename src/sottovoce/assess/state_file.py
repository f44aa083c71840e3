"""A state on disk, by its path: what ``assess --state`` writes, private to its owner.

It is one Parquet file (``state_part``), or, where it grew by little, the newest of several
(``kept_state``).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sottovoce.assess.header import VERSION
from sottovoce.assess.kept_state import KeptState, remove_unnamed
from sottovoce.assess.state import State
from sottovoce.assess.state_columns import tables
from sottovoce.assess.state_part import OtherFileError, fill_tables, write_part
from sottovoce.assess.state_record import (
    KEY,
    header_in,
    inputs_in,
    read_record,
    record_of,
    taken_from,
    unusable,
)
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import InputError
from sottovoce.files import file_digest, whole_file

_TRIES = 5


def save_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Write ``state``, whole or not at all; ``ranked`` says how it was last ranked.

    >>> import tempfile
    >>> from sottovoce.assess import Scoring
    >>> from sottovoce.corpus import open_posts
    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> scoring = Scoring(Catalogue((Topic("debt", ("loan",), "money"),)), [BagOfWords()])
    >>> state = scoring.state_of(open_posts([("ada", "2024-01-01", "a loan")]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_state(Path(folder, "my.state"), state)
    ...     load_state(Path(folder, "my.state"))
    State(users=1, posts=1, topics=1)
    """
    with whole_file(path, private=True) as temporary:
        write_state(temporary, state, ranked)
    remove_unnamed(path)


def write_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Fill a file that ``files.whole_file`` opened."""
    write_part(path, state, record_of(state.header, state.inputs, ranked))


def load_state(path: Path) -> State:
    """Read a state; a file that is none, or of another version, is refused.

    >>> import tempfile
    >>> from sottovoce.assess import Scoring
    >>> from sottovoce.corpus import open_posts
    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> scoring = Scoring(Catalogue((Topic("debt", ("loan",), "money"),)), [BagOfWords()])
    >>> state = scoring.state_of(open_posts([("ada", "2024-01-01", "a loan")]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_state(Path(folder, "my.state"), state)
    ...     load_state(Path(folder, "my.state"))
    State(users=1, posts=1, topics=1)
    """
    kept = KeptState.open(path)
    for _ in range(_TRIES):
        try:
            return kept.load()
        except OtherFileError:
            # It may have been replaced meanwhile, and its parts with it.
            before, kept = kept, KeptState.open(path)
            if kept == before:
                raise
    return kept.load()


def load_ranked(path: Path) -> dict[str, Any]:
    """How the state at ``path`` was last ranked."""
    return KeptState.open(path).ranked


def input_fingerprint(path: Path) -> str:
    """SHA-256 of a file's bytes, by which a state knows what it has seen."""
    try:
        return file_digest(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None


def posts_fingerprint(batches: Iterable[pa.RecordBatch]) -> str:
    """SHA-256 of posts that are in no file, however they are cut into batches."""
    times = hashlib.sha256()
    columns = {name: (hashlib.sha256(), hashlib.sha256()) for name in ("user", "text")}
    for batch in batches:
        times.update(batch["time"].cast(pa.int64()).to_numpy().astype("<i8").tobytes())
        for name, (lengths, values) in columns.items():
            found = text_buffers(batch[name])
            lengths.update(np.diff(found.offsets).astype("<i8").tobytes())
            values.update(found.data[found.offsets[0] : found.offsets[-1]].tobytes())
    hashes = (times, *columns["user"], *columns["text"])
    return hashlib.sha256(b"".join(each.digest() for each in hashes)).hexdigest()


def to_table(state: State, ranked: Mapping[str, Any] | None = None) -> pa.Table:
    """The state as Arrow: what a part of a cluster sends to whoever merges."""
    whole = next(tables(state, rows=max(1, len(state))))
    record = record_of(state.header, state.inputs, ranked)
    return whole.replace_schema_metadata({KEY: json.dumps(record)})


def from_table(table: pa.Table, where: str = "the table") -> State:
    """The state that ``to_table`` wrote."""
    record = read_record(table.schema.metadata, where)
    if record["version"] != VERSION:
        raise unusable(where)
    state = State(taken_from(record, where, header_in))
    state.inputs = taken_from(record, where, inputs_in)
    fill_tables(state, [table], where)
    return state
