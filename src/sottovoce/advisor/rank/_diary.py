"""What a person reported, under which tokens and rules: one small file beside their ledger."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sottovoce.errors import LedgerError
from sottovoce.privacy.randomness import random_bytes
from sottovoce.sqlite import StoreFile, StoreKind

TOKEN_BYTES = 16
_TABLES = """
CREATE TABLE report (
    version TEXT NOT NULL,
    topic TEXT NOT NULL,
    period INTEGER NOT NULL,
    token TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    PRIMARY KEY (version, topic, period)
) STRICT;
CREATE TABLE drawn (request TEXT PRIMARY KEY) STRICT;
CREATE TABLE rules (server TEXT PRIMARY KEY, version TEXT NOT NULL) STRICT;
"""
_DIARY = StoreKind(
    name="diary",
    application=0x53764469,
    version=1,
    tables=_TABLES,
    error=LedgerError,
    pragmas=(),
    write_ahead=False,
    patience_s=30.0,
)
_FIND = "SELECT token, bucket FROM report WHERE version = ? AND topic = ? AND period = ?"


@dataclass(frozen=True)
class DiaryEntry:
    """One report: the random token it goes by, and the bucket it is about."""

    token: str
    bucket: int


class Diary:
    """One report for each topic and period, the first that was decided on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        StoreFile(_DIARY, path).close()

    @property
    def has_reports(self) -> bool:
        """Whether any report was ever decided on."""
        with self._open() as connection:
            return connection.execute("SELECT 1 FROM report LIMIT 1").fetchone() is not None

    def entry(self, version: str, topic: str, period: int, bucket: int) -> DiaryEntry:
        """The report for that topic and period: ``bucket``, unless another was written down."""
        key = (version, topic, period)
        new = (*key, random_bytes(TOKEN_BYTES).hex(), bucket)
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO report VALUES (?, ?, ?, ?, ?)", new)
            return DiaryEntry(*connection.execute(_FIND, key).fetchone())

    def find_entry(self, version: str, topic: str, period: int) -> DiaryEntry | None:
        """What was written down for that topic and period."""
        with self._open() as connection:
            row = connection.execute(_FIND, (version, topic, period)).fetchone()
        return None if row is None else DiaryEntry(*row)

    def note_drawn(self, requests: Iterable[str]) -> None:
        """Remember what the ledger holds, so that a ledger without it is known for another."""
        with self._open() as connection:
            rows = [(request,) for request in requests]
            connection.executemany("INSERT OR IGNORE INTO drawn VALUES (?)", rows)

    def list_drawn(self) -> set[str]:
        """The ids of all spends whose noise or shares were drawn."""
        with self._open() as connection:
            return {str(row[0]) for row in connection.execute("SELECT request FROM drawn")}

    def agree(self, server: str, version: str) -> None:
        """Remember which rules of ``server`` were agreed to; of one without a name, nothing."""
        if server:
            with self._open() as connection:
                connection.execute("INSERT OR REPLACE INTO rules VALUES (?, ?)", (server, version))

    def agreed_version(self, server: str) -> str | None:
        """The version of the rules of ``server`` that were agreed to."""
        with self._open() as connection:
            row = connection.execute(
                "SELECT version FROM rules WHERE server = ?", (server,)
            ).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(StoreFile(_DIARY, self._path)) as file, file.transaction() as connection:
            yield connection
