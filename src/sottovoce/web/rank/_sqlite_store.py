"""The rank server's usual store: one SQLite file with a write-ahead log, for its owner only."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.sqlite import StoreFile, StoreKind
from sottovoce.web.rank.store import SqlStore

_STORE = StoreKind(
    name="rank server's store",
    application=0x53765273,
    version=1,
    tables="",  # the same as on other databases: `create_tables`
    error=InputError,
    patience_s=30.0,
)


class SqliteStore(SqlStore):
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
        self._file.close()
