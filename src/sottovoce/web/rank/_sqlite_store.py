"""The rank server's usual store: one SQLite file with a write-ahead log, for its owner only."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.files import PRIVATE_MODE
from sottovoce.web.rank.store import SqlStore

_PATIENCE_S = 30.0


class SqliteStore(SqlStore):
    """``synchronous=FULL``: what was committed survives a crash and a power cut.

    Reports lie in the order of their random tokens, and what is deleted is overwritten. How pages
    were filled, and the log, still tell much of who came first to whoever reads the files.
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
