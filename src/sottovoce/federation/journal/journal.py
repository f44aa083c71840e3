"""What a party has agreed to, heard, said and found, so that it goes on after a crash.

A frame is journalled before it is acknowledged. What a party says is journalled together with what
it has heard, in one transaction, before any of it is sent. Terms, seeds, bodies and results are
sealed; kinds, sizes and times are not, nor are names. When a run has ended and everything it said
was acknowledged, its seed and all bodies are wiped.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sottovoce.federation.journal.boxes import Boxes
from sottovoce.federation.journal.file import opened, transaction
from sottovoce.federation.journal.rows import Event, Kept, Written
from sottovoce.federation.journal.seal import JournalSeal

__all__ = ["Event", "Journal", "Kept", "Written"]


class Journal(Boxes):
    """One party's journal; whoever holds it makes its calls one at a time."""

    def __init__(
        self, path: Path | None, key: bytes, *, wall: Callable[[], float] | None = None
    ) -> None:
        super().__init__(opened(path), JournalSeal(key), wall or time.time)

    def close(self) -> None:
        """Let another process have it."""
        self._connection.close()

    def add_run(
        self,
        session: bytes,
        terms: bytes,
        participants: Iterable[str],
        seed: bytes,
        *,
        outputs: Iterable[Written] = (),
        proposal: tuple[str, int, int] | None = None,
    ) -> None:
        """Begin a run: the coordinator's with its proposals, another's with the one it took."""
        names = json.dumps(list(participants))
        sealed_terms = self._seal.sealed(terms, "terms", session)
        sealed_seed = self._seal.sealed(seed, "seed", session)
        with transaction(self._connection) as db:
            db.execute(
                "INSERT INTO run (session, participants, status, begun, terms, seed)"
                " VALUES (?, ?, 'running', ?, ?, ?)",
                (session, names, self._wall(), sealed_terms, sealed_seed),
            )
            self._write(db, session, outputs)
            if proposal is not None:
                sender, sequence, size = proposal
                self._note(db, (session, sender, sequence, "taken", "propose", size), None)

    def run(self, session: bytes) -> Kept | None:
        """The run of that name."""
        row = self._connection.execute(
            "SELECT session, participants, status, terms, seed, ended, followed_by, begun"
            " FROM run WHERE session = ?",
            (session,),
        ).fetchone()
        return None if row is None else self._kept(row)

    def sessions(self) -> list[bytes]:
        """All runs, the oldest first."""
        rows = self._connection.execute("SELECT session FROM run ORDER BY begun, rowid")
        return [row[0] for row in rows]

    def result(self, session: bytes) -> bytes | None:
        """What a finished run has found."""
        row = self._connection.execute(
            "SELECT result FROM run WHERE session = ?", (session,)
        ).fetchone()
        if row is None or row[0] is None:
            return None
        return self._seal.opened(row[0], "result", session)

    def abort(self, session: bytes, ended: Mapping[str, Any], outputs: Iterable[Written]) -> None:
        """End a run with an error; what was not yet sent is never sent."""
        with transaction(self._connection) as db:
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

    def follow(self, session: bytes, following: bytes) -> None:
        """Note which run took up where this one ended."""
        with transaction(self._connection) as db:
            db.execute("UPDATE run SET followed_by = ? WHERE session = ?", (following, session))

    def advance(
        self,
        session: bytes,
        event: Event,
        outputs: Iterable[Written],
        *,
        shown: Mapping[str, Any] | None = None,
        result: bytes | None = None,
    ) -> None:
        """One step of the party: its input, everything it said, and its result, or nothing."""
        with transaction(self._connection) as db:
            db.execute(
                "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
                (session, *event[:4], json.dumps(event.said)),
            )
            if event.what == "receive":
                db.execute(
                    "UPDATE inbox SET state = 'taken', shown = ?"
                    " WHERE session = ? AND sender = ? AND sequence = ?",
                    (json.dumps(dict(shown or {})), session, event.sender, event.sequence),
                )
            self._write(db, session, outputs)
            if result is not None:
                sealed = self._seal.sealed(result, "result", session)
                db.execute(
                    "UPDATE run SET status = 'finished', result = ? WHERE session = ?",
                    (sealed, session),
                )
                self._wipe(db, session)

    def events(self, session: bytes) -> list[Event]:
        """All steps in their order."""
        rows = self._connection.execute(
            "SELECT position, what, sender, sequence, said FROM event"
            " WHERE session = ? ORDER BY position",
            (session,),
        )
        return [Event(a, b, c, d, tuple(json.loads(said))) for a, b, c, d, said in rows]

    def _kept(self, row: tuple[Any, ...]) -> Kept:
        session, names, status, terms, seed, ended, following, begun = row
        return Kept(
            session,
            tuple(json.loads(names)),
            status,
            self._seal.opened(terms, "terms", session),
            b"" if seed is None else self._seal.opened(seed, "seed", session),
            json.loads(ended) if ended else {},
            following,
            begun,
        )
