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
from typing import Any, ClassVar

from sottovoce.errors import InputError
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
_VERDICTS = (
    "CREATE TABLE IF NOT EXISTS rank_verdict (topic TEXT NOT NULL, period BIGINT NOT NULL, "
    "token TEXT NOT NULL, output {bytes} NOT NULL, PRIMARY KEY (topic, period, token)) {options}"
)
_WAITING = (
    "CREATE TABLE IF NOT EXISTS rank_waiting (topic TEXT NOT NULL, period BIGINT NOT NULL, "
    "token TEXT NOT NULL, PRIMARY KEY (topic, period, token)) {options}"
)
_ADMITTED = (
    "CREATE TABLE IF NOT EXISTS rank_admitted (topic TEXT NOT NULL, period BIGINT NOT NULL, "
    "member TEXT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (topic, period, member)) {options}"
)
_OF_REPORTS = ("rank_report", "rank_waiting", "rank_verdict", "rank_admitted")
"""What is deleted once a period's sum is opened or published."""
_COUNTS_FROM = "counts from period"
_SETTINGS = "CREATE TABLE IF NOT EXISTS rank_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
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
            for table in (_REPORTS, _WAITING, _VERDICTS, _ADMITTED):
                run(table.format(bytes=self.bytes_type, options=self.table_options))
            for name in _CLOSING:
                run(_RECORDS.format(name=name))

    def bind(self, description: str, key: str = "", place: str = "") -> None:
        """Make this the store of that description, or refuse.

        In the mode of shares also of the servers' ``key`` and of the ``place`` of this server.
        """
        self._verifies = bool(key)
        settings = {"description": description} | ({"key": key, "place": place} if key else {})
        for name, value in settings.items():
            if self._setting(name, value) != value:
                raise InputError(
                    f"this store belongs to a rank server of another {name}; reports made under "
                    "one cannot be counted under another. Give a new store: --store."
                )

    def _setting(self, name: str, value: str) -> str:
        """What is set, which is ``value`` where nothing was."""
        with self.transaction() as run:
            run("INSERT INTO rank_setting VALUES (?, ?) ON CONFLICT DO NOTHING", (name, value))
            found = run("SELECT value FROM rank_setting WHERE name = ?", (name,)).fetchone()
        return str(found[0])

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
        query = "SELECT value FROM rank_setting WHERE name = ?"
        with self.transaction() as run:
            row = run(query, (_COUNTS_FROM,)).fetchone()
        return 0 if row is None else int(row[0])

    def add(self, reports: Sequence[StoredReport]) -> list[ReportOutcome]:
        """Keep ``reports`` in one transaction; when this returns they survive a power cut."""
        with self.transaction() as run:
            closed = {
                key
                for key in {(each.topic, each.period) for each in reports}
                if self._is_closed(run, *key)
            }
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
        with self.transaction() as run:
            rows = run(query, (topic, period, after, most)).fetchall()
        return {row[0]: bytes(row[1]) for row in rows}

    def find_reports(self, topic: str, period: int, tokens: Sequence[str]) -> dict[str, bytes]:
        """Those of ``tokens`` that are here, verified or not."""
        query = f"SELECT payload FROM rank_report {_WHERE} AND token = ?"  # noqa: S608 - ours
        with self.transaction() as run:
            rows = {token: run(query, (topic, period, token)).fetchone() for token in tokens}
        return {token: bytes(row[0]) for token, row in rows.items() if row is not None}

    def decide(self, topic: str, period: int, outputs: Mapping[str, bytes]) -> list[str]:
        """Keep what became of reports: an output share, or nothing of a refused one.

        What was decided before stands, and so does what is being opened; which were new.
        """
        with self.transaction() as run:
            if self._is_closed(run, topic, period):
                return []
            return [
                token
                for token, output in outputs.items()
                if _insert_verdict(run, (topic, period, token), output)
            ]

    def list_outputs(self, topic: str, period: int) -> dict[str, bytes]:
        """What became of all reports that were verified."""
        query = f"SELECT token, output FROM rank_verdict {_WHERE} ORDER BY token"  # noqa: S608 - ours
        with self.transaction() as run:
            rows = run(query, (topic, period)).fetchall()
        return {row[0]: bytes(row[1]) for row in rows}

    def number(self, topic: str, period: int) -> int:
        """How many reports are here, verified or not."""
        query = f"SELECT COUNT(*) FROM rank_report {_WHERE}"  # noqa: S608 - ours
        with self.transaction() as run:
            return int(run(query, (topic, period)).fetchone()[0])

    def list_payloads(self, topic: str, period: int) -> tuple[list[str], list[bytes]]:
        """The tokens and bytes of all reports about ``topic`` in ``period``, by token."""
        with self.transaction() as run:
            rows = run(
                f"SELECT token, payload FROM rank_report {_WHERE} ORDER BY token",  # noqa: S608 - ours
                (topic, period),
            ).fetchall()
        return [row[0] for row in rows], [bytes(row[1]) for row in rows]

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

    def note_question(self, topic: str, period: int, record: str) -> str:
        """Keep what begins the opening of a sum of shares, the first for ever; what is kept.

        From then on no report of that topic and period is added or verified.
        """
        return self._keep_first("rank_question", topic, period, record, forget=False)

    def find_question(self, topic: str, period: int) -> str | None:
        """What was kept of how the opening began."""
        return self._read("rank_question", topic, period)

    def note_opening(self, topic: str, period: int, record: str, *, forget: bool) -> str:
        """Keep the opening of a sum of shares, the first for ever; ``forget``: drop the shares."""
        return self._keep_first("rank_opening", topic, period, record, forget=forget)

    def find_opening(self, topic: str, period: int) -> str | None:
        """The opening that was noted."""
        return self._read("rank_opening", topic, period)

    def publish(self, topic: str, period: int, record: str) -> str:
        """Publish a histogram, the first for ever, and delete its reports; what is published."""
        return self._keep_first("rank_histogram", topic, period, record, forget=True)

    def find_histogram(self, topic: str, period: int) -> str | None:
        """The published histogram."""
        return self._read("rank_histogram", topic, period)

    def list_periods(self, topic: str, most: int) -> list[int]:
        """The latest periods with a histogram, the latest first."""
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
                for each in _OF_REPORTS:
                    run(f"DELETE FROM {each} {_WHERE}", (topic, period))  # noqa: S608 - ours
            kept = str(self._row(run, table, topic, period)[0])
        if forget:
            self.purge()
        return kept

    def _read(self, table: str, topic: str, period: int) -> str | None:
        with self.transaction() as run:
            row = self._row(run, table, topic, period)
        return None if row is None else str(row[0])

    def _is_closed(self, run: Any, topic: str, period: int) -> bool:  # noqa: ANN401 - DB-API
        return any(self._row(run, table, topic, period) for table in _CLOSING)

    @staticmethod
    def _row(run: Any, table: str, topic: str, period: int) -> Any:  # noqa: ANN401 - DB-API
        return run(
            f"SELECT record FROM {table} {_WHERE}",  # noqa: S608 - our own names
            (topic, period),
        ).fetchone()


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
    run(
        "INSERT INTO rank_admitted VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (*key, report.token)
    )
    kept = run(f"SELECT token FROM rank_admitted {_WHERE} AND member = ?", key).fetchone()  # noqa: S608 - ours
    return bool(kept[0] == report.token)


def _insert_verdict(run: Any, key: tuple[str, int, str], output: bytes) -> bool:  # noqa: ANN401 - DB-API
    done = run(
        "INSERT INTO rank_verdict VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (*key, output)
    )
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
