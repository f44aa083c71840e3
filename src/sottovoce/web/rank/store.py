"""What a rank server keeps, and the one small interface to it, whatever the database.

A report is a topic, a period, a random token and bytes: noised entries, or one server's shares.
There is no column for who sent it, from where, or when. Once its period's histogram is published it
is deleted. In the mode of shares a report waits until the servers have verified it; what became of
it is kept beside it, once for ever: the output share that counts, or nothing of a refused one.

The SQL is understood by SQLite and PostgreSQL alike; each brings how it connects.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Literal

from sottovoce.errors import InputError, MissingExtraError
from sottovoce.sqlite import StoreFile, StoreKind


@dataclass(frozen=True, slots=True)
class StoredReport:
    """One report as it is kept."""

    topic: str
    period: int
    token: str
    payload: bytes
    member: str = ""
    """Of whoever was admitted by a token, in this topic and period; empty without tokens."""


class ReportOutcome(Enum):
    """What became of a report."""

    STORED = "stored"
    """It is there now, durably; or it was there before, byte for byte."""
    OTHER = "other"
    """Another report goes by its token."""
    SPENT = "spent"
    """Whoever sent it was admitted for another report of its topic and period."""
    CLOSED = "closed"
    """The histogram of its period is published already, or being opened."""


_TABLE = (
    "CREATE TABLE IF NOT EXISTS {name} (topic TEXT NOT NULL, period BIGINT NOT NULL, {columns}, "
    "PRIMARY KEY (topic, period{key})) {options}"
)
_OF_REPORTS = {
    "rank_report": ("token", ", payload {bytes} NOT NULL"),
    "rank_waiting": ("token", ""),
    "rank_verdict": ("token", ", output {bytes} NOT NULL"),
    "rank_admitted": ("member", ", token TEXT NOT NULL"),
}
"""By what each row is known, and what it says; deleted once a sum is opened or published."""
Closing = Literal["rank_question", "rank_opening", "rank_histogram"]
CLOSING: tuple[Closing, ...] = ("rank_question", "rank_opening", "rank_histogram")
"""Where one record for a topic and period is kept; with any of them no report is added.

What begins the opening of a sum of shares, the opening itself, and the published histogram.
"""
QUESTION, OPENING, HISTOGRAM = CLOSING
_COUNTS_FROM = "counts from period"
_SETTINGS = "CREATE TABLE IF NOT EXISTS rank_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_SETTING = "SELECT value FROM rank_setting WHERE name = ?"
_WHERE = "WHERE topic = ? AND period = ?"


class Store(ABC):
    """A durable store over a DB-API connection; one thread at a time uses it."""

    bytes_type: ClassVar[str] = "BLOB"
    table_options: ClassVar[str] = ""
    _verifies = False

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
            for name, (key, value) in _OF_REPORTS.items():
                columns = f"{key} TEXT NOT NULL{value.format(bytes=self.bytes_type)}"
                options = self.table_options
                run(_TABLE.format(name=name, columns=columns, key=f", {key}", options=options))
            for name in CLOSING:
                run(_TABLE.format(name=name, columns="record TEXT NOT NULL", key="", options=""))

    def bind(self, description: str, key: str = "", place: str = "") -> None:
        """Make this the store of that description, or refuse.

        In the mode of shares also of the servers' ``key`` and of the ``place`` of this server.
        """
        self._verifies = bool(key)
        settings = {"description": description} | ({"key": key, "place": place} if key else {})
        for name, value in settings.items():
            with self.transaction() as run:
                run("INSERT INTO rank_setting VALUES (?, ?) ON CONFLICT DO NOTHING", (name, value))
                found = run(_SETTING, (name,)).fetchone()
            if found[0] != value:
                raise InputError(
                    f"this store belongs to a rank server with another {name}; it cannot count "
                    "reports made under this one. Give a new store: --store."
                )

    def put_back(self, next_period: int) -> int:
        """Say that this is a copy that was put back: it counts nothing before ``next_period``.

        What it held of reports is deleted, as it may have been opened or published meanwhile. The
        first period that it counts from now on.
        """
        with self.transaction() as run:
            for table in _OF_REPORTS:
                run(f"DELETE FROM {table}")  # noqa: S608 - ours
            run("DELETE FROM rank_setting WHERE name = ?", (_COUNTS_FROM,))
            run("INSERT INTO rank_setting VALUES (?, ?)", (_COUNTS_FROM, str(next_period)))
        self.purge()
        return self.counts_from()

    def counts_from(self) -> int:
        """The first period that this store counts; 0 where it was never put back."""
        found = self._rows(_SETTING, _COUNTS_FROM)
        return int(found[0][0]) if found else 0

    def add(self, reports: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Keep ``reports`` in one transaction; when this returns they survive a power cut."""
        with self.transaction() as run:
            keys = {(each.topic, each.period) for each in reports}
            closed = {key for key in keys if _is_closed(run, *key)}
            return [
                ReportOutcome.CLOSED
                if (each.topic, each.period) in closed
                else _insert(run, each, waits=self._verifies)
                for each in reports
            ]

    def list_waiting(self, topic: str, period: int, after: str, most: int) -> dict[str, bytes]:
        """Reports that are not verified yet, by token, beyond ``after``, at most so many."""
        query = (
            "SELECT r.token, r.payload FROM rank_waiting w JOIN rank_report r ON "
            "r.topic = w.topic AND r.period = w.period AND r.token = w.token "
            "WHERE w.topic = ? AND w.period = ? AND w.token > ? ORDER BY w.token LIMIT ?"
        )
        return _by_token(self._rows(query, topic, period, after, most))

    def find_reports(self, topic: str, period: int, tokens: Sequence[str]) -> dict[str, bytes]:
        """Those of ``tokens`` that are here, verified or not."""
        query = f"SELECT token, payload FROM rank_report {_WHERE} AND token = ?"  # noqa: S608 - ours
        with self.transaction() as run:
            rows = [run(query, (topic, period, token)).fetchone() for token in tokens]
        return _by_token(row for row in rows if row is not None)

    def decide(self, topic: str, period: int, outputs: Mapping[str, bytes]) -> list[str]:
        """Keep what became of reports: an output share, or nothing of a refused one.

        What was decided before stands, and so does what is being opened; which were new.
        """
        with self.transaction() as run:
            if _is_closed(run, topic, period):
                return []
            return [
                token
                for token, output in outputs.items()
                if _insert_verdict(run, (topic, period, token), output)
            ]

    def list_outputs(self, topic: str, period: int) -> dict[str, bytes]:
        """What became of all reports that were verified."""
        query = f"SELECT token, output FROM rank_verdict {_WHERE} ORDER BY token"  # noqa: S608 - ours
        return _by_token(self._rows(query, topic, period))

    def number(self, topic: str, period: int) -> int:
        """How many reports are here, verified or not."""
        query = f"SELECT COUNT(*) FROM rank_report {_WHERE}"  # noqa: S608 - ours
        return int(self._rows(query, topic, period)[0][0])

    def list_payloads(self, topic: str, period: int) -> dict[str, bytes]:
        """All reports about ``topic`` in ``period``, by token."""
        query = f"SELECT token, payload FROM rank_report {_WHERE} ORDER BY token"  # noqa: S608 - ours
        return _by_token(self._rows(query, topic, period))

    def list_due(self, topics: Sequence[str], before: int) -> list[tuple[str, int]]:
        """Of ``topics``: each with the periods before that one whose reports are still here."""
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

    def keep_first(self, table: Closing, topic: str, period: int, record: str) -> str:
        """Keep a record, the first for ever; what is kept.

        From then on no report of that topic and period is added or verified; those that are here
        are deleted, but for a question, whose answer is still to come.
        """
        insert = f"INSERT INTO {table} VALUES (?, ?, ?) ON CONFLICT DO NOTHING"  # noqa: S608 - ours
        with self.transaction() as run:
            run(insert, (topic, period, record))
            for each in _OF_REPORTS if table != QUESTION else ():
                run(f"DELETE FROM {each} {_WHERE}", (topic, period))  # noqa: S608 - ours
            kept = str(_find_record(run, table, topic, period)[0])
        if table != QUESTION:
            self.purge()
        return kept

    def find(self, table: Closing, topic: str, period: int) -> str | None:
        """The record that is kept."""
        with self.transaction() as run:
            row = _find_record(run, table, topic, period)
        return None if row is None else str(row[0])

    def list_periods(self, topic: str, most: int) -> list[int]:
        """The latest periods with a histogram, the latest first."""
        query = "SELECT period FROM rank_histogram WHERE topic = ? ORDER BY period DESC LIMIT ?"
        return [int(row[0]) for row in self._rows(query, topic, most)]

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self.transaction() as run:
            rows: list[Any] = run(query, values).fetchall()
        return rows


def _by_token(rows: Any) -> dict[str, bytes]:  # noqa: ANN401 - DB-API
    return {row[0]: bytes(row[1]) for row in rows}


def _is_closed(run: Any, topic: str, period: int) -> bool:  # noqa: ANN401 - DB-API
    return any(_find_record(run, table, topic, period) for table in CLOSING)


def _find_record(run: Any, table: Closing, topic: str, period: int) -> Any:  # noqa: ANN401 - DB-API
    return run(f"SELECT record FROM {table} {_WHERE}", (topic, period)).fetchone()  # noqa: S608 - ours


def _insert(run: Any, report: StoredReport, *, waits: bool) -> ReportOutcome:  # noqa: ANN401 - DB-API
    key = (report.topic, report.period, report.token)
    kept = run(f"SELECT payload FROM rank_report {_WHERE} AND token = ?", key).fetchone()  # noqa: S608 - ours
    if kept is not None and bytes(kept[0]) != report.payload:
        return ReportOutcome.OTHER
    if report.member and not _is_admitted(run, report):
        return ReportOutcome.SPENT
    if kept is None:
        run("INSERT INTO rank_report VALUES (?, ?, ?, ?)", (*key, report.payload))
        if waits:
            run("INSERT INTO rank_waiting VALUES (?, ?, ?)", key)
    return ReportOutcome.STORED


def _is_admitted(run: Any, report: StoredReport) -> bool:  # noqa: ANN401 - DB-API
    """Whether it is the one report that its sender was admitted for."""
    key = (report.topic, report.period, report.member)
    insert = "INSERT INTO rank_admitted VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
    run(insert, (*key, report.token))
    kept = run(f"SELECT token FROM rank_admitted {_WHERE} AND member = ?", key).fetchone()  # noqa: S608 - ours
    return bool(kept[0] == report.token)


def _insert_verdict(run: Any, key: tuple[str, int, str], output: bytes) -> bool:  # noqa: ANN401 - DB-API
    insert = "INSERT INTO rank_verdict VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
    done = run(insert, (*key, output))
    run(f"DELETE FROM rank_waiting {_WHERE} AND token = ?", key)  # noqa: S608 - ours
    return bool(done.rowcount == 1)


_STORE = StoreKind(
    name="rank server's store",
    application=0x53765273,
    version=1,
    tables="",  # the same as on other databases: `create_tables`
    error=InputError,
    patience_s=30.0,
)


class SqliteStore(Store):
    """``synchronous=FULL``: what was committed survives a crash and a power cut.

    Reports lie in the order of their random tokens, and what is deleted is overwritten. How pages
    were filled, and the log, still tell much of who came first to whoever reads the files.
    """

    table_options = "WITHOUT ROWID"

    def __init__(self, path: Path) -> None:
        self._file = StoreFile(_STORE, path)
        self.create_tables()

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        with self._file.transaction() as connection:
            yield connection.execute

    def purge(self) -> None:
        # What is overwritten in the file still stands in the log, until that is emptied.
        self._file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the store."""
        self._file.close()


class PostgresStore(Store):
    """A connection that waits for the disk at every commit, whatever the server's default is.

    One that broke, as when PostgreSQL was restarted, is made again for the next transaction.
    """

    bytes_type = "BYTEA"

    def __init__(self, url: str) -> None:
        try:
            import psycopg  # noqa: PLC0415 - an extra of its own
        except ImportError as error:
            raise MissingExtraError("psycopg", "postgres") from error
        self._url, self._driver = url, psycopg
        self._connect()
        self.create_tables()

    def _connect(self) -> None:
        try:
            self._connection = self._driver.connect(self._url)
            self._connection.execute("SET synchronous_commit TO on")
            self._connection.commit()
        except self._driver.Error as error:
            # Not its words: they may quote the URL, and with it a password.
            raise InputError(
                f"the PostgreSQL store cannot be opened ({type(error).__name__}); check its URL."
            ) from None

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        if self._connection.broken:
            self._connect()
        try:
            with self._connection.transaction():
                yield self._run
        except self._driver.Error as error:
            raise InputError(f"the PostgreSQL store refuses ({type(error).__name__}).") from error

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> Any:  # noqa: ANN401 - DB-API
        return self._connection.execute(statement.replace("?", "%s").encode(), values)

    def close(self) -> None:
        self._connection.close()


def open_store(where: str) -> Store:
    """The store at a PostgreSQL URL, or in an SQLite file."""
    if where.startswith(("postgresql://", "postgres://")):
        return PostgresStore(where)
    return SqliteStore(Path(where.removeprefix("sqlite:///")))
