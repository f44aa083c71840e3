"""Moving what may be in one place only, a ledger or a party, to another machine: an archive.

The machine that it leaves notes so before anything is packed, and refuses from then on whatever is
left there or put back. So a crash leaves one place that works, or none until the same command is
run again, never two. The counts by which an old copy is noticed travel along. Who unpacks copies of
the archive on two machines has two places, and nobody can notice: they share nothing.
"""

import json
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sottovoce._noted import NotedCount, folder_of_notes, noted_in, refusing
from sottovoce.errors import InputError
from sottovoce.files import begins_with, cause_of, private_folder, whole_file
from sottovoce.json import parse_json
from sottovoce.sqlite import SIGNATURE, connect

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
        noted = self._noted()
        if noted.get("on") and not (but_finish and noted["to"]):
            rest = f"unless {noted['to']} was carried away, run the command again that makes it"
            raise self._refusal(
                f"this {self._kind} was moved from this machine on {noted['on']}, and works where "
                f"it was unpacked; {rest if noted['to'] else 'whatever is left here is a copy'}."
            )

    def begin(self, archive: Path) -> str:
        """Note that it leaves for ``archive``, and works nowhere till it is unpacked; the day."""
        self.refuse_moved(but_finish=True)
        noted, to = self._noted(), str(archive.absolute())
        if archive.exists() and to != noted.get("to"):
            raise InputError(f"{archive} is there already; give another name.")
        number, today = noted.get("number", 0) + ("to" not in noted), str(datetime.now(UTC).date())
        self._note({"number": number, "on": today, "to": to})
        return today

    def pack(self, files: Mapping[str, Path], counts: Mapping[str, int], archive: Path) -> None:
        """Pack ``files`` by their names, then remove them; without the last nothing starts."""
        noted = self._noted()
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
        noted = self._noted()
        split = {key: key.partition("/") for key in counts}
        seen = {key: NotedCount(at[0], at[2], self._refusal) for key, at in split.items()}
        is_old = number < noted.get("number", 0) or any(seen[k].seen() > counts[k] for k in seen)
        if is_old or noted.get("to"):
            raise self._refusal(
                f"the archive is an old copy: this {self._kind} has gone on from this machine "
                "since, or is just leaving it. Nothing was unpacked."
            )
        for key, count in seen.items():
            count.note(counts[key])
        self._note({"number": number})

    def _noted(self) -> dict[str, Any]:
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
