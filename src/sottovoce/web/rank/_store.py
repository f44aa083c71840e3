"""What a rank server keeps, and the one small interface to it, whatever the database.

A report is a topic, a period, a random token and bytes: noised entries or one share. There is no
column for who sent it, from where, or when. Once its period's histogram is published it is deleted.

`SqlStore` is written in SQL that SQLite and PostgreSQL both understand; each brings how it
connects. The default is `SqliteStore`: one file with a write-ahead log, readable by its owner only.
"""

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sottovoce._files import PRIVATE_MODE
from sottovoce.errors import InputError


@dataclass(frozen=True, slots=True)
class StoredReport:
    """One report as it is kept."""

    topic: str
    period: int
    token: str
    payload: bytes


class ReportOutcome(Enum):
    """What became of a report."""

    STORED = "stored"
    """It is there now, durably; or it was there before, byte for byte."""
    OTHER = "other"
    """Another report goes by its token."""
    CLOSED = "closed"
    """The histogram of its period is published already, or being opened."""


class Store(Protocol):
    """A durable store; one thread at a time uses it."""

    def bind(self, description: str, key: str = "") -> None:
        """Make this the store of that description and of the servers' ``key``, or refuse."""

    def add(self, reports: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Keep ``reports`` in one transaction; when this returns they survive a power cut."""

    def payloads(self, topic: str, period: int) -> tuple[list[str], list[bytes]]:
        """The tokens and bytes of all reports about ``topic`` in ``period``, by token."""

    def due(self, topics: Sequence[str], before: int) -> list[tuple[str, int]]:
        """Of ``topics``: each with the periods before that one whose reports are still here."""

    def note_question(self, topic: str, period: int, record: str) -> str:
        """Keep what begins the opening of a sum of shares, the first for ever; what is kept.

        From then on no report of that topic and period is added.
        """

    def noted_question(self, topic: str, period: int) -> str | None:
        """What was kept of how the opening began."""

    def note(self, topic: str, period: int, record: str, *, forget: bool) -> str:
        """Keep the opening of a sum of shares, the first for ever; ``forget``: drop the shares."""

    def noted(self, topic: str, period: int) -> str | None:
        """The opening that was noted."""

    def publish(self, topic: str, period: int, record: str) -> str:
        """Publish a histogram, the first for ever, and delete its reports; what is published."""

    def published(self, topic: str, period: int) -> str | None:
        """The published histogram."""

    def published_periods(self, topic: str, most: int) -> list[int]:
        """The latest periods with a histogram, the latest first."""

    def close(self) -> None:
        """Close the store."""


VERSION = "1"
_PATIENCE_S = 30.0
_RECORDS = (
    "CREATE TABLE IF NOT EXISTS {name} (topic TEXT NOT NULL, period BIGINT NOT NULL, "
    "record TEXT NOT NULL, PRIMARY KEY (topic, period))"
)
_CLOSING = ("rank_question", "rank_opening", "rank_histogram")
"""Where one record for a topic and period is kept; with any of them no report is added."""
_REPORTS = (
    "CREATE TABLE IF NOT EXISTS rank_report (topic TEXT NOT NULL, period BIGINT NOT NULL, "
    "token TEXT NOT NULL, payload {bytes} NOT NULL, PRIMARY KEY (topic, period, token)) {options}"
)
_SETTINGS = "CREATE TABLE IF NOT EXISTS rank_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_WHERE = "WHERE topic = ? AND period = ?"


class SqlStore(ABC):
    """A `Store` over a DB-API connection that this class alone uses."""

    bytes_type: ClassVar[str] = "BLOB"
    table_options: ClassVar[str] = ""

    @abstractmethod
    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A block that commits durably as a whole, or leaves nothing; yields what executes."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def purge(self) -> None:
        """Leave no trace of what was deleted, where the database would keep one."""
        return

    def create_tables(self) -> None:
        """Make the tables where they are not."""
        with self.transaction() as run:
            run(_SETTINGS)
            run(_REPORTS.format(bytes=self.bytes_type, options=self.table_options))
            for name in _CLOSING:
                run(_RECORDS.format(name=name))

    def bind(self, description: str, key: str = "") -> None:
        settings = {"version": VERSION, "description": description} | ({"key": key} if key else {})
        for name, value in settings.items():
            with self.transaction() as run:
                run("INSERT INTO rank_setting VALUES (?, ?) ON CONFLICT DO NOTHING", (name, value))
                found = run("SELECT value FROM rank_setting WHERE name = ?", (name,)).fetchone()
            if found[0] != value:
                raise InputError(
                    f"this store belongs to a rank server of another {name}; reports made under "
                    "one cannot be counted under another. Give a new store: --store."
                )

    def add(self, reports: Sequence[StoredReport]) -> list[ReportOutcome]:
        with self.transaction() as run:
            closed = {
                key
                for key in {(each.topic, each.period) for each in reports}
                if any(self._row(run, table, *key) for table in _CLOSING)
            }
            return [
                ReportOutcome.CLOSED if (each.topic, each.period) in closed else _insert(run, each)
                for each in reports
            ]

    def payloads(self, topic: str, period: int) -> tuple[list[str], list[bytes]]:
        with self.transaction() as run:
            rows = run(
                f"SELECT token, payload FROM rank_report {_WHERE} ORDER BY token",  # noqa: S608 - ours
                (topic, period),
            ).fetchall()
        return [row[0] for row in rows], [bytes(row[1]) for row in rows]

    def due(self, topics: Sequence[str], before: int) -> list[tuple[str, int]]:
        # Topic by topic along the primary key: the reports of the running period, which may be
        # millions, are not looked at.
        query = "SELECT DISTINCT period FROM rank_report WHERE topic = ? AND period < ?"
        with self.transaction() as run:
            found = [
                (topic, int(row[0]))
                for topic in topics
                for row in run(query, (topic, before)).fetchall()
            ]
        return sorted(found, key=lambda each: each[1])

    def note_question(self, topic: str, period: int, record: str) -> str:
        return self._keep_first("rank_question", topic, period, record, forget=False)

    def noted_question(self, topic: str, period: int) -> str | None:
        return self._read("rank_question", topic, period)

    def note(self, topic: str, period: int, record: str, *, forget: bool) -> str:
        return self._keep_first("rank_opening", topic, period, record, forget=forget)

    def noted(self, topic: str, period: int) -> str | None:
        return self._read("rank_opening", topic, period)

    def publish(self, topic: str, period: int, record: str) -> str:
        return self._keep_first("rank_histogram", topic, period, record, forget=True)

    def published(self, topic: str, period: int) -> str | None:
        return self._read("rank_histogram", topic, period)

    def published_periods(self, topic: str, most: int) -> list[int]:
        with self.transaction() as run:
            rows = run(
                "SELECT period FROM rank_histogram WHERE topic = ? ORDER BY period DESC LIMIT ?",
                (topic, most),
            ).fetchall()
        return [int(row[0]) for row in rows]

    def _keep_first(self, table: str, topic: str, period: int, record: str, *, forget: bool) -> str:
        with self.transaction() as run:
            run(
                f"INSERT INTO {table} VALUES (?, ?, ?) ON CONFLICT DO NOTHING",  # noqa: S608 - ours
                (topic, period, record),
            )
            if forget:
                run(f"DELETE FROM rank_report {_WHERE}", (topic, period))  # noqa: S608 - ours
            kept = str(self._row(run, table, topic, period)[0])
        if forget:
            self.purge()
        return kept

    def _read(self, table: str, topic: str, period: int) -> str | None:
        with self.transaction() as run:
            row = self._row(run, table, topic, period)
        return None if row is None else str(row[0])

    @staticmethod
    def _row(run: Any, table: str, topic: str, period: int) -> Any:  # noqa: ANN401 - DB-API
        return run(
            f"SELECT record FROM {table} {_WHERE}",  # noqa: S608 - our own names
            (topic, period),
        ).fetchone()


def _insert(run: Any, report: StoredReport) -> ReportOutcome:  # noqa: ANN401 - DB-API
    key = (report.topic, report.period, report.token)
    done = run(
        "INSERT INTO rank_report VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (*key, report.payload),
    )
    if done.rowcount == 1:
        return ReportOutcome.STORED
    kept = run(f"SELECT payload FROM rank_report {_WHERE} AND token = ?", key).fetchone()  # noqa: S608 - ours
    return ReportOutcome.STORED if bytes(kept[0]) == report.payload else ReportOutcome.OTHER


class SqliteStore(SqlStore):
    """``synchronous=FULL``: what was committed survives a crash and a power cut.

    Reports lie in the order of their random tokens, so the file does not tell who came first, and
    what is deleted is overwritten.
    """

    table_options = "WITHOUT ROWID"

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_MODE))
            path.chmod(PRIVATE_MODE)
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
            )
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
        except OSError as error:
            raise InputError(f"cannot open the store {path}: {error.strerror}.") from error
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be a rank server's store: {error}.") from error
        self.create_tables()

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise InputError(f"the store {self._path} refuses: {error}.") from error

    def purge(self) -> None:
        # What is overwritten in the file still stands in the log, until that is emptied.
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._connection.close()
