"""What a person's own machine keeps about her reports: readable by her only.

The ledger holds what she may spend, and every report's noise or shares, drawn once. The diary holds
which bucket she reported for a period and under which random token, so that a retry is the same
report again. Whoever reads these files reads her buckets; whoever deletes them must not report
again to the same server, since new noise for an old bucket adds to what was given away.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sottovoce.errors import LedgerError
from sottovoce.files import PRIVATE_MODE
from sottovoce.privacy.randomness import random_bytes

TOKEN_BYTES = 16
_PATIENCE_S = 30.0
_TABLE = """
CREATE TABLE IF NOT EXISTS report (
    version TEXT NOT NULL,
    topic TEXT NOT NULL,
    period INTEGER NOT NULL,
    token TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    PRIMARY KEY (version, topic, period)
) STRICT
"""
_FIND = "SELECT token, bucket FROM report WHERE version = ? AND topic = ? AND period = ?"


@dataclass(frozen=True)
class Entry:
    """One report: the random token it goes by, and the bucket it is about."""

    token: str
    bucket: int


class Diary:
    """One report for each topic and period, the first that was decided on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_MODE))
        except OSError as error:
            raise LedgerError(f"cannot keep a diary in {path}: {error.strerror}.") from error
        with self._open() as connection:
            connection.execute(_TABLE)

    def entry(self, version: str, topic: str, period: int, bucket: int) -> Entry:
        """The report for that topic and period: ``bucket``, unless another was written down."""
        key = (version, topic, period)
        new = (*key, random_bytes(TOKEN_BYTES).hex(), bucket)
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO report VALUES (?, ?, ?, ?, ?)", new)
            return Entry(*connection.execute(_FIND, key).fetchone())

    def written(self, version: str, topic: str, period: int) -> Entry | None:
        """What was written down for that topic and period."""
        with self._open() as connection:
            row = connection.execute(_FIND, (version, topic, period)).fetchone()
        return None if row is None else Entry(*row)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self._path, timeout=_PATIENCE_S)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LedgerError(f"the diary {self._path} refuses: {error}.") from error
