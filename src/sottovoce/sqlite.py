"""SQLite files: one opener for all stores, each with its own tables, version and pragmas.

A file is made for its owner only, and its tables appear as a whole or not at all. A file of another
kind or version is refused and left as it is. Errors name the store, never what is in it.
"""

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.files import PRIVATE_MODE

SIGNATURE = b"SQLite format 3\0"
DURABLE = ("synchronous = FULL", "secure_delete = ON")
"""What was committed survives a power cut, and what was deleted is overwritten."""
_NO_DATABASE = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_TRY_AGAIN_S = 0.01


@dataclass(frozen=True)
class StoreKind:
    """What one kind of store is called, is made of and is opened with.

    ``application`` and ``version`` stand in the file's header. ``pragmas`` are set at each opening;
    with a ``write_ahead`` log readers do not wait for a writer. ``advice`` says what to do about a
    file that cannot be used, ``busy`` why another process may have it.
    """

    name: str
    application: int
    version: int
    tables: str
    error: type[InputError]
    pragmas: tuple[str, ...] = DURABLE
    write_ahead: bool = True
    patience_s: float = 5.0
    advice: str = "put a whole copy back"
    busy: str = "another process has it open"

    def prepare(
        self, connection: sqlite3.Connection, path: Path | None, *, create: bool = True
    ) -> None:
        """Check that it is such a file, and make one of an empty one if it may be made."""
        with commit_whole(connection, "BEGIN"):
            is_empty = self._is_empty(connection, path)
        if is_empty and not create:
            raise self.error(f"{path} is empty, not a {self.name}.")
        if path is not None:
            # SQLite gives the same mode to its log.
            path.chmod(PRIVATE_MODE)
        if self.write_ahead:
            self._use_write_ahead_log(connection)
        if is_empty:
            with commit_whole(connection):
                # Another process may have made it meanwhile.
                if self._is_empty(connection, path):
                    self.create_tables(connection)

    def create_tables(self, connection: sqlite3.Connection) -> None:
        """Create the tables, and write into the header whose they are."""
        for statement in self.tables.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {self.application}")
        connection.execute(f"PRAGMA user_version = {self.version}")

    def refuse_text(self, path: Path) -> None:
        """SQLite takes a file of a few bytes for an empty database, and would write over it."""
        try:
            with path.open("rb") as file:
                start = file.read(len(SIGNATURE))
        except OSError as error:
            raise self.error(f"cannot read the {self.name} {path}: {error.strerror}.") from error
        if start and start != SIGNATURE:
            raise self.error(f"{path} is a file, but not a {self.name}.")

    def name_error(self, error: sqlite3.Error) -> str:
        """Why SQLite refuses, in a sentence's second half."""
        code = getattr(error, "sqlite_errorcode", 0)
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return self.busy
        if code in _NO_DATABASE:
            return f"it is not a {self.name}, or it is damaged; {self.advice}"
        return str(error)

    def _is_empty(self, connection: sqlite3.Connection, path: Path | None) -> bool:
        """Whether there is nothing in the file yet; refuses a file of something else."""
        application = read_pragma(connection, "application_id")
        version = read_pragma(connection, "user_version")
        if (application, version) == (self.application, self.version):
            return False
        if application == self.application:
            raise self.error(
                f"{path} is a {self.name} of another version: this release reads version "
                f"{self.version}, got {version}; {self.advice}."
            )
        if application or connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
            raise self.error(f"{path} is a database, but not a {self.name}.")
        return True

    def _use_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        """Switch to the log; SQLite itself does not wait for others who switch as well."""
        deadline = time.monotonic() + self.patience_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_TRY_AGAIN_S)
            else:
                return


class StoreFile:
    """One open file of a store; None for the path keeps it in memory."""

    def __init__(self, kind: StoreKind, path: Path | None) -> None:
        self.kind, self.path = kind, path
        try:
            if path is not None:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_MODE))
                kind.refuse_text(path)
            self.connection = connect(path, kind.pragmas, kind.patience_s)
            try:
                kind.prepare(self.connection, path)
            except BaseException:
                self.connection.close()
                raise
        except OSError as error:
            raise kind.error(f"cannot open the {kind.name} {path}: {error.strerror}.") from error
        except sqlite3.Error as error:
            why = kind.name_error(error)
            raise kind.error(f"cannot open the {kind.name} {path}: {why}.") from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A block that is kept as a whole, durably, or not at all."""
        with self._naming_errors(), commit_whole(self.connection):
            yield self.connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self._naming_errors():
            return self.connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - as it is
        """The first row of a query, or None."""
        return next(iter(self.rows(statement, values)), None)

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            why = self.kind.name_error(error)
            raise self.kind.error(f"the {self.kind.name} {self.path} refuses: {why}.") from error


def connect(
    path: Path | None,
    pragmas: Sequence[str] = (),
    patience_s: float = 5.0,
    *,
    read_only: bool = False,
) -> sqlite3.Connection:
    """Open a file as it is; transactions are the caller's own, and threads may take turns."""
    place = f"{path.absolute().as_uri()}?mode=ro" if path and read_only else path or ":memory:"
    connection = sqlite3.connect(
        place, timeout=patience_s, isolation_level=None, check_same_thread=False, uri=read_only
    )
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextmanager
def commit_whole(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Commit the block as a whole, or undo it; one writer at a time."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")


def read_pragma(connection: sqlite3.Connection, name: str) -> int:
    """A number that SQLite keeps of the file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
