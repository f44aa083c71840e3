"""What a party has agreed to, heard, said and found, so that it goes on after a crash.

A frame is journalled before it is acknowledged. What a party says is journalled together with what
it has heard, in one transaction, before any of it is sent. Terms, seeds, bodies and results are
sealed by AES-256-GCM, each for its own place; kinds, sizes, times and names are not. When a run has
ended and everything it said was acknowledged, its seed and all bodies are wiped. Keys of runs serve
one run and one purpose each; of a key no longer used, the fingerprint is left.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from sottovoce.errors import JournalError
from sottovoce.federation._keys import JournalSeal
from sottovoce.federation.transport.frames import Kind, OutgoingFrame
from sottovoce.parsing import parse_json
from sottovoce.sqlite import DURABLE, StoreFile, StoreKind

Way: TypeAlias = Literal["in", "out"]
_Place: TypeAlias = tuple[bytes, str, str, int]
_WAITING, _ACKNOWLEDGED, _GIVEN_UP = 0, 1, -1
_TABLES = """
CREATE TABLE run (
    session BLOB PRIMARY KEY, participants TEXT NOT NULL, status TEXT NOT NULL,
    begun REAL NOT NULL, terms BLOB, seed BLOB, result BLOB, ended TEXT NOT NULL DEFAULT '{}',
    followed_by BLOB
) STRICT;
CREATE TABLE event (
    session BLOB NOT NULL REFERENCES run (session), position INTEGER NOT NULL, what TEXT NOT NULL,
    sender TEXT NOT NULL, sequence INTEGER NOT NULL, said TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (session, position)
) STRICT;
CREATE TABLE frame (
    session BLOB NOT NULL REFERENCES run (session), way TEXT NOT NULL, other TEXT NOT NULL,
    sequence INTEGER NOT NULL, state ANY NOT NULL, kind TEXT NOT NULL, time REAL NOT NULL,
    size INTEGER NOT NULL, shown TEXT NOT NULL, body BLOB,
    PRIMARY KEY (session, way, other, sequence)
) STRICT;
CREATE TABLE run_key (
    session BLOB NOT NULL, purpose TEXT NOT NULL, fingerprint TEXT NOT NULL UNIQUE, body BLOB,
    PRIMARY KEY (session, purpose)
) STRICT;
CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
"""
JOURNAL = StoreKind(
    name="journal",
    application=0x53764A6F,
    version=2,
    tables=_TABLES,
    error=JournalError,
    # One process owns a journal; a second one would answer for the same party.
    pragmas=("locking_mode = EXCLUSIVE", *DURABLE),
    busy="another process has it open, so this party runs already",
)


class KeptKey(NamedTuple):
    """One key: of which run and purpose, its fingerprint, and whether it can be used."""

    session: bytes
    purpose: str
    fingerprint: str
    usable: bool


class Event(NamedTuple):
    """One step that the party took: what moved it, whom it then told what; first, of which data."""

    position: int
    what: str
    sender: str
    sequence: int
    said: tuple[str, ...]
    data: bytes = b""


@dataclass(frozen=True)
class JournalRun:
    """A run as the journal has it."""

    session: bytes
    participants: tuple[str, ...]
    status: str
    terms: bytes = field(repr=False)
    seed: bytes = field(repr=False)
    ended: dict[str, Any]
    followed_by: bytes | None
    begun: float


class Journal:
    """One party's journal; whoever holds it makes its calls one at a time."""

    def __init__(
        self,
        path: Path | None,
        key: bytes,
        *,
        wall: Callable[[], float] = time.time,
        counted: Callable[[int], None] | None = None,
    ) -> None:
        self._file, self._seal, self._wall = StoreFile(JOURNAL, path), JournalSeal(key), wall
        self._counted = counted
        self._count = self._count_rows()

    def close(self) -> None:
        """Let another process have it."""
        self._file.close()

    @property
    def count(self) -> int:
        """How often it was added to; a copy of earlier has a smaller one."""
        return self._count

    def fact(self, name: str) -> int:
        """A number that was noted, or 0."""
        row = self._file.row("SELECT value FROM fact WHERE name = ?", (name,))
        return 0 if row is None else int(row[0])

    def note_fact(self, name: str, value: int) -> None:
        """Note a number; ``added`` is counted as if so much more had been added to the journal."""
        self._execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", name, value)
        self._count = self._count_rows()

    def add_run(
        self,
        session: bytes,
        terms: bytes,
        participants: Iterable[str],
        seed: bytes,
        *,
        outputs: Iterable[OutgoingFrame] = (),
        proposal: tuple[str, int, int] | None = None,
    ) -> None:
        """Begin a run: the coordinator's with its proposals, another's with the one it took."""
        names = json.dumps(list(participants))
        given = (("terms", terms), ("seed", seed))
        sealed = [self._seal.seal(content, what, session) for what, content in given]
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO run (session, participants, status, begun, terms, seed)"
                " VALUES (?, ?, 'running', ?, ?, ?)",
                (session, names, self._wall(), *sealed),
            )
            self._write(db, session, outputs)
            if proposal is not None:
                sender, sequence, size = proposal
                self._add_frame(db, (session, "in", sender, sequence), ("taken", "propose", size))
        self._count_more(1 if proposal is None else 2)

    def run(self, session: bytes) -> JournalRun | None:
        """The run of that name."""
        return next((run for run in self.runs() if run.session == session), None)

    def runs(self) -> list[JournalRun]:
        """All runs, oldest first."""
        rows = self._file.rows(
            "SELECT session, participants, status, terms, seed, ended, followed_by, begun"
            " FROM run ORDER BY begun, rowid"
        )
        return [
            JournalRun(
                session,
                tuple(parse_json(names)),
                status,
                self._seal.open(terms, "terms", session),
                b"" if seed is None else self._seal.open(seed, "seed", session),
                parse_json(ended),
                following,
                begun,
            )
            for session, names, status, terms, seed, ended, following, begun in rows
        ]

    def result(self, session: bytes) -> bytes | None:
        """What a finished run has found."""
        row = self._file.row("SELECT result FROM run WHERE session = ?", (session,))
        if row is None or row[0] is None:
            return None
        return self._seal.open(row[0], "result", session)

    def abort(
        self, session: bytes, ended: Mapping[str, Any], outputs: Iterable[OutgoingFrame]
    ) -> None:
        """End a run with an error; what was not yet sent is never sent."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE run SET status = 'aborted', ended = ? WHERE session = ?",
                (json.dumps(dict(ended)), session),
            )
            db.execute(
                "UPDATE frame SET state = ?, body = NULL WHERE session = ? AND state = ?",
                (_GIVEN_UP, session, _WAITING),
            )
            self._write(db, session, outputs)
            _wipe(db, session)
        self._count_more()

    def follow(self, session: bytes, following: bytes) -> None:
        """Note which run took up where this one ended."""
        self._execute("UPDATE run SET followed_by = ? WHERE session = ?", following, session)

    def advance(
        self,
        session: bytes,
        event: Event,
        outputs: Iterable[OutgoingFrame],
        *,
        shown: Mapping[str, Any] | None = None,
        result: bytes | None = None,
    ) -> None:
        """One step of the party: its input, everything it said, and its result, or nothing."""
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)",
                (session, *event[:4], json.dumps(event.said), event.data),
            )
            if event.what == "receive":
                place = (session, "in", event.sender, event.sequence)
                _change_frame(db, place, "taken", shown=shown or {}, keep=True)
            self._write(db, session, outputs)
            if result is not None:
                sealed = self._seal.seal(result, "result", session)
                db.execute(
                    "UPDATE run SET status = 'finished', result = ? WHERE session = ?",
                    (sealed, session),
                )
                _wipe(db, session)
        self._count_more(1 if result is None else 2)

    def events(self, session: bytes) -> list[Event]:
        """All steps in their order."""
        rows = self._file.rows(
            "SELECT position, what, sender, sequence, said, data FROM event"
            " WHERE session = ? ORDER BY position",
            (session,),
        )
        return [Event(a, b, c, d, tuple(parse_json(said)), data) for a, b, c, d, said, data in rows]

    def hold(self, session: bytes, sender: str, sequence: int, frame: Kind, body: bytes) -> None:
        """Keep a frame, so that it can be acknowledged."""
        with self._file.transaction() as db:
            place = (session, "in", sender, sequence)
            self._add_frame(db, place, ("held", frame, len(body)), body=body)
        self._count_more()

    def drop(self, session: bytes, sender: str, sequence: int, shown: Mapping[str, Any]) -> None:
        """A held frame that the party will never take."""
        with self._file.transaction() as db:
            _change_frame(db, (session, "in", sender, sequence), "dropped", shown=shown)

    def list_frames(self, session: bytes, state: Literal["held", "unsent"]) -> list[Any]:
        """What the party has yet to take, or others to acknowledge, each by whom and its place."""
        return self._file.rows(
            "SELECT other, sequence FROM frame WHERE session = ? AND state = ? ORDER BY rowid",
            (session, state if state == "held" else _WAITING),
        )

    def read_frame(self, session: bytes, way: Way, other: str, sequence: int) -> tuple[Kind, bytes]:
        """A frame that came, or is to be sent: what it is, and its body."""
        kind, body = self._file.row(
            "SELECT kind, body FROM frame"
            " WHERE session = ? AND way = ? AND other = ? AND sequence = ?",
            (session, way, other, sequence),
        )
        return kind, self._seal.open(body, way, session, other, sequence)

    def last_places(self, session: bytes, way: Way) -> dict[str, int]:
        """The last place that came from each sender, or was given to each receiver."""
        rows = self._file.rows(
            "SELECT other, MAX(sequence) FROM frame WHERE session = ? AND way = ? GROUP BY other",
            (session, way),
        )
        return dict(rows)

    def write(self, session: bytes, outputs: Iterable[OutgoingFrame]) -> None:
        """Keep frames that are not the party's own words."""
        with self._file.transaction() as db:
            self._write(db, session, outputs)

    def acknowledge(
        self, session: bytes, receiver: str, sequence: int, *, given_up: bool = False
    ) -> None:
        """A frame has arrived, or never will; after a run's last one, its secrets go."""
        with self._file.transaction() as db:
            state = _GIVEN_UP if given_up else _ACKNOWLEDGED
            _change_frame(db, (session, "out", receiver, sequence), state)
            status = db.execute("SELECT status FROM run WHERE session = ?", (session,)).fetchone()
            if status[0] != "running":
                _wipe(db, session)

    def transcript(self, session: bytes, own: str) -> list[dict[str, Any]]:
        """Every frame of a run without its values, in the order of time."""
        names = ("sender", "receiver", "sequence", "state", "frame", "time", "bytes")
        rows = self._file.rows(
            "SELECT CASE way WHEN 'in' THEN other ELSE ?2 END,"
            " CASE way WHEN 'in' THEN ?2 ELSE other END,"
            " sequence, state, kind, time, size, shown FROM frame"
            " WHERE session = ?1 ORDER BY time, way, other, sequence",
            (session, own),
        )
        return [dict(zip(names, row[:7], strict=True)) | parse_json(row[7]) for row in rows]

    def run_keys(self) -> list[KeptKey]:
        """All keys, the oldest first."""
        rows = self._file.rows(
            "SELECT session, purpose, fingerprint, body IS NOT NULL FROM run_key ORDER BY rowid"
        )
        return [KeptKey(run, what, name, bool(body)) for run, what, name, body in rows]

    def key(self, session: bytes, purpose: str) -> bytes | None:
        """The key of a run for a purpose."""
        row = self._file.row(
            "SELECT body FROM run_key WHERE session = ? AND purpose = ? AND body IS NOT NULL",
            (session, purpose),
        )
        return None if row is None else self._seal.open(row[0], "key", session, purpose)

    def keep_key(self, session: bytes, purpose: str, fingerprint: str, body: bytes) -> None:
        """Keep a new key; one that was used before is refused."""
        sealed = self._seal.seal(body, "key", session, purpose)
        row = (session, purpose, fingerprint, sealed)
        self._execute("INSERT INTO run_key VALUES (?, ?, ?, ?)", *row)

    def forget_key(self, session: bytes, purpose: str) -> None:
        """Wipe a key, so that nothing can be opened with it any more."""
        statement = "UPDATE run_key SET body = NULL WHERE session = ? AND purpose = ?"
        self._execute(statement, session, purpose)

    def _execute(self, statement: str, *values: bytes | str | int) -> None:
        with self._file.transaction() as db:
            db.execute(statement, values)

    def _count_rows(self) -> int:
        row = self._file.row(
            "SELECT (SELECT COUNT(*) FROM run) + (SELECT COUNT(*) FROM event)"
            " + (SELECT COUNT(*) FROM run WHERE status != 'running')"
            " + (SELECT COUNT(*) FROM frame WHERE way = 'in')"
        )
        return int(row[0]) + self.fact("added")

    def _count_more(self, steps: int = 1) -> None:
        self._count += steps
        if self._counted is not None:
            self._counted(self._count)

    def _write(
        self, db: sqlite3.Connection, session: bytes, outputs: Iterable[OutgoingFrame]
    ) -> None:
        for receiver, sequence, kind, shown, body in outputs:
            place = (session, "out", receiver, sequence)
            self._add_frame(db, place, (_WAITING, kind, len(body)), shown=shown, body=body)

    def _add_frame(
        self,
        db: sqlite3.Connection,
        place: _Place,
        what: tuple[str | int, Kind, int],
        *,
        shown: Mapping[str, Any] | None = None,
        body: bytes | None = None,
    ) -> None:
        session, way, other, sequence = place
        state, kind, size = what
        sealed = None if body is None else self._seal.seal(body, way, session, other, sequence)
        note = json.dumps(dict(shown or {}))
        row = (*place, state, kind, self._wall(), size, note, sealed)
        db.execute("INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _change_frame(
    db: sqlite3.Connection,
    place: _Place,
    state: str | int,
    *,
    shown: Mapping[str, Any] | None = None,
    keep: bool = False,
) -> None:
    note = None if shown is None else json.dumps(dict(shown))
    db.execute(
        "UPDATE frame SET state = ?, shown = coalesce(?, shown), body = iif(?, body, NULL)"
        " WHERE session = ? AND way = ? AND other = ? AND sequence = ?",
        (state, note, keep, *place),
    )


def _wipe(db: sqlite3.Connection, session: bytes) -> None:
    """Forget the seed and all bodies, unless something was not acknowledged yet."""
    waits = "SELECT 1 FROM frame WHERE session = ? AND state = ?"
    if db.execute(waits, (session, _WAITING)).fetchone() is None:
        db.execute("UPDATE run SET seed = NULL WHERE session = ?", (session,))
        db.execute("UPDATE frame SET body = NULL WHERE session = ? AND way = 'in'", (session,))
