"""Erasing users, or single posts of theirs: from a state, its alerts, and outputs that name them.

Where somebody is erased no dictionary or statistics of a file keeps their name either. What holds
rows is rewritten whole or not at all; what a person must look at, as a page, is said.
"""

import html
import json
import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sottovoce.assess.alerts import CHANGES, MEMBERS, alerts_file, load_members
from sottovoce.assess.ranking import RANKS
from sottovoce.assess.ranks_file import read_ranks_as_text, write_rows
from sottovoce.assess.state.file import KEY
from sottovoce.assess.state.parts import load_ranked, load_state, remove_erased, write_state
from sottovoce.assess.state.state import State
from sottovoce.errors import InputError
from sottovoce.files import begins_with, only_one, others_in, remove_unlocked, whole_file
from sottovoce.topics.training import Checkpoint

_OURS = (RANKS.names, CHANGES.names, MEMBERS.names)


def delete_posts(state_file: Path, user: str, times: Sequence[int]) -> int:
    """Drop a user's posts at ``times`` (microseconds since 1970); how many posts are left.

    Who has no post left is dropped from the alerts too.
    """
    remove_erased(state_file)
    state = load_state(state_file).without_posts(user, times)
    _save(state_file, state, [user] if state.users.row(user) is None else [])
    return int(state.posts.sum())


def erase_users(
    state_file: Path, users: Collection[str], places: Iterable[Path] = ()
) -> tuple[dict[Path, int | None], int]:
    """Drop all that is known of ``users`` from a state, its alerts, and files in ``places``.

    How many users or rows each file lost, None where it is no file of rows and seems to name them;
    and how many users are left in the state. It comes last: what was cut short can be done again.
    """
    members_file = alerts_file(state_file)
    own = {file.resolve() for file in (state_file, members_file)}
    found = {file: _erase_in(file, users) for file in _files_in(places) if file not in own}
    remove_erased(state_file)
    state, alerted = load_state(state_file), load_members(members_file)["user"].to_pylist()
    before = len(state)
    for user in dict.fromkeys(users):
        if state.users.row(user) is not None:
            state = state.drop_user(user)
        elif user not in alerted and not any(found.values()):
            raise InputError("neither this state nor its alerts have this user.")
    _save(state_file, state, users)
    rows = sum(user in users for user in alerted)
    return {state_file: before - len(state), members_file: rows, **found}, len(state)


def _save(state_file: Path, state: State, erased: Collection[str]) -> None:
    """Write state and alerts; both files are finished before the first gets its name.

    The state is one file then, and parts that held the erased are removed.
    """
    members_file = _pointed_to(alerts_file(state_file))
    with ExitStack() as files:
        temporary = files.enter_context(whole_file(_pointed_to(state_file), private=True))
        write_state(temporary, state, load_ranked(state_file))
        if erased and members_file.exists():
            kept = _drop_users(load_members(members_file), erased)
            temporary = files.enter_context(whole_file(members_file, private=True))
            pq.write_table(kept, temporary, compression="zstd")
    remove_erased(state_file)


def _pointed_to(path: Path) -> Path:
    return path.resolve() if path.is_symlink() else path


def _drop_users(rows: pa.Table, users: Collection[str]) -> pa.Table:
    """The other users' rows; a dictionary of users would keep whom it lost."""
    names = rows["user"].cast(pa.string())
    rows = rows.set_column(rows.schema.get_field_index("user"), "user", names)
    return rows.filter(pc.invert(pc.is_in(names, value_set=pa.array(users, pa.string()))))


_COMPRESSED = (b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf")


def _files_in(places: Iterable[Path]) -> list[Path]:
    """All files but parts of states, and compressed ones, which cannot be searched.

    What a killed command left unfinished is removed.
    """
    found = []
    for place in places:
        if not place.exists():
            raise InputError(f"there is no file or folder {place}; nothing was erased.")
        inside = [place, *sorted(place.rglob("*"))]
        for folder in filter(Path.is_dir, inside):
            for left in others_in(folder, re.compile(r"(?!)"), ()):
                with suppress(OSError):
                    remove_unlocked(left)
        found += [file.resolve() for file in inside if file.parent.suffix != ".earlier"]
    return [
        file
        for file in found
        if file.is_file() and not any(begins_with(file, each) for each in _COMPRESSED)
    ]


def _erase_in(file: Path, users: Collection[str]) -> int | None:
    with suppress(InputError, pa.ArrowException, TypeError):
        is_parquet = begins_with(file, b"PAR1")
        if is_parquet and KEY in (pq.read_schema(file).metadata or {}):
            return _erase_in_state(file, users)
        rows = pq.ParquetFile(file).read() if is_parquet else read_ranks_as_text(file)
        if rows.column_names in _OURS:
            kept = _drop_users(rows, users)
            if kept.num_rows < rows.num_rows:
                with whole_file(file, private=True) as part:
                    shutil.copymode(file, part)
                    write_rows(part, kept, ".parquet" if is_parquet else file.suffix)
                # What Hadoop would check the file by that was.
                file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
            return int(rows.num_rows - kept.num_rows)
        if is_parquet:
            chunks = (chunk.to_pylist() for column in rows.columns for chunk in column.chunks)
            texts = ("\n".join(map(str, chunk)).encode() for chunk in chunks)
            return None if any(_names(text, users) for text in texts) else 0
    return None if _names(file.read_bytes(), users) else 0


def _erase_in_state(file: Path, users: Collection[str]) -> int:
    """Erase from another state; a checkpoint that holds them is removed."""
    state = load_state(file)
    held = [user for user in set(users) if state.users.row(user) is not None]
    if held and (file.parent / "checkpoint.json").exists():
        Checkpoint(file.parent).clear()
    elif held:
        with only_one(file):
            erase_users(file, held)
    return len(held)


def _names(content: bytes, users: Collection[str]) -> bool:
    """Whether one of these names is in it, as a word of its own, in any way that it is written."""
    ways = (
        str,
        html.escape,
        # As our pages write it.
        lambda user: html.escape(user).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
        lambda user: json.dumps(user)[1:-1],
        lambda user: user.replace('"', '""'),
    )
    coded = (("utf-8", "strict"), ("utf-16-le", "strict"), ("cp1252", "xmlcharrefreplace"))
    found = {way(user).encode(*code) for user in users for way in ways for code in coded}
    either = b"|".join(map(re.escape, found))
    return re.search(rb"(?<!\w)(?:" + either + rb")(?!\w)", content) is not None
