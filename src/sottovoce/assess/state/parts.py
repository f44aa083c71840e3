"""A state on disk, by its path: what ``assess --state`` writes, private to its owner.

It is one Parquet file (``file``) or, where it grew by little, several: it grows at the cost of
what is added. Adding posts does not need what the state holds of their users, as states merge
exactly, in any order; so the state of the new posts alone is written as a part of its own. The file
at the state's path is always the newest part. Its record names the earlier ones, oldest first,
which lie in a folder beside it (``STATE.earlier``), and says how many users and posts there are in
all.

Parts are never changed. To add one, the file at the path gets a second name in the folder, and then
the new file, which is complete, takes its place in one step: whatever happens, the path is the
state before or the state after. Files in the folder that it does not name are left over, and the
next command that updates the state removes them.

A part that is at most twice as large as what comes after it is joined with it. So each part is more
than twice as large as the next: there are few, together they are less than twice the oldest, and a
user's rows are written again about as often as the state doubles. All that is rewritten whole, as
after erasing somebody, is one file without earlier parts.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state._columns import numbers_in, tables
from sottovoce.assess.state.file import (
    KEY,
    PART_NAME,
    StatePart,
    StateRecord,
    fill_from,
    fill_tables,
    part_at,
    read_columns,
    unusable,
    write_part,
)
from sottovoce.assess.state.state import State
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import InputError, OtherFileError
from sottovoce.files import file_digest, others_in, remove_others, second_name, whole_file

MUCH = 2
LEAST = 1 << 16
"""A part of fewer numbers counts as so many: its record is as large as they are."""


@dataclass(frozen=True)
class KeptState:
    """What the file at a state's path says of the whole state."""

    path: Path
    newest: StatePart
    record: StateRecord

    @classmethod
    def open(cls, path: Path) -> "KeptState":
        """Read what is said of the state; its users are not read."""
        return cls(path, *part_at(path))

    @property
    def header(self) -> StateHeader:
        """How the posts were scored."""
        return self.record.header

    @property
    def inputs(self) -> frozenset[str]:
        """Fingerprints of the files that were folded in."""
        return self.record.inputs

    @property
    def earlier(self) -> tuple[StatePart, ...]:
        """The parts before the newest, oldest first."""
        return self.record.earlier

    @property
    def users(self) -> int:
        """How many users there are in all."""
        return self._counts[0]

    @property
    def posts(self) -> int:
        """How many posts there are in all."""
        return self._counts[1]

    @property
    def last_ranking(self) -> Mapping[str, Any]:
        """How the state was last ranked."""
        return self.record.ranked

    def load(self) -> State:
        """All users; ``OtherFileError`` where a file is not the one that was opened."""
        state = State(self.header)
        for part in self._parts:
            self._fold(part, state)
        state.inputs = self.inputs
        if (len(state), int(state.posts.sum())) != self._counts:
            raise unusable(str(self.path))
        return state

    def users_with(self, added: State) -> int:
        """How many users there are with those of ``added``; reads ids and nothing else."""
        names = added.users.names()
        known = np.zeros(len(names), np.bool_)
        for part in self._parts if len(names) else ():
            with self._refusing(part):
                for table in read_columns(self._file(part), part, ["user"]):
                    held = table["user"].cast(names.type)
                    known |= pc.is_in(names, value_set=held).to_numpy(zero_copy_only=False)
        return self.users + int((~known).sum())

    @contextmanager
    def adding(
        self, added: State, ranked: Mapping[str, Any], whole: State | None = None
    ) -> Iterator[None]:
        """Write the state with ``added``; it takes its place when the block ends without an error.

        ``whole`` is all of it, where that is known. ``remove_unnamed`` must follow.
        """
        left = self._left_alone(added)
        record = StateRecord(self.header, self.inputs | added.inputs, ranked)
        if left:
            users = self.users_with(added) if whole is None else len(whole)
            counts = users, self.posts + int(added.posts.sum())
            record = replace(record, earlier=self._parts[:left], counts=counts)
        with ExitStack() as files:
            if left == len(self._parts):
                aside = earlier_folder(self.path) / self.newest.name
                files.enter_context(second_name(self.path, aside))
            temporary = files.enter_context(whole_file(self.path, private=True))
            write_part(temporary, self._join_parts(left, added, whole), record)
            yield

    def _left_alone(self, added: State) -> int:
        """How many of the parts, from the oldest, are not joined with what is added."""
        if self.path.is_symlink():
            # The file that takes the link's place has no earlier parts beside it.
            return 0
        left, numbers = len(self._parts), max(LEAST, numbers_in(added))
        while left and self._parts[left - 1].numbers <= MUCH * numbers:
            left -= 1
            numbers += self._parts[left].numbers
        return left

    def _join_parts(self, left: int, added: State, whole: State | None) -> State:
        if left == len(self._parts):
            return added
        if whole is not None and not left:
            return whole
        rows = State(self.header)
        for part in self._parts[left:]:
            self._fold(part, rows)
        rows.fold(added)
        return rows

    @property
    def _parts(self) -> tuple[StatePart, ...]:
        return (*self.earlier, self.newest)

    def _file(self, part: StatePart) -> Path:
        return self.path if part is self.newest else earlier_folder(self.path) / part.name

    def _fold(self, part: StatePart, state: State) -> None:
        with self._refusing(part):
            record = fill_from(self._file(part), part, state)
            if record.header != self.header:
                raise unusable(part.name)

    @contextmanager
    def _refusing(self, part: StatePart) -> Iterator[None]:
        """Say of an earlier part that it cannot be used, whatever is the matter with it."""
        try:
            yield
        except InputError as error:
            if part is self.newest:
                raise
            folder = earlier_folder(self.path)
            raise type(error)(
                f"a part of the state {self.path} is missing or damaged: {folder / part.name}; "
                f"copy {folder.name} along with the state, or score again."
            ) from None

    @cached_property
    def _counts(self) -> tuple[int, int]:
        if self.record.counts is not None:
            return self.record.counts
        found = list(read_columns(self.path, self.newest, ["posts"]))
        posts = sum(pc.sum(table["posts"]).as_py() or 0 for table in found)
        return sum(table.num_rows for table in found), posts


def earlier_folder(path: Path) -> Path:
    """Where the earlier parts of the state at ``path`` lie."""
    beside = path.resolve() if path.is_symlink() else path
    return beside.with_name(f"{beside.name}.earlier")


def remove_unnamed(path: Path) -> None:
    """Remove parts that the state does not name; only for who updates it, and does so alone."""
    folder = earlier_folder(path)
    if not folder.is_dir():
        return
    # A state that cannot be read may need any of them.
    with suppress(InputError):
        named = {part.name for part in KeptState.open(path).earlier}
        remove_others(folder, PART_NAME, named)


def remove_erased(path: Path) -> None:
    """As `remove_unnamed`, and raise if one stays: it may hold who was erased."""
    remove_unnamed(path)
    folder = earlier_folder(path)
    if folder.is_dir():
        named = {part.name for part in KeptState.open(path).earlier}
        if left := others_in(folder, PART_NAME, named):
            raise InputError(
                f"{folder} still holds {len(left)} earlier parts of the state, which may hold the "
                "people you erase, and cannot remove them; remove them yourself, and run the "
                "command again."
            )


_TRIES = 5


def save_state(
    path: str | PathLike[str], state: State, ranked: Mapping[str, Any] | None = None
) -> None:
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
    file = Path(path)
    with whole_file(file, private=True) as temporary:
        write_state(temporary, state, ranked)
    remove_unnamed(file)


def write_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Fill a file that ``whole_file`` opened."""
    write_part(path, state, StateRecord(state.header, state.inputs, ranked or {}))


def load_state(path: str | PathLike[str]) -> State:
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
    file = Path(path)
    kept = KeptState.open(file)
    for _ in range(_TRIES):
        try:
            return kept.load()
        except OtherFileError:
            # It may have been replaced meanwhile, and its parts with it.
            before, kept = kept, KeptState.open(file)
            if kept == before:
                raise
    return kept.load()


def load_ranked(path: Path) -> Mapping[str, Any]:
    """How the state at ``path`` was last ranked."""
    return KeptState.open(path).last_ranking


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
    record = StateRecord(state.header, state.inputs, ranked or {})
    return whole.replace_schema_metadata({KEY: record.to_json()})


def from_table(table: pa.Table, where: str = "the table") -> State:
    """The state that ``to_table`` wrote."""
    record = StateRecord.find(table.schema.metadata, where)
    if record.counts is not None:
        raise unusable(where)
    state = State(record.header)
    state.inputs = record.inputs
    fill_tables(state, [table], where)
    return state
