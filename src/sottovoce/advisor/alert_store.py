"""Alerts and settings on this machine: one SQLite file, for its owner's eyes only.

What is stored: the setting; for each measure, topic and threshold whether they are inside; and of
each alert its time, measure, topic, threshold, direction, place, how many posts say it outright,
whether the others were made up, and whether they have seen it. No post is stored. ``erase`` removes
everything, the file included.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sottovoce.advisor.evidence import inside
from sottovoce.advisor.person_values import AdvisorSetting, in_utc
from sottovoce.advisor.standing import Standing
from sottovoce.errors import InputError
from sottovoce.parsing import parse_json
from sottovoce.sqlite import StoreFile, StoreKind

_TABLES = """
CREATE TABLE setting (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE inside (
    measure TEXT, topic TEXT, percent INTEGER, PRIMARY KEY (measure, topic, percent));
CREATE TABLE alert (
    id INTEGER PRIMARY KEY, time TEXT NOT NULL, measure TEXT NOT NULL, topic TEXT NOT NULL,
    percent INTEGER, entered INTEGER NOT NULL, low INTEGER, high INTEGER, users INTEGER NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0, outright INTEGER NOT NULL, simulated INTEGER NOT NULL);
CREATE TABLE outright (topic TEXT PRIMARY KEY, posts INTEGER NOT NULL);
"""
_ADVISOR = StoreKind(
    name="store of the advisor",
    application=0x53764164,
    version=1,
    tables=_TABLES,
    error=InputError,
    pragmas=("secure_delete = ON",),
    write_ahead=False,
    advice="remove it",
)


@dataclass(frozen=True)
class Alert:
    """One event: they entered or left bands for a topic, more posts say it outright, or both.

    ``percent`` is the narrowest band they entered, or the widest they left; None where no band
    changed. ``outright``: how many of their posts say it outright.
    """

    id: int
    time: datetime
    measure: str
    topic: str
    percent: int | None
    entered: bool
    low: int | None
    high: int | None
    users: int
    seen: bool
    outright: int
    simulated: bool
    """Whether all others were made up."""


class AlertStore:
    """Settings and alerts in one private file; threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open()

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror}.") from None
        self._file = StoreFile(_ADVISOR, self.path)
        self._base = self._file.connection
        self._base.row_factory = sqlite3.Row

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._base.close()

    def setting(self) -> AdvisorSetting:
        """The setting they chose last; the default where there is none that can be used."""
        with self._lock:
            row = self._base.execute("SELECT value FROM setting").fetchone()
        if row is None:
            return AdvisorSetting()
        try:
            fields = parse_json(row["value"])
            return AdvisorSetting(**{**fields, "thresholds": tuple(fields["thresholds"])})
        except (ValueError, TypeError, KeyError):
            return AdvisorSetting()

    def save_setting(self, setting: AdvisorSetting) -> None:
        """Remember a setting."""
        value = json.dumps(asdict(setting))
        with self._lock:
            self._base.execute("REPLACE INTO setting VALUES (1, ?)", (value,))

    def update(
        self,
        standings: Iterable[Standing],
        setting: AdvisorSetting,
        time: datetime | None = None,
        *,
        outright: Mapping[str, int] | None = None,
    ) -> list[Alert]:
        """Note where they stand now; the alerts that this raises, which are stored as well.

        ``outright``: for each topic how many of their posts say it outright. Whatever happens for a
        topic at once is one alert.
        """
        when = in_utc(time or datetime.now(UTC)).isoformat()
        stated = outright or {}
        with self._lock, self._file.transaction() as base:
            cursor = base.cursor()
            raised = set()
            for standing in standings:
                posts = stated.get(standing.topic, 0)
                # Both note what they see, so that both run for every topic.
                band = _bands_changed(cursor, standing, setting)
                more = _more_outright(cursor, standing.topic, posts)
                if band is not None or more:
                    raised.add(_add_alert(cursor, standing, band, posts, when))
        return [alert for alert in self.alerts() if alert.id in raised]

    def alerts(self, *, unseen: bool = False) -> list[Alert]:
        """All alerts, the latest first; or only those not seen yet."""
        with self._lock:
            rows = self._base.execute("SELECT * FROM alert ORDER BY id DESC").fetchall()
        found = [_read_alert(row) for row in rows]
        return [alert for alert in found if not (unseen and alert.seen)]

    def acknowledge(self, ids: Sequence[int]) -> None:
        """Mark alerts as seen."""
        with self._lock:
            self._base.executemany("UPDATE alert SET seen = 1 WHERE id = ?", [(i,) for i in ids])

    def erase(self) -> None:
        """Remove everything: the rows are overwritten, then the files are deleted."""
        with self._lock:
            for table in ("setting", "inside", "alert", "outright"):
                self._base.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
            self._base.close()
            delete_store(self.path)
        self._open()


def delete_store(path: Path) -> None:
    """Delete an SQLite file with what SQLite keeps beside it."""
    for companion in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + companion).unlink(missing_ok=True)


class _BandChange(NamedTuple):
    percent: int
    entered: bool


def _bands_changed(
    cursor: sqlite3.Cursor, standing: Standing, setting: AdvisorSetting
) -> _BandChange | None:
    """Note all bands that they entered or left; of those entered the narrowest tells most."""
    entered: list[int] = []
    left: list[int] = []
    for percent in setting.thresholds:
        was = _was_inside(cursor, standing, percent)
        if _is_inside(standing, percent, setting.hysteresis, was=was) != was:
            (left if was else entered).append(percent)
            _store_band(cursor, standing, percent, entered=not was)
    if entered:
        return _BandChange(min(entered), entered=True)
    return _BandChange(max(left), entered=False) if left else None


def _more_outright(cursor: sqlite3.Cursor, topic: str, posts: int) -> bool:
    """Whether more posts say it outright than when they were last looked at; notes how many do."""
    row = cursor.execute("SELECT posts FROM outright WHERE topic = ?", (topic,)).fetchone()
    cursor.execute("REPLACE INTO outright VALUES (?, ?)", (topic, posts))
    return posts > (0 if row is None else int(row[0]))


def _was_inside(cursor: sqlite3.Cursor, standing: Standing, percent: int) -> bool:
    query = "SELECT 1 FROM inside WHERE measure = ? AND topic = ? AND percent = ?"
    place = (_ranking_name(standing), standing.topic, percent)
    return cursor.execute(query, place).fetchone() is not None


def _is_inside(standing: Standing, percent: int, hysteresis: float, *, was: bool) -> bool:
    if standing.high is None or not standing.evident:
        return False
    return inside(standing.high, standing.users, percent, hysteresis, was=was)


def _store_band(cursor: sqlite3.Cursor, standing: Standing, percent: int, *, entered: bool) -> None:
    change = (
        "INSERT INTO inside VALUES (?, ?, ?)"
        if entered
        else "DELETE FROM inside WHERE measure = ? AND topic = ? AND percent = ?"
    )
    cursor.execute(change, (_ranking_name(standing), standing.topic, percent))


def _ranking_name(standing: Standing) -> str:
    """The measure, apart for made-up people: who leaves a band among them has left no real one."""
    return f"{standing.measure} among made-up people" if standing.simulated else standing.measure


def _add_alert(
    cursor: sqlite3.Cursor, standing: Standing, band: _BandChange | None, outright: int, when: str
) -> int:
    percent, entered = band or (None, False)
    values = {
        "time": when,
        "measure": standing.measure,
        "topic": standing.topic,
        "percent": percent,
        "entered": entered,
        "low": standing.low,
        "high": standing.high,
        "users": standing.users,
        "outright": outright,
        "simulated": standing.simulated,
    }
    marks = ", ".join("?" * len(values))
    query = f"INSERT INTO alert ({', '.join(values)}) VALUES ({marks})"  # noqa: S608 - our names
    cursor.execute(query, tuple(values.values()))
    return int(cursor.lastrowid or 0)


def _read_alert(row: sqlite3.Row) -> Alert:
    fields = dict(row)
    flags = {name: bool(fields[name]) for name in ("entered", "seen", "simulated")}
    return Alert(**{**fields, **flags, "time": datetime.fromisoformat(fields["time"])})
