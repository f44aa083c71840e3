"""Notes in a user's folder of state: counts that tell an old copy, and what was moved elsewhere.

What is there and cannot be used is never taken for nothing: an old copy would go on, or a lost file
go unmissed. Only where there is no folder of state, and none can be made, nothing is noted.

A ledger or a party may be in one place only. It moves to another machine in an archive. The machine
that it leaves notes so before anything is packed, and refuses from then on whatever is left there
or put back. So a crash leaves one place that works, or none until the same command is run again,
never two. The counts by which an old copy is noticed travel along. Who unpacks copies of the
archive on two machines has two places, and nobody can notice: they share nothing.
"""

import fcntl
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from sottovoce.errors import InputError
from sottovoce.files import (
    PRIVATE_MODE,
    begins_with,
    cause_of,
    check_folder,
    private_folder,
    state_folder,
    whole_file,
)
from sottovoce.parsing import parse_json
from sottovoce.sqlite import SIGNATURE, connect

ABSENT = (FileNotFoundError, NotADirectoryError)
_DIGITS = 20


def folder_of_notes() -> Path | None:
    """The folder of state; None where it is not there and cannot be made."""
    with suppress(RuntimeError, InputError):
        folder = state_folder()
        with suppress(*ABSENT):
            folder.lstat()
            return folder
        check_folder(folder)
        return folder
    return None


def noted_in(file: Path) -> str:
    """What is noted in ``file``; nothing where there is none."""
    with suppress(*ABSENT):
        return file.read_text(encoding="utf-8")
    return ""


@contextmanager
def refusing(file: Path, refusal: type[InputError]) -> Iterator[None]:
    """Raise ``refusal`` where a note cannot be used, whatever is the matter with it."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = cause_of(cast("Exception", error.__cause__ or error))
        raise refusal(
            f"cannot use {file}, by which a lost file or an old copy is noticed: {why}. Nothing "
            "was released. Make it yours to read and write; remove it only if it cannot be mended: "
            "what it noted then goes unnoticed."
        ) from error


class NotedCount:
    """A count that never falls, in a file of its own; without a place for it there is none."""

    def __init__(self, folder: str, name: str | None, refusal: type[InputError]) -> None:
        state = None if name is None else folder_of_notes()
        self._file = None if name is None or state is None else state / folder / name
        self._refusal = refusal
        self.key = f"{folder}/{name}"

    @property
    def is_kept(self) -> bool:
        """Whether there is a place for it."""
        return self._file is not None

    def read_count(self) -> int:
        """The largest count that was noted, or 0; an error where one cannot be read."""
        if self._file is None:
            return 0
        with refusing(self._file, self._refusal):
            return int(noted_in(self._file) or 0)

    def note(self, count: int) -> None:
        """Note a count; a larger one that was noted before stays."""
        if self._file is None:
            return
        with refusing(self._file, self._refusal):
            private_folder(self._file.parent)
            descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if count > int(os.pread(descriptor, _DIGITS, 0) or 0):
                    os.pwrite(descriptor, f"{count:0{_DIGITS}d}".encode(), 0)
            finally:
                os.close(descriptor)


LEFT_BEHIND = b'moved = "'
"""How the file begins that may be left where something was moved from: TOML, with the day."""
_FACTS = "move.json"
_UNREADABLE = (UnicodeDecodeError, json.JSONDecodeError)


class Move:
    """What is noted on this machine of the moves of a ledger or party, by a name for all copies."""

    def __init__(self, kind: str, name: str | None, refusal: type[InputError]) -> None:
        folder = None if name is None else folder_of_notes()
        self._file = None if folder is None else folder / "moves" / str(name)
        self._kind, self._name, self._refusal = kind, name, refusal

    def refuse_moved(self, *, but_finish: bool = False) -> None:
        """Refuse what was moved from this machine, and what is under way unless to finish it."""
        noted = self._read_notes()
        if noted.get("on") and not (but_finish and noted["to"]):
            rest = f"unless {noted['to']} was carried away, run the command again that makes it"
            raise self._refusal(
                f"this {self._kind} was moved from this machine on {noted['on']}, and works where "
                f"it was unpacked; {rest if noted['to'] else 'whatever is left here is a copy'}."
            )

    def begin(self, archive: Path) -> str:
        """Note that it leaves for ``archive``, and works nowhere till it is unpacked; the day."""
        self.refuse_moved(but_finish=True)
        noted, to = self._read_notes(), str(archive.absolute())
        if archive.exists() and to != noted.get("to"):
            raise InputError(f"{archive} is there already; give another name.")
        number, today = noted.get("number", 0) + ("to" not in noted), str(datetime.now(UTC).date())
        self._note({"number": number, "on": today, "to": to})
        return today

    def pack(self, files: Mapping[str, Path], counts: Mapping[str, int], archive: Path) -> None:
        """Pack ``files`` by their names, then remove them; without the last nothing starts."""
        noted = self._read_notes()
        facts = {"kind": self._kind, "name": self._name, "counts": dict(counts), **noted}
        with whole_file(archive, private=True) as part, zipfile.ZipFile(part, "w") as packed:
            packed.writestr(_FACTS, json.dumps(facts))
            for name, file in files.items():
                packed.writestr(name, _content(file))
        self._note({**noted, "to": ""})
        for file in reversed([*files.values()]):
            # What a database's killed owner left would be taken for part of another.
            for end in ("", "-wal", "-shm"):
                file.with_name(file.name + end).unlink(missing_ok=True)

    def arrive(self, number: int, counts: Mapping[str, int]) -> None:
        """Note that it works here from now on, and how far it has come; refuse an old copy."""
        noted = self._read_notes()
        kept = {key: NotedCount(*key.partition("/")[::2], self._refusal) for key in counts}
        is_behind = any(count.read_count() > counts[key] for key, count in kept.items())
        if is_behind or number < noted.get("number", 0) or noted.get("to"):
            raise self._refusal(
                f"the archive is an old copy: this {self._kind} has gone on from this machine "
                "since, or is just leaving it. Nothing was unpacked."
            )
        for key, count in kept.items():
            count.note(counts[key])
        self._note({"number": number})

    def _read_notes(self) -> dict[str, Any]:
        if self._file is None:
            return {}
        with refusing(self._file, self._refusal):
            return dict(parse_json(noted_in(self._file) or "{}"))

    def _note(self, facts: Mapping[str, object]) -> None:
        if self._file is None:
            raise self._refusal("it cannot be moved: there is no folder of state to note it in.")
        with refusing(self._file, self._refusal):
            private_folder(self._file.parent)
            with whole_file(self._file, private=True) as part:
                part.write_text(json.dumps(facts), encoding="utf-8")


def begins_as_archive(path: Path) -> bool:
    """Whether it is an archive, whole or cut short."""
    return path.is_file() and begins_with(path, b"PK")


def unpack(archive: Path, kind: str, place_of: Callable[[str], Path]) -> None:
    """Unpack what was packed to its places; the archive goes when all of it is there."""
    try:
        with zipfile.ZipFile(archive) as packed:
            facts = parse_json(packed.read(_FACTS))
            files = {name: place_of(name) for name in packed.namelist() if name != _FACTS}
            named = (*files, *facts["counts"], facts["name"])
            odd = any(name[:1] == "/" or ".." in name for name in named)
            compressed = any(each.compress_type for each in packed.infolist())
            if facts["kind"] != kind or odd or compressed or packed.testzip():
                raise KeyError(kind)
            for name, place in files.items():
                taken = place.exists() and not begins_with(place, LEFT_BEHIND)
                if taken and place.read_bytes() != packed.read(name):
                    raise InputError(f"{place} is there already; nothing was unpacked.")
            Move(kind, facts["name"], InputError).arrive(facts["number"], facts["counts"])
            for name, place in files.items():
                private_folder(place.parent)
                with whole_file(place, private=True) as part:
                    part.write_bytes(packed.read(name))
    except (zipfile.BadZipFile, LookupError, TypeError, RuntimeError, *_UNREADABLE) as error:
        raise InputError(f"{archive} is no archive of a {kind}, or it is damaged.") from error
    archive.unlink()


def _content(file: Path) -> bytes:
    if not begins_with(file, SIGNATURE):
        return file.read_bytes()
    try:
        with closing(connect(file)) as connection:
            return connection.serialize()
    except sqlite3.Error as error:
        raise InputError(f"cannot read {file}: {cause_of(error)}.") from error
