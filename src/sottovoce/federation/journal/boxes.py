"""The frames of a journal: those that came, and those that go."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sottovoce.federation.journal.file import transaction
from sottovoce.federation.journal.rows import Written
from sottovoce.federation.journal.seal import JournalSeal
from sottovoce.federation.transport.frames import Kind


class Boxes:
    """An inbox and an outbox for each run; bodies are sealed, each for its own place."""

    def __init__(
        self, connection: sqlite3.Connection, seal: JournalSeal, wall: Callable[[], float]
    ) -> None:
        self._connection, self._seal, self._wall = connection, seal, wall

    def hold(self, session: bytes, sender: str, sequence: int, frame: Kind, body: bytes) -> None:
        """Keep a frame, so that it can be acknowledged."""
        sealed = self._seal.sealed(body, "in", session, sender, sequence)
        with transaction(self._connection) as db:
            self._note(db, (session, sender, sequence, "held", frame, len(body)), sealed)

    def drop(self, session: bytes, sender: str, sequence: int, shown: Mapping[str, Any]) -> None:
        """A held frame that the party will never take."""
        with transaction(self._connection) as db:
            db.execute(
                "UPDATE inbox SET state = 'dropped', body = NULL, shown = ?"
                " WHERE session = ? AND sender = ? AND sequence = ?",
                (json.dumps(dict(shown)), session, sender, sequence),
            )

    def held(self, session: bytes) -> list[tuple[str, int]]:
        """The frames that the party has yet to take, in the order of arrival."""
        rows = self._connection.execute(
            "SELECT sender, sequence FROM inbox"
            " WHERE session = ? AND state = 'held' ORDER BY rowid",
            (session,),
        )
        return [(sender, sequence) for sender, sequence in rows]

    def body_in(self, session: bytes, sender: str, sequence: int) -> bytes:
        """The body of a frame that came."""
        row = self._connection.execute(
            "SELECT body FROM inbox WHERE session = ? AND sender = ? AND sequence = ?",
            (session, sender, sequence),
        ).fetchone()
        return self._seal.opened(row[0], "in", session, sender, sequence)

    def last_in(self, session: bytes) -> dict[str, int]:
        """The last place that came from each sender."""
        rows = self._connection.execute(
            "SELECT sender, MAX(sequence) FROM inbox WHERE session = ? GROUP BY sender", (session,)
        )
        return {str(sender): int(sequence) for sender, sequence in rows}

    def write(self, session: bytes, outputs: Iterable[Written]) -> None:
        """Keep frames that are not the party's own words."""
        with transaction(self._connection) as db:
            self._write(db, session, outputs)

    def unsent(self, session: bytes) -> list[tuple[str, int]]:
        """What was not acknowledged yet, in the order of saying."""
        rows = self._connection.execute(
            "SELECT receiver, sequence FROM outbox"
            " WHERE session = ? AND acknowledged = 0 ORDER BY rowid",
            (session,),
        )
        return [(receiver, sequence) for receiver, sequence in rows]

    def last_out(self, session: bytes) -> dict[str, int]:
        """The last place that was given to each receiver."""
        rows = self._connection.execute(
            "SELECT receiver, MAX(sequence) FROM outbox WHERE session = ? GROUP BY receiver",
            (session,),
        )
        return {str(receiver): int(sequence) for receiver, sequence in rows}

    def body_out(self, session: bytes, receiver: str, sequence: int) -> tuple[Kind, bytes]:
        """A frame to send: what it is, and its body."""
        row = self._connection.execute(
            "SELECT frame, body FROM outbox WHERE session = ? AND receiver = ? AND sequence = ?",
            (session, receiver, sequence),
        ).fetchone()
        return row[0], self._seal.opened(row[1], "out", session, receiver, sequence)

    def acknowledge(
        self, session: bytes, receiver: str, sequence: int, *, given_up: bool = False
    ) -> None:
        """A frame has arrived, or never will; after a run's last one, its secrets go."""
        with transaction(self._connection) as db:
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
        rows = self._connection.execute(
            "SELECT sender, ?2, sequence, state, frame, time, size, shown FROM inbox"
            " WHERE session = ?1 UNION ALL"
            " SELECT ?2, receiver, sequence, acknowledged, frame, time, size, shown FROM outbox"
            " WHERE session = ?1 ORDER BY 6",
            (session, own),
        )
        names = ("sender", "receiver", "sequence", "state", "frame", "time", "bytes")
        return [
            dict(zip(names, row[:7], strict=True)) | (json.loads(row[7]) if row[7] else {})
            for row in rows
        ]

    def _write(self, db: sqlite3.Connection, session: bytes, outputs: Iterable[Written]) -> None:
        for receiver, sequence, frame, shown, body in outputs:
            sealed = self._seal.sealed(body, "out", session, receiver, sequence)
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
