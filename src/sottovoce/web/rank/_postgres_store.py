"""The rank server's store in PostgreSQL, by URL; apart, since its driver is an extra of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sottovoce.errors import InputError, MissingExtraError
from sottovoce.web.rank.store import Store

try:
    import psycopg
except ImportError as error:
    raise MissingExtraError("psycopg", "postgres") from error


class PostgresStore(Store):
    """A connection that waits for the disk at every commit, whatever the server's default is.

    One that broke, as when PostgreSQL was restarted, is made again for the next transaction.
    """

    bytes_type = "BYTEA"

    def __init__(self, url: str) -> None:
        self._url = url
        self._connect()
        self.create_tables()

    def _connect(self) -> None:
        try:
            self._connection = psycopg.connect(self._url)
            self._connection.execute("SET synchronous_commit TO on")
            self._connection.commit()
        except psycopg.Error as error:
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
        except psycopg.Error as error:
            raise InputError(f"the PostgreSQL store refuses ({type(error).__name__}).") from error

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> Any:  # noqa: ANN401 - DB-API
        return self._connection.execute(statement.replace("?", "%s").encode(), values)

    def close(self) -> None:
        self._connection.close()
