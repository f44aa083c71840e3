"""The keys of a party's runs in its journal: each is for one run and one purpose, and no other.

What is left of a key that is used no more is its fingerprint.
"""

from typing import NamedTuple

from sottovoce.federation._journal.file import JournalSeal
from sottovoce.sqlite import StoreFile


class KeptKey(NamedTuple):
    """One key: of which run and purpose, its fingerprint, and whether it can be used."""

    session: bytes
    purpose: str
    fingerprint: str
    usable: bool


class JournalKeys:
    """The part of a journal that holds keys; bodies are sealed, each for its own place."""

    _file: StoreFile
    _seal: JournalSeal

    def run_keys(self) -> list[KeptKey]:
        """All keys, the oldest first."""
        rows = self._file.rows(
            "SELECT session, purpose, fingerprint, body IS NOT NULL FROM run_key ORDER BY rowid",
        )
        return [KeptKey(run, purpose, name, bool(body)) for run, purpose, name, body in rows]

    def key(self, session: bytes, purpose: str) -> bytes | None:
        """The key of a run for a purpose."""
        row = self._file.row(
            "SELECT body FROM run_key WHERE session = ? AND purpose = ? AND body IS NOT NULL",
            (session, purpose),
        )
        return None if row is None else self._seal.opened(row[0], "key", session, purpose)

    def keep_key(self, session: bytes, purpose: str, fingerprint: str, body: bytes) -> None:
        """Keep a new key; one that was used before is refused."""
        sealed = self._seal.sealed(body, "key", session, purpose)
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO run_key VALUES (?, ?, ?, ?)", (session, purpose, fingerprint, sealed)
            )

    def forget_key(self, session: bytes, purpose: str) -> None:
        """Wipe a key, so that nothing can be opened with it any more."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE run_key SET body = NULL WHERE session = ? AND purpose = ?",
                (session, purpose),
            )
