"""The store in SQL that SQLite and PostgreSQL both understand; each brings how it connects."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from sottovoce.errors import InputError
from sottovoce.web.rank.storage import Outcome, StoredReport

VERSION = "1"
_RECORDS = (
    "CREATE TABLE IF NOT EXISTS {name} (topic TEXT NOT NULL, period BIGINT NOT NULL, "
    "record TEXT NOT NULL, PRIMARY KEY (topic, period))"
)
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
            run(_RECORDS.format(name="rank_opening"))
            run(_RECORDS.format(name="rank_histogram"))

    def bind(self, description: str) -> None:
        for name, value in (("version", VERSION), ("description", description)):
            with self.transaction() as run:
                run("INSERT INTO rank_setting VALUES (?, ?) ON CONFLICT DO NOTHING", (name, value))
                found = run("SELECT value FROM rank_setting WHERE name = ?", (name,)).fetchone()
            if found[0] != value:
                raise InputError(
                    f"this store belongs to a rank server of another {name}; reports made under "
                    "one cannot be counted under another. Give a new store: --store."
                )

    def add(self, reports: Sequence[StoredReport]) -> list[Outcome]:
        with self.transaction() as run:
            published = {
                key
                for key in {(each.topic, each.period) for each in reports}
                if self._row(run, "rank_histogram", *key) or self._row(run, "rank_opening", *key)
            }
            return [
                Outcome.CLOSED if (each.topic, each.period) in published else _insert(run, each)
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


def _insert(run: Any, report: StoredReport) -> Outcome:  # noqa: ANN401 - DB-API
    key = (report.topic, report.period, report.token)
    done = run(
        "INSERT INTO rank_report VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (*key, report.payload),
    )
    if done.rowcount == 1:
        return Outcome.STORED
    kept = run(f"SELECT payload FROM rank_report {_WHERE} AND token = ?", key).fetchone()  # noqa: S608 - ours
    return Outcome.STORED if bytes(kept[0]) == report.payload else Outcome.OTHER
