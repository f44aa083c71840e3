"""What a party has agreed to, heard, said and found, so that it goes on after a crash.

A frame is journalled before it is acknowledged. What a party says is journalled together with what
it has heard, in one transaction, before any of it is sent. Terms, seeds, bodies and results are
sealed; kinds, sizes and times are not, nor are names. When a run has ended and everything it said
was acknowledged, its seed and all bodies are wiped.

`Journal` keeps runs and their steps; frames that came or go and keys of runs are its bases' part.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sottovoce.federation._journal.file import (
    JOURNAL,
    Event,
    JournalKeys,
    JournalRun,
    JournalSeal,
    OutgoingFrame,
)
from sottovoce.federation.transport.frames import Kind
from sottovoce.parsing import parse_json
from sottovoce.sqlite import StoreFile

_DATA = "data "


class JournalFrames:
    """The inbox and the outbox of each run; bodies are sealed, each for its own place."""

    def __init__(self, file: StoreFile, seal: JournalSeal, wall: Callable[[], float]) -> None:
        self._file, self._seal, self._wall = file, seal, wall

    def hold(self, session: bytes, sender: str, sequence: int, frame: Kind, body: bytes) -> None:
        """Keep a frame, so that it can be acknowledged."""
        sealed = self._seal.seal(body, "in", session, sender, sequence)
        with self._file.transaction() as db:
            self._note(db, (session, sender, sequence, "held", frame, len(body)), sealed)
        self._count_moves()

    def drop(self, session: bytes, sender: str, sequence: int, shown: Mapping[str, Any]) -> None:
        """A held frame that the party will never take."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE inbox SET state = 'dropped', body = NULL, shown = ?"
                " WHERE session = ? AND sender = ? AND sequence = ?",
                (json.dumps(dict(shown)), session, sender, sequence),
            )

    def list_held(self, session: bytes) -> list[tuple[str, int]]:
        """The frames that the party has yet to take, in the order of arrival."""
        rows = self._file.rows(
            "SELECT sender, sequence FROM inbox"
            " WHERE session = ? AND state = 'held' ORDER BY rowid",
            (session,),
        )
        return [(sender, sequence) for sender, sequence in rows]

    def body_in(self, session: bytes, sender: str, sequence: int) -> bytes:
        """The body of a frame that came."""
        row = self._file.row(
            "SELECT body FROM inbox WHERE session = ? AND sender = ? AND sequence = ?",
            (session, sender, sequence),
        )
        return self._seal.open(row[0], "in", session, sender, sequence)

    def last_in(self, session: bytes) -> dict[str, int]:
        """The last place that came from each sender."""
        rows = self._file.rows(
            "SELECT sender, MAX(sequence) FROM inbox WHERE session = ? GROUP BY sender",
            (session,),
        )
        return {str(sender): int(sequence) for sender, sequence in rows}

    def write(self, session: bytes, outputs: Iterable[OutgoingFrame]) -> None:
        """Keep frames that are not the party's own words."""
        with self._file.transaction() as db:
            self._write(db, session, outputs)

    def unsent(self, session: bytes) -> list[tuple[str, int]]:
        """What was not acknowledged yet, in the order of saying."""
        rows = self._file.rows(
            "SELECT receiver, sequence FROM outbox"
            " WHERE session = ? AND acknowledged = 0 ORDER BY rowid",
            (session,),
        )
        return [(receiver, sequence) for receiver, sequence in rows]

    def last_out(self, session: bytes) -> dict[str, int]:
        """The last place that was given to each receiver."""
        rows = self._file.rows(
            "SELECT receiver, MAX(sequence) FROM outbox WHERE session = ? GROUP BY receiver",
            (session,),
        )
        return {str(receiver): int(sequence) for receiver, sequence in rows}

    def body_out(self, session: bytes, receiver: str, sequence: int) -> tuple[Kind, bytes]:
        """A frame to send: what it is, and its body."""
        row = self._file.row(
            "SELECT frame, body FROM outbox WHERE session = ? AND receiver = ? AND sequence = ?",
            (session, receiver, sequence),
        )
        return row[0], self._seal.open(row[1], "out", session, receiver, sequence)

    def acknowledge(
        self, session: bytes, receiver: str, sequence: int, *, given_up: bool = False
    ) -> None:
        """A frame has arrived, or never will; after a run's last one, its secrets go."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE outbox SET acknowledged = ?, body = NULL"
                " WHERE session = ? AND receiver = ? AND sequence = ?",
                (-1 if given_up else 1, session, receiver, sequence),
            )
            status = db.execute("SELECT status FROM run WHERE session = ?", (session,)).fetchone()
            if status[0] != "running":
                self._wipe(db, session)

    def transcript(self, session: bytes, own: str) -> list[dict[str, Any]]:
        """Every frame of a run without its values, in the order of time."""
        rows = self._file.rows(
            "SELECT sender, ?2, sequence, state, frame, time, size, shown FROM inbox"
            " WHERE session = ?1 UNION ALL"
            " SELECT ?2, receiver, sequence, acknowledged, frame, time, size, shown FROM outbox"
            " WHERE session = ?1 ORDER BY 6",
            (session, own),
        )
        names = ("sender", "receiver", "sequence", "state", "frame", "time", "bytes")
        return [
            dict(zip(names, row[:7], strict=True)) | (parse_json(row[7]) if row[7] else {})
            for row in rows
        ]

    def _count_moves(self, steps: int = 1) -> None:
        """Count what was added: `Journal` does."""

    def _write(
        self, db: sqlite3.Connection, session: bytes, outputs: Iterable[OutgoingFrame]
    ) -> None:
        for receiver, sequence, frame, shown, body in outputs:
            sealed = self._seal.seal(body, "out", session, receiver, sequence)
            db.execute(
                "INSERT INTO outbox (session, receiver, sequence, frame, time, size, shown, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    session,
                    receiver,
                    sequence,
                    frame,
                    self._wall(),
                    len(body),
                    json.dumps(dict(shown)),
                    sealed,
                ),
            )

    def _note(
        self,
        db: sqlite3.Connection,
        row: tuple[bytes, str, int, str, str, int],
        sealed: bytes | None,
    ) -> None:
        session, sender, sequence, state, frame, size = row
        db.execute(
            "INSERT INTO inbox (session, sender, sequence, state, frame, time, size, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (session, sender, sequence, state, frame, self._wall(), size, sealed),
        )

    def _wipe(self, db: sqlite3.Connection, session: bytes) -> None:
        left = db.execute(
            "SELECT COUNT(*) FROM outbox WHERE session = ? AND acknowledged = 0", (session,)
        ).fetchone()
        if left[0] == 0:
            db.execute("UPDATE run SET seed = NULL WHERE session = ?", (session,))
            db.execute("UPDATE inbox SET body = NULL WHERE session = ?", (session,))


class Journal(JournalFrames, JournalKeys):
    """One party's journal; whoever holds it makes its calls one at a time."""

    def __init__(
        self,
        path: Path | None,
        key: bytes,
        *,
        wall: Callable[[], float] | None = None,
        counted: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(StoreFile(JOURNAL, path), JournalSeal(key), wall or time.time)
        self._counted = counted
        self._count = self._moves()

    @property
    def count(self) -> int:
        """How often it was added to: runs, their steps and ends, and frames that came.

        A copy of earlier has a smaller one.
        """
        return self._count

    def fact(self, name: str) -> int:
        """A number that was noted, or 0."""
        row = self._file.row("SELECT value FROM fact WHERE name = ?", (name,))
        return 0 if row is None else int(row[0])

    def note_fact(self, name: str, value: int) -> None:
        """Note a number; ``added`` is counted as if so much more had been added to the journal."""
        with self._file.transaction() as db:
            db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))
        self._count = self._moves()

    def _moves(self) -> int:
        row = self._file.row(
            "SELECT (SELECT COUNT(*) FROM run) + (SELECT COUNT(*) FROM event)"
            " + (SELECT COUNT(*) FROM run WHERE status != 'running')"
            " + (SELECT COUNT(*) FROM inbox)",
        )
        return int(row[0]) + self.fact("added")

    def _count_moves(self, steps: int = 1) -> None:
        self._count += steps
        if self._counted is not None:
            self._counted(self._count)

    def close(self) -> None:
        """Let another process have it."""
        self._file.close()

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
        sealed_terms = self._seal.seal(terms, "terms", session)
        sealed_seed = self._seal.seal(seed, "seed", session)
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO run (session, participants, status, begun, terms, seed)"
                " VALUES (?, ?, 'running', ?, ?, ?)",
                (session, names, self._wall(), sealed_terms, sealed_seed),
            )
            self._write(db, session, outputs)
            if proposal is not None:
                sender, sequence, size = proposal
                self._note(db, (session, sender, sequence, "taken", "propose", size), None)
        self._count_moves(1 if proposal is None else 2)

    def run(self, session: bytes) -> JournalRun | None:
        """The run of that name."""
        row = self._file.row(
            "SELECT session, participants, status, terms, seed, ended, followed_by, begun"
            " FROM run WHERE session = ?",
            (session,),
        )
        return None if row is None else self._read_run(row)

    def sessions(self) -> list[bytes]:
        """All runs, the oldest first."""
        rows = self._file.rows("SELECT session FROM run ORDER BY begun, rowid")
        return [row[0] for row in rows]

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
                "UPDATE outbox SET acknowledged = -1, body = NULL"
                " WHERE session = ? AND acknowledged = 0",
                (session,),
            )
            self._write(db, session, outputs)
            self._wipe(db, session)
        self._count_moves()

    def follow(self, session: bytes, following: bytes) -> None:
        """Note which run took up where this one ended."""
        with self._file.transaction() as db:
            db.execute("UPDATE run SET followed_by = ? WHERE session = ?", (following, session))

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
                "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
                (session, *event[:4], json.dumps([*_data_said(event.data), *event.said])),
            )
            if event.what == "receive":
                db.execute(
                    "UPDATE inbox SET state = 'taken', shown = ?"
                    " WHERE session = ? AND sender = ? AND sequence = ?",
                    (json.dumps(dict(shown or {})), session, event.sender, event.sequence),
                )
            self._write(db, session, outputs)
            if result is not None:
                sealed = self._seal.seal(result, "result", session)
                db.execute(
                    "UPDATE run SET status = 'finished', result = ? WHERE session = ?",
                    (sealed, session),
                )
                self._wipe(db, session)
        self._count_moves(1 if result is None else 2)

    def events(self, session: bytes) -> list[Event]:
        """All steps in their order."""
        rows = self._file.rows(
            "SELECT position, what, sender, sequence, said FROM event"
            " WHERE session = ? ORDER BY position",
            (session,),
        )
        return [Event(a, b, c, d, *_said_and_data(said)) for a, b, c, d, said in rows]

    def _read_run(self, row: tuple[Any, ...]) -> JournalRun:
        session, names, status, terms, seed, ended, following, begun = row
        return JournalRun(
            session,
            tuple(parse_json(names)),
            status,
            self._seal.open(terms, "terms", session),
            b"" if seed is None else self._seal.open(seed, "seed", session),
            parse_json(ended) if ended else {},
            following,
            begun,
        )


def _data_said(data: bytes) -> tuple[str, ...]:
    """The digest of a first step's data as it stands before what was said."""
    return (_DATA + data.hex(),) if data else ()


def _said_and_data(written: str) -> tuple[tuple[str, ...], bytes]:
    said = tuple(parse_json(written))
    if not said or not said[0].startswith(_DATA):
        return said, b""
    return said[1:], bytes.fromhex(said[0].removeprefix(_DATA))
